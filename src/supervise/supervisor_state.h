#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/codec_fields.h"
#include "risk/deadline_game.h"
#include "supervise/deadline_watch.h"
#include "supervise/run_event.h"
#include "supervise/run_saves.h"
#include "supervise/run_speed.h"
#include "supervise/run_vms.h"

namespace stint {

/// The workers that train together from one change of machines to the next.
struct RunAttempt {
  int number = 0;
  std::vector<int> vms;
  bool training = false;  // Else they are starting.
  bool broken = false;    // One of them is lost; the others wait for an order.
  Seconds ordered;
  Seconds last_step = {};  // When the latest step was done, or training began.
  bool stepped = false;    // At least one step was done.
};

/// The market wanted for a slot, and the requests so far, by market.
struct RunSlotState {
  std::optional<Market> wanted = {};  // Absent: no machine now.
  std::array<Seconds, 2> not_before = {};
  std::array<int, 2> refusals = {};  // Consecutive refusals.
  DollarsPerSecond planned;          // Spot price that the plan assumed.
};

/// Everything in a supervisor that events change, except for its terms and its deadline watch. It
/// is a part of the supervisor, whose members these are; as a value of its own it can be copied and
/// has a JSON form.
struct SupervisorState {
  Seconds now_;
  RunVms vms_;
  std::vector<RunSlotState> slots_;
  std::optional<int> capacity_;  // Number of spot machines available, and the time of that report.
  Seconds capacity_at_;
  Seconds prices_at_;
  ReplanTrigger price_trigger_;

  std::optional<RunAttempt> attempt_;
  int attempts_ = 0;
  std::vector<int> holders_;  // Machines whose workers have the reached state.
  std::int64_t reached_ = 0;
  std::int64_t steps_max_ = 0;  // Largest number of steps of any plan so far.
  RunSpeed speed_;
  ReplanTrigger speed_trigger_;
  ReplanTrigger deadline_trigger_;
  bool new_plan_ = false;     // The workers train by an older plan.
  int failures_ = 0;          // Failures of workers since progress was last saved.
  Seconds restart_after_;     // Workers that failed repeatedly wait until then.
  bool plain_ = false;        // The script takes no orders.
  bool done_ = false;         // The script ended with success.
  int script_saves_ = 0;      // Checkpoints that a plain script made.
  Seconds start_longest_;     // Longest time from the order to the first step of a plain script.
  std::int64_t highest_ = 0;  // The latest step that was ever reached.

  RunSaves saves_;
  std::int64_t saved_ = 0;
  Seconds progressed_;      // When `saved_` last grew.
  bool save_soon_ = false;  // A machine received an interruption notice.
  bool receiver_lost_ = false;
  std::optional<std::int64_t> move_after_;  // A move waits for this step to be saved,
  bool halted_ = false;                     // after which workers are paused.

  std::optional<RunVerdict> closing_;
  std::string closing_reason_;
  Seconds closing_since_;
  int closing_saves_ = 0;
  bool told_late_ = false;
  bool told_overdue_ = false;
  bool told_over_budget_ = false;
  bool finished_ = false;
};

/// A supervisor as a journal keeps it: with the present plan it goes on as before. Its policy
/// begins anew, with the spot machines of all ticks so far.
struct SupervisorSnapshot {
  SupervisorState state = {};  // Without its machines.
  KeptVms vms = {};
  std::vector<DollarsPerSecond> spot = {};  // Present prices of the slots.
  std::int64_t steps = 1;
  std::optional<Seconds> deadline = {};
  std::optional<Dollars> budget = {};
  WatchMemory watch = {};
};

/// The error in a snapshot that no supervisor wrote; empty: none.
std::string problem(const SupervisorSnapshot& it);

// For the codec.
template <class Walk>
void describe(Walk& walk, Like<Walk, RunAttempt>& it) {
  walk.field("number", it.number, "Number of the attempt.");
  walk.field("vms", it.vms, "VM numbers, in the order of their slots.");
  walk.field("training", it.training, "Whether its workers train; else they are starting.");
  walk.field("broken", it.broken, "Whether one of them is lost.");
  walk.number("ordered_s", it.ordered, kSecond, "When it was ordered.");
  walk.number("last_step_s", it.last_step, kSecond, "When the latest step was done.");
  walk.field("stepped", it.stepped, "Whether a step was done.");
}

template <class Walk>
void describe(Walk& walk, Like<Walk, RunSlotState>& it) {
  walk.field("wanted", it.wanted, "Market wanted; absent: no machine now.");
  walk.number("on_demand_after_s", it.not_before[0], kSecond, "Next on-demand request.");
  walk.number("spot_after_s", it.not_before[1], kSecond, "Next spot request.");
  walk.field("on_demand_refusals", it.refusals[0], "Consecutive refusals on demand.");
  walk.field("spot_refusals", it.refusals[1], "Consecutive refusals of spot machines.");
  walk.number("planned_usd_per_s", it.planned, kDollar / kSecond,
              "Spot price that the plan assumed.");
}

template <class Walk>
void describe(Walk& walk, Like<Walk, SupervisorState>& it) {
  walk.number("now_s", it.now_, kSecond, "Time of the last event.");
  walk.field("slots", it.slots_, "Slots of the plan.");
  walk.field("capacity", it.capacity_, "Number of spot VMs that can be had.");
  walk.number("capacity_at_s", it.capacity_at_, kSecond, "Time of that report.");
  walk.number("prices_at_s", it.prices_at_, kSecond, "Time of the last report of prices.");
  walk.field("price_trigger", it.price_trigger_, "Plans requested because of prices.");
  walk.field("attempt", it.attempt_, "The present attempt.");
  walk.field("attempts", it.attempts_, "Number of attempts so far.");
  walk.field("holders", it.holders_, "VMs whose workers have the reached state.");
  walk.field("reached", it.reached_, "Step that was reached.");
  walk.field("steps_max", it.steps_max_, "Largest number of steps of any plan.");
  walk.field("speed", it.speed_, "Measured speed.");
  walk.field("speed_trigger", it.speed_trigger_, "Plans requested because of speed.");
  walk.field("deadline_trigger", it.deadline_trigger_, "Plans requested for the deadline.");
  walk.field("new_plan", it.new_plan_, "Whether the workers train by an older plan.");
  walk.field("failures", it.failures_, "Failures of workers without newly saved progress.");
  walk.number("restart_after_s", it.restart_after_, kSecond, "Workers wait until then.");
  walk.field("plain", it.plain_, "Whether the script takes no orders.");
  walk.field("done", it.done_, "Whether the script ended with success.");
  walk.field("script_saves", it.script_saves_, "Checkpoints that the script made by itself.");
  walk.number("start_longest_s", it.start_longest_, kSecond, "Longest start of the script.");
  walk.field("highest", it.highest_, "The latest step that was ever reached.");
  walk.field("saves", it.saves_, "Requests for checkpoints.");
  walk.field("saved", it.saved_, "Step of the last checkpoint.");
  walk.number("progressed_s", it.progressed_, kSecond, "When progress was last saved.");
  walk.field("save_soon", it.save_soon_, "Whether a checkpoint is wanted soon.");
  walk.field("receiver_lost", it.receiver_lost_, "Whether a machine for checkpoints was lost.");
  walk.field("move_after", it.move_after_, "Step that is saved before a move.");
  walk.field("halted", it.halted_, "Whether workers are paused for a move.");
  walk.field("closing", it.closing_, "How the run ends; absent: it goes on.");
  walk.field("closing_reason", it.closing_reason_, "Why it ends.");
  walk.number("closing_since_s", it.closing_since_, kSecond, "Since when it ends.");
  walk.field("closing_saves", it.closing_saves_, "Checkpoints requested since then.");
  walk.field("told_late", it.told_late_, "Whether the user knows that the deadline has passed,");
  walk.field("told_overdue", it.told_overdue_, "that it cannot be met,");
  walk.field("told_over_budget", it.told_over_budget_, "and that the budget is exceeded.");
  walk.field("finished", it.finished_, "Whether the run is over.");
}

template <class Walk>
void describe(Walk& walk, Like<Walk, SupervisorSnapshot>& it) {
  walk.field("state", it.state, "What the supervisor knows.");
  walk.field("vms", it.vms, "Machines.");
  walk.numbers("spot_usd_per_s", it.spot, kDollar / kSecond, "Present spot prices of the slots.");
  walk.field("steps", it.steps, "Steps to train.", {.range = Range::kAtLeastOne});
  walk.number("deadline_s", it.deadline, kSecond, "Deadline.");
  walk.number("budget_usd", it.budget, kDollar, "Budget.");
  walk.field("watch", it.watch, "What the deadline watch knows.");
}

}  // namespace stint
