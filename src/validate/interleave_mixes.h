#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "interleave/share_job.h"
#include "measure/tables/step_table.h"

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

}  // namespace stint
