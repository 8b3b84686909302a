#pragma once

#include "interleave/share_job.h"

namespace stint {

/// What is not in a job's setup.
struct TwinOptions {
  double compute_slowdown = 0;  // See TurnTerms.
  Seconds hand_over = {};
  LinkSharing sharing = LinkSharing::kFair;
};

/// The event-driven twin as a model of sharing: an iteration of each job while both are there
/// (shared_iteration_times) over one of the job alone (simulate_step), by turns in a rhythm.
///
/// Freely, accelerators go round in slices of 2 ms (or a hundredth of an iteration, for speed), as
/// processors do. Nobody keeps a rhythm then, and what jobs take depends on how far apart they
/// happen to be. Who comes later waits for the end of a slice, which moves them further apart from
/// round to round. The answer is the mean over starts of the second that are spread evenly over an
/// iteration, and the deviation is that of these.
SharingModels twin_models(const TwinOptions& options = {});

}  // namespace stint
