#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/codec.h"
#include "base/units.h"
#include "catalog/market.h"

namespace stint {

/// The events of a run.
enum class RunEventKind {
  kTick,           // Time passed.
  kVmUp,           // A requested machine is ready.
  kLaunchRefused,  // A launch was refused.
  kNotice,         // A machine received an interruption notice.
  kVmLost,         // A machine was lost.
  kCapacity,       // The number of spot machines available, including those held.
  kWorkersUp,      // All workers of an attempt train, after `step`.
  kStepDone,       // The workers finished a step, or several since the last event.
  kSaved,          // A checkpoint is safe.
  kSaveFailed,
  kWorkerLost,   // The worker on a machine ended by itself; the machine is up.
  kWorkersDone,  // All workers ended by themselves with success.
  kPlain,        // The script of an attempt takes no orders: it saves and loads by itself.
  kTakesOrders,  // The script takes orders.
  kBilled,       // The cost of a lost or released machine, as its provider counts.
  kPrices,       // Spot prices changed.
  kTerms,        // There is a new plan; see Supervisor::change_terms.
  kRemark,       // A remark for the user, without any effect.
  kResumed,      // A new process took over; no worker is left, and `step` is saved.
  kStop,         // The user stops the run; with a code, the run cannot continue.
  kSlept         // Stint itself did not run for `duration`, as in a suspended computer.
};

std::span<const EnumName<RunEventKind>> names_of(RunEventKind type);

/// One event, as the journal of a run keeps it. Fields that do not apply to its kind are absent.
struct RunEvent {
  RunEventKind kind = RunEventKind::kTick;
  Seconds at;                             // Since the run began.
  std::optional<int> vm = {};             // VM number.
  std::optional<int> attempt = {};        // Number of the start of workers.
  std::optional<std::int64_t> step = {};  // Training step, counted from 1.
  std::optional<int> steps = {};          // Steps that were done; absent: one.
  std::optional<int> save = {};           // Number of the checkpoint request that this answers.
  // Of the step, of several their median; or until the spot interruption.
  std::optional<Seconds> duration = {};
  std::optional<int> count = {};              // Number of spot machines available.
  std::optional<int> code = {};               // Exit code of the workers.
  std::optional<std::string> reason = {};     // In words.
  std::optional<std::string> type = {};       // VM type whose price changed; absent: all.
  std::optional<DollarsPerSecond> spot = {};  // New spot price.
  std::optional<Dollars> cost = {};           // Total cost of the machine.
  Json::Object unknown = {};
};

template <class Walk>
void describe_fields(Walk& walk, Like<Walk, RunEvent>& it) {
  walk.field("kind", it.kind, "Kind of event.");
  walk.number("at_s", it.at, kSecond, "Time of the event, since the run began.");
  walk.field("vm", it.vm, "VM number.", {.range = Range::kNotNegative});
  walk.field("attempt", it.attempt, "Number of the attempt: one start of the workers.",
             {.range = Range::kNotNegative});
  walk.field("step", it.step, "Training step, counted from 1.", {.range = Range::kNotNegative});
  walk.field("steps", it.steps,
             "Number of steps that were done, the last one being `step`; absent: one.",
             {.range = Range::kAtLeastOne});
  walk.field("save", it.save, "Number of the checkpoint request that the event answers.",
             {.range = Range::kNotNegative});
  walk.number("duration_s", it.duration, kSecond,
              "Duration of the step, of several steps their median; or time left until the spot "
              "interruption.",
              Range::kNotNegative);
  walk.field("count", it.count, "Number of spot VMs that can be had.",
             {.range = Range::kNotNegative});
  walk.field("code", it.code, "Exit code of the workers.");
  walk.field("reason", it.reason, "Reason of the event, in words.");
  walk.field("type", it.type, "VM type whose price changed; absent: all types.");
  walk.number("spot_usd_per_s", it.spot, kDollar / kSecond, "New spot price.", Range::kPositive);
  walk.number("cost_usd", it.cost, kDollar, "Total cost of the VM.", Range::kNotNegative);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, RunEvent>& it) {
  describe_fields(walk, it);
  walk.rest(it.unknown);
}

/// The actions that a run can take.
enum class RunActionKind {
  kLaunch,   // Request machine `vm` for `slot` on `market`.
  kRelease,  // Release machine `vm`.
  // Train on `vms` and on no others, as `attempt`. Surviving workers keep their state; where none
  // has a later one, workers load checkpoint `step` (0: the initial state). If that checkpoint was
  // lost with the machine that held it, they load an earlier one; kWorkersUp says which.
  kTrain,
  kSave,    // The workers of `attempt` save their state; the answer has the same `save`.
  kReplan,  // Make a new plan, for this reason.
  kSay,     // Report to the user.
  kFinish   // The run is over; `outcome` and `reason` say how it ended.
};

std::span<const EnumName<RunActionKind>> names_of(RunActionKind type);

/// How a run ended.
enum class RunVerdict { kTrained, kStopped, kGaveUp };

std::span<const EnumName<RunVerdict>> names_of(RunVerdict type);

struct RunAction {
  RunActionKind kind = RunActionKind::kSay;
  int vm = 0;
  int slot = 0;
  Market market = Market::kOnDemand;
  int attempt = 0;
  std::vector<int> vms = {};  // In the order of their slots.
  std::int64_t step = 0;
  int save = 0;       // Number of the checkpoint request.
  bool halt = false;  // No step may follow the checkpoint: other workers continue from it.
  RunVerdict outcome = RunVerdict::kTrained;
  std::string reason = {};

  bool operator==(const RunAction&) const = default;
};

/// Whether the action changes something outside of the supervisor.
bool is_order(const RunAction& action);

/// Whether two lists hold the same orders; what is said to the user may differ.
bool same_orders(const std::vector<RunAction>& a, const std::vector<RunAction>& b);

}  // namespace stint
