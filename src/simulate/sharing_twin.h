#pragma once

#include <string>
#include <vector>

#include "interleave/share_job.h"
#include "predict/timeline.h"
#include "simulate/turn_simulation.h"

namespace stint {

/// A trace of jobs that share VMs, for chrome_trace.
struct TurnTimeline {
  std::vector<TimelineEvent> events;
  std::vector<std::string> rows;  // The names of the processes that events refer to as groups.
};

/// The events of `run`: a process for the turns on each group's accelerators, whose events have the
/// name of the job that computes, and one for each job on each group, with its turns and updates in
/// one row and its buckets in the other. Requires events in the run, and a name for each job and
/// each group.
TurnTimeline turn_timeline(const SharedRun& run, const std::vector<std::string>& jobs,
                           const std::vector<std::string>& groups);

/// The parameters that a job's setup does not have.
struct TwinOptions {
  double compute_slowdown = 0;  // See TurnTerms.
  Seconds hand_over = {};
  LinkSharing sharing = LinkSharing::kFair;
};

/// The event-driven simulator as a model of sharing: an iteration of each job while both train
/// (shared_iteration_times) over one of the job alone (simulate_step), by turns in a rhythm.
///
/// In free sharing, accelerators serve the jobs in slices of 2 ms (or a hundredth of an iteration,
/// for speed), as processors do. There is no rhythm then, and the times depend on the phase between
/// the jobs. The later job waits for the end of a slice, which changes the phase from round to
/// round. The answer is the mean over starts of the second job that are spread evenly over an
/// iteration, and the deviation is that of these.
SharingModels twin_models(const TwinOptions& options = {});

}  // namespace stint
