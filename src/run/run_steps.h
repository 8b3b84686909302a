#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "supervise/run_event.h"

namespace stint {

/// The steps of an attempt that were done since the last event: ten a second would otherwise be ten
/// events. The first steps of an attempt, which tell its speed, and the last ones of the run, after
/// which it may be decided to go on, are events of their own.
class RunSteps {
 public:
  /// A step of `attempt` is done, of the `steps` of the plan; true: it is to be reported now.
  bool add(int attempt, std::int64_t step, Seconds time, Seconds at, std::int64_t steps);

  /// The event for the steps so far; nothing where there are none.
  std::optional<RunEvent> take();

 private:
  int attempt_ = 0;
  int reports_ = 0;  // Of this attempt.
  std::int64_t last_ = 0;
  Seconds at_;
  std::vector<Seconds> times_;  // Of those that are not yet taken.
};

}  // namespace stint
