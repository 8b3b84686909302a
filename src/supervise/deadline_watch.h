#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/codec_fields.h"
#include "risk/deadline_game.h"
#include "supervise/run_terms.h"

namespace stint {

/// The progress of a run, for decisions about markets. Machines are those that train.
struct RunProgress {
  Seconds now;
  std::int64_t reached = 0;                 // Steps.
  std::int64_t safe = 0;                    // Steps that survive the loss of all spot machines.
  std::int64_t saved = 0;                   // Steps that survive the loss of all machines.
  std::optional<double> slowness = {};      // Measured step time over predicted step time,
  std::optional<double> slowness_max = {};  // and an upper bound of that ratio.
  int spot_available = 0;                   // Held or available, as far as is known.
  std::vector<Seconds> spot = {};           // Spot machines held, by the time until they train.
  std::vector<Seconds> on_demand = {};
  bool moving = false;  // Workers regroup, so that no other move is considered.
};

/// A number of spot machines that were available in so many ticks, one after the other.
struct SpotTicks {
  int machines = 0;
  int ticks = 1;
};

/// What a watch knows, except for the predictions of its terms.
struct WatchMemory {
  std::vector<SpotTicks> past = {};
  int tick = -1;
  bool begun = false;
  std::optional<int> spot = {};  // Choice of the policy.
  std::optional<int> on_demand = {};
  Seconds chosen;
  bool buys = false;
  bool save_helps = false;
  Seconds overdue;
};

/// Chooses the machines to hold so that a deadline is kept: the policy's choice, as long as the
/// deadline is kept even if all spot machines are lost without notice right after the next
/// decision.
///
/// If s steps are left at that moment, the run ends on on-demand machines after
///
///   tick + start-up + 2 regroup + save + s · step · slowness + save + tick
///
/// at the latest: a decision is made once a tick; nothing counts until the machines are up; one
/// change of machines and one checkpoint may delay them; the last step is saved; and a step and a
/// report in progress end within another tick. When that is later than the deadline, all machines
/// are launched on demand, and kept until there is time for them to start twice and to be saved. A
/// choice of the policy that holds more on-demand machines is followed at once; any other only
/// after the last change has had time to pay, because each change costs a pause that the policy's
/// game hardly models. The slowness is the largest that was measured, never below one, and until it
/// is measured that of the prediction's interval.
class DeadlineWatch {
 public:
  explicit DeadlineWatch(std::unique_ptr<DeadlinePolicy> policy = nullptr)
      : policy_(std::move(policy)) {}

  /// Discards the predictions of an earlier plan.
  void change_terms();

  /// The machines to hold now; absent: the markets of the plan. Requires a deadline that has not
  /// passed.
  std::optional<Holding> choose(const RunTerms& terms, const RunProgress& progress);

  WatchMemory memory() const;

  /// Requires what problem(WatchMemory) checks.
  void remember(const WatchMemory& memory);

  /// The policy begins its game again with the next decision, as it does after `remember`.
  void begin_anew() { anew_ = true; }

  bool buys() const { return buys_; }  // All machines are on demand, to keep the deadline.

  /// Whether a checkpoint would make the on-demand machines unnecessary for now.
  bool save_helps() const { return save_helps_; }

  /// The time by which the end with all machines on demand misses the deadline; zero or less: none.
  Seconds overdue() const { return overdue_; }

 private:
  void follow(const RunTerms& terms, Seconds now, std::optional<Holding> choice);
  std::optional<Holding> ask_policy(const RunTerms& terms, const RunProgress& progress);
  void look_at_time(const RunTerms& terms, const RunProgress& progress);

  std::unique_ptr<DeadlinePolicy> policy_;
  DeadlineGame game_;
  std::vector<int> past_;  // Spot machines of the ticks already decided.
  int tick_ = -1;          // The last of those ticks.
  int machines_ = 0;       // Machines of the present terms.
  Seconds step_;           // Predicted step time with all machines.
  bool begun_ = false;
  bool anew_ = false;
  double game_slowness_ = 1;  // Slowness that the present game assumes.
  std::optional<Holding> choice_;
  Seconds chosen_;  // Time of the last change of the choice.
  bool buys_ = false;
  bool save_helps_ = false;
  Seconds overdue_;
};

// For the codec.
template <class Walk>
void describe(Walk& walk, Like<Walk, SpotTicks>& it) {
  walk.field("machines", it.machines, "Spot VMs that could be had.",
             {.range = Range::kNotNegative});
  walk.field("ticks", it.ticks, "In so many ticks.", {.range = Range::kAtLeastOne});
}

template <class Walk>
void describe(Walk& walk, Like<Walk, WatchMemory>& it) {
  walk.field("past", it.past, "The spot market so far.");
  walk.field("tick", it.tick, "The last tick that was decided.");
  walk.field("begun", it.begun, "Whether the policy has begun.");
  walk.field("spot", it.spot, "Spot VMs that the policy chose.", {.range = Range::kNotNegative});
  walk.field("on_demand", it.on_demand, "On-demand VMs that it chose.",
             {.range = Range::kNotNegative});
  walk.number("chosen_s", it.chosen, kSecond, "When that choice last changed.");
  walk.field("buys", it.buys, "Whether all machines are on demand for the deadline.");
  walk.field("save_helps", it.save_helps, "Whether a checkpoint would make that unnecessary.");
  walk.number("overdue_s", it.overdue, kSecond, "By how much the deadline is missed.");
}

std::string problem(const WatchMemory& it);

}  // namespace stint
