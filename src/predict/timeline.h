#pragma once

#include <string>
#include <vector>

#include "plan/prediction.h"
#include "predict/step.h"

namespace stint {

/// Something that takes time in an iteration, on one row of a picture.
struct TimelineEvent {
  std::string name;
  int group = 0;         // Of the setup.
  bool network = false;  // Its network's row, else that of its typical worker.
  Seconds start;         // From the start of the iteration.
  Seconds duration;
};

/// One iteration as it passes for a typical worker of each group and for its network: forward and
/// backward of every micro-step, each bucket on the links, the wait for gradients and for slower
/// workers, the update, and the wait for data. Everything ends with `parts`, which are those of
/// `setup`. Buckets stand where the closed form has them, one after the other.
std::vector<TimelineEvent> timeline(const StepSetup& setup, const IterationParts& parts);

/// The events as a JSON array that chrome://tracing and Perfetto read: complete events with times
/// in microseconds, a process for each group called by its name, and a thread for each row.
/// Requires a name for each group.
std::string chrome_trace(const std::vector<TimelineEvent>& events,
                         const std::vector<std::string>& groups);

}  // namespace stint
