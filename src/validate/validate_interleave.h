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

/// A measured row of a table with what was predicted of it.
struct MixRow {
  std::string job;
  std::vector<int> workers_by_vm;
  StepSetup predicted;   // By a law that never saw the row.
  Seconds alone;         // What that takes, by the law.
  double deviation = 0;  // Of the logarithm of that.
  Seconds measured;      // What it took,
  Seconds synchronised;  // of which its authors charge this to synchronisation.
};

/// Rows by placement. Only rows of one placement can share machines.
using MixTable = std::map<std::vector<int>, std::vector<MixRow>>;

/// A job of a mix.
struct MixJob {
  const MixRow* row = nullptr;
  double iterations = 1;
};

/// Jobs that somebody wants to train on machines of one placement.
struct JobMix {
  int vms = 1;
  std::vector<MixJob> jobs;
};

/// A placement of several VMs with rows of at least two jobs, `count` rows of it with the same
/// chance for each job whatever the number of its batches, and iterations that took 1 to 10 hours
/// alone, uniform in the logarithm. Requires a table that has such a placement.
JobMix draw_mix(const MixTable& table, int count, Random& random);

/// Whether a table has placements to draw from.
bool has_mixes(const MixTable& table);

/// A job as it was predicted: one worker alone was measured, so computing is known. A table of step
/// times does not tell what leaves when.
ShareJob predicted_job(const MixJob& job);

/// A job as it was measured: the step is as long as it was, computing is what was not charged to
/// synchronisation, a third of it forward, and reductions are one stream. What the network did
/// while it computed was not measured.
ShareJob measured_job(const MixJob& job, NetworkWhile network);

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
