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

/// What can happen to a run.
enum class RunEventKind {
  kTick,           // Time passed.
  kVmUp,           // A machine that was asked for is ready.
  kLaunchRefused,  // It will not come.
  kNotice,         // It will be taken back.
  kVmLost,         // It is gone.
  kCapacity,       // So many spot machines can be had, those that are held among them.
  kWorkersUp,      // All workers of an attempt train, after `step`.
  kStepDone,       // They finished a step.
  kSaved,          // A checkpoint is safe.
  kSaveFailed,
  kWorkerLost,   // The worker on a machine ended by itself; the machine is there.
  kWorkersDone,  // All ended well by themselves.
  kPlain,        // The script of an attempt takes no orders: it saves and loads by itself,
  kTakesOrders,  // or it does.
  kBilled,       // What a machine that is gone has cost, as its provider counts.
  kPrices,       // Prices moved.
  kTerms,        // The plan was made anew; see Supervisor::change_terms.
  kRemark,       // Something to be told, in words; nothing follows from it.
  kResumed,      // A new process took over; no worker is left, and `step` is what is saved.
  kStop          // The user wants it to end; with a code, it cannot go on.
};

std::span<const EnumName<RunEventKind>> names_of(RunEventKind type);

/// One thing that happened, as the journal of a run keeps it. Fields that say nothing for its kind
/// are absent.
struct RunEvent {
  RunEventKind kind = RunEventKind::kTick;
  Seconds at;                                 // Since the run began.
  std::optional<int> vm = {};                 // Number of the machine.
  std::optional<int> attempt = {};            // Number of the start of workers.
  std::optional<std::int64_t> step = {};      // Of training, counted from 1.
  std::optional<int> save = {};               // Number of the save that this answers.
  std::optional<Seconds> duration = {};       // Of the step, or until the machine goes.
  std::optional<int> count = {};              // Of spot machines.
  std::optional<int> code = {};               // With which workers ended.
  std::optional<std::string> reason = {};     // In words.
  std::optional<std::string> type = {};       // Of the machines whose price it is; absent: of all.
  std::optional<DollarsPerSecond> spot = {};  // The price of a spot machine from now on.
  std::optional<Dollars> cost = {};           // Of a machine, from first to last.
  Json::Object unknown = {};
};

template <class Walk>
void describe(Walk& walk, Like<Walk, RunEvent>& it) {
  walk.field("kind", it.kind, "Kind of event.");
  walk.number("at_s", it.at, kSecond, "Time of the event, since the run began.");
  walk.field("vm", it.vm, "VM number.", {.range = Range::kNotNegative});
  walk.field("attempt", it.attempt, "Number of the attempt: one start of the workers.",
             {.range = Range::kNotNegative});
  walk.field("step", it.step, "Training step, counted from 1.", {.range = Range::kNotNegative});
  walk.field("save", it.save, "Number of the checkpoint request that the event answers.",
             {.range = Range::kNotNegative});
  walk.number("duration_s", it.duration, kSecond,
              "Duration of the step, or time left until the spot interruption.",
              Range::kNotNegative);
  walk.field("count", it.count, "Number of spot VMs that can be had.",
             {.range = Range::kNotNegative});
  walk.field("code", it.code, "Exit code of the workers.");
  walk.field("reason", it.reason, "Reason of the event, in words.");
  walk.field("type", it.type, "VM type whose price changed; absent: all types.");
  walk.number("spot_usd_per_s", it.spot, kDollar / kSecond, "New spot price.", Range::kPositive);
  walk.number("cost_usd", it.cost, kDollar, "Total cost of the VM.", Range::kNotNegative);
  walk.rest(it.unknown);
}

/// What is to be done about it.
enum class RunActionKind {
  kLaunch,   // Ask for machine `vm` for `slot` on `market`.
  kRelease,  // Give machine `vm` back.
  // Train on `vms` and nowhere else, as `attempt`. Workers that are there go on with what they
  // have; where nobody has a later one the state is that of checkpoint `step` (0: the beginning).
  // Where that was lost with the machine that held it, an earlier one; kWorkersUp says which.
  kTrain,
  kSave,    // Have the workers of `attempt` save what they reached; the answer has the same `save`.
  kReplan,  // Think again, for this reason.
  kSay,     // Tell the user.
  kFinish   // Nothing more is to be done; `outcome` and `reason` say how it ended.
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
  int save = 0;       // Number of the save.
  bool halt = false;  // No step shall follow it: the workers will be others.
  RunVerdict outcome = RunVerdict::kTrained;
  std::string reason = {};

  bool operator==(const RunAction&) const = default;
};

}  // namespace stint
