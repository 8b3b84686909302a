#pragma once

#include <string>
#include <vector>

#include "predict/timeline.h"
#include "simulate/turn_simulation.h"

namespace stint {

/// A picture of jobs that share VMs, for chrome_trace.
struct TurnTimeline {
  std::vector<TimelineEvent> events;
  std::vector<std::string> rows;  // The names of the processes that events refer to as groups.
};

/// What happened in `run`, a process for the turn on each group's accelerators, whose events are
/// called by the job that computes, and one for each job on each group, with its turns and updates
/// in one row and its buckets in the other. Requires events in the run, and a name for each job and
/// each group.
TurnTimeline turn_timeline(const SharedRun& run, const std::vector<std::string>& jobs,
                           const std::vector<std::string>& groups);

}  // namespace stint
