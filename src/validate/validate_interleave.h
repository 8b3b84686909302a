#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "plan/interleave_validation.h"

namespace stint {

/// Tables of step times in Pollux's format, and what to draw from them.
struct ValidateInterleaveRequest {
  std::vector<std::string> train;  // Files.
  std::vector<std::string> test = {};
  std::string split = {};  // Instead of test files; see calibrate/split.h.
  std::string jobs = {};   // A file of job profiles; empty: the shipped ones.
  int mixes = 50;
  int jobs_per_mix = 8;
};

/// Pairs jobs of the test rows by what is predicted of them, and scores what that really comes to.
///
/// A mix is some rows of one placement (draw_mix); `train` is all that Stint knows of them, so that
/// with leave-one-job-out it never saw them on a cluster. Each two are judged by the event-driven
/// twin of their predicted iterations, taking turns, and paired by matching. What a pair really
/// takes is played by the same twin, in the rhythm that was chosen, with the computing and the
/// synchronisation that were measured for each job. Measured rows leave open how busy the network
/// is while a job computes, so there are two worlds (NetworkWhile), and nobody measured the pairs
/// themselves. A cluster costs its nodes times the on-demand price of the VM that the table was
/// measured on. Jobs are taken to fit beside each other.
///
/// Policies: `separately`; `random`, pairs drawn at random that share as Stint would have them, the
/// mean of 20 draws; `stint`; and `hindsight`, the best matching of those who know what each pair
/// really takes.
///
/// Bad input when no placement of several VMs has measured test rows of two jobs.
Result<InterleaveValidation> validate_interleave(const ValidateInterleaveRequest& request);

}  // namespace stint
