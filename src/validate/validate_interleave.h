#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "interleave/share_job.h"
#include "measure/tables/step_table.h"
#include "plan/validations.h"

namespace stint {

/// A measured row of a table with its prediction.
struct MixRow {
  std::string job;
  std::vector<int> workers_by_vm;
  StepSetup predicted;   // By a law that was fitted without the row.
  Seconds alone;         // Predicted time alone.
  double deviation = 0;  // Deviation of the logarithm of that time.
  Seconds measured;      // Measured time,
  Seconds synchronised;  // of which this is synchronisation by the authors' account.
};

/// Rows by placement. Only rows of one placement can share machines.
using MixTable = std::map<std::vector<int>, std::vector<MixRow>>;

/// A job of a mix.
struct MixJob {
  const MixRow* row = nullptr;
  double iterations = 1;
};

/// Jobs to be trained on machines of one placement.
struct JobMix {
  int vms = 1;
  std::vector<MixJob> jobs;
};

/// A random mix: a placement of several VMs with rows of at least two jobs, `count` rows of it with
/// the same probability for each job whatever the number of its batches, and iterations that took 1
/// to 10 hours alone, uniform in the logarithm. Requires a table that has such a placement.
JobMix draw_mix(const MixTable& table, int count, Random& random);

/// Whether a table has placements to draw from.
bool has_mixes(const MixTable& table);

/// A job as predicted: one worker alone was measured, so that computing is known. A table of step
/// times does not show when gradients are sent.
ShareJob predicted_job(const MixJob& job);

/// A job as measured: the step has its measured time, computing is the part without
/// synchronisation, a third of it forward, and all-reduces are one stream. The activity of the
/// network during computing was not measured.
ShareJob measured_job(const MixJob& job, NetworkWhile network);

/// Tables of step times in Pollux's format, and the number of mixes to draw from them.
struct ValidateInterleaveRequest {
  std::vector<std::string> train;  // Files.
  std::vector<std::string> test = {};
  std::string split = {};  // Instead of test files; see calibrate/split.h.
  std::string jobs = {};   // A file of job profiles; empty: the shipped ones.
  int mixes = 50;
  int jobs_per_mix = 8;
};

/// Pairs jobs of the test rows by their predictions, and scores the pairs by measurements.
///
/// A mix is some rows of one placement (draw_mix); Stint knows only `train` of them, so that with
/// leave-one-job-out they are unseen on a cluster. All pairs are assessed by the event-driven
/// simulator with their predicted iterations, taking turns, and paired by matching. The actual time
/// of a pair is simulated in the same way, in the chosen rhythm, with the measured computing and
/// synchronisation of each job. Measured rows do not show how busy the network is while a job
/// computes, so that there are two worlds (NetworkWhile), and the pairs themselves were not
/// measured. A cluster costs its nodes times the on-demand price of the VM that the table was
/// measured on. Jobs are assumed to fit beside each other.
///
/// Policies: `separately`; `random`, pairs drawn at random that share as Stint would choose, the
/// mean of 20 draws; `stint`; and `hindsight`, the best matching with knowledge of the actual time
/// of each pair.
///
/// Bad input when no placement of several VMs has measured test rows of two jobs.
Result<InterleaveValidation> validate_interleave(const ValidateInterleaveRequest& request);

}  // namespace stint
