#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "supervise/supervisor.h"

namespace stint {

/// Machines on the spot market at 0.36 USD/h (0.0001 USD/s) or on demand at 1.08 USD/h, and 100
/// steps that take 20 s over the number of machines.
inline RunTerms simple_terms(int machines, Market market = Market::kSpot) {
  RunTerms terms;
  for (int i = 0; i < machines; ++i) {
    terms.slots.push_back({.type = "a",
                           .market = market,
                           .spot = 0.36 * kDollar / kHour,
                           .on_demand = 1.08 * kDollar / kHour});
  }
  terms.steps = 100;
  terms.step_time = [](std::span<const int> slots) {
    return 20.0 / static_cast<double>(slots.size()) * kSecond;
  };
  return terms;
}

/// A machine that holds checkpoints.
inline RunSlot receiver_slot() {
  return {.type = "r",
          .trains = false,
          .spot = 0.36 * kDollar / kHour,
          .on_demand = 0.72 * kDollar / kHour};
}

/// A supervisor and its latest actions.
class SupervisedRun {
 public:
  explicit SupervisedRun(RunTerms terms, std::unique_ptr<DeadlinePolicy> policy = nullptr)
      : supervisor(std::move(terms), std::move(policy)) {}

  /// Reports an event at this time in seconds.
  const std::vector<RunAction>& tell(double seconds, RunEvent event) {
    event.at = seconds * kSecond;
    return actions = supervisor.handle(event);
  }

  const std::vector<RunAction>& tick(double seconds) { return tell(seconds, {}); }

  /// All machines are up at once and train from the start: attempt 1.
  void begin() {
    tick(0);
    const int machines = static_cast<int>(supervisor.vms().size());
    for (int vm = 0; vm < machines; ++vm) tell(0, {.kind = RunEventKind::kVmUp, .vm = vm});
    train(0, 0);
  }

  /// The workers that were last ordered are up.
  void train(double seconds, std::int64_t step) {
    tell(seconds,
         {.kind = RunEventKind::kWorkersUp, .attempt = supervisor.attempt()->number, .step = step});
  }

  void step(double seconds, std::int64_t number, Seconds duration = 10 * kSecond) {
    tell(seconds, {.kind = RunEventKind::kStepDone,
                   .attempt = supervisor.attempt()->number,
                   .step = number,
                   .duration = duration});
  }

  /// The last requested checkpoint is safe after this step.
  void save(double seconds, std::int64_t step) {
    tell(seconds, {.kind = RunEventKind::kSaved, .step = step, .save = last_save});
  }

  std::vector<RunAction> all(RunActionKind kind) {
    std::vector<RunAction> found;
    for (const RunAction& action : actions) {
      if (action.kind == kind) found.push_back(action);
      if (action.kind == RunActionKind::kSave) last_save = action.save;
    }
    return found;
  }

  bool wants(RunActionKind kind) { return !all(kind).empty(); }
  RunAction the(RunActionKind kind) { return wants(kind) ? all(kind)[0] : RunAction{.vm = -1}; }
  std::string said() { return the(RunActionKind::kSay).reason; }

  Supervisor supervisor;
  std::vector<RunAction> actions;
  int last_save = 0;
};

}  // namespace stint
