#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "measure/tables/memory_table.h"

namespace stint {

// Published rates of jobs that run on one GPU alone and two at once. Unreadable cells are bad input
// with line and column.

/// A count over time, of steps for instance.
using PerSecond = decltype(1 / kSecond);

/// One of two jobs on a GPU.
struct PackedSide {
  SizedJob job;
  std::optional<PerSecond> alone;   // Rate of the job alone on the GPU.
  std::optional<PerSecond> packed;  // Beside the other job; absent when it was not measured.
  bool alone_worked_out = false;    // Derived from other batches.
  // What other rates of the job on the device say, where there are any; see fill_alone.
  std::optional<PerSecond> alone_usual = {};  // Geometric mean of those alone over its batches.
  std::optional<PerSecond> full_server = {};  // Of each GPU when this job alone fills a server.
};

/// Two jobs that run on one GPU at once, neither waiting for the other.
struct PackedPair {
  PackedSide first;
  PackedSide second;
  std::string device;
  // Rates count steps. Otherwise each job has its own unit (images, words), so that only the two
  // rates of one job can be compared.
  bool in_steps = true;
  std::optional<bool> fits;         // Absent: not measured.
  bool capped_to_isolated = false;  // The publisher replaced both rates by those alone.
  int gpus_each = 1;
  bool unsteady = false;  // Repeated measurements of one of the jobs differ by factors.
};

/// Reads Gavel's table of packed pairs, one pair per data row, in order: columns gpu, model_a,
/// batch_a, model_b and batch_b; isolated_a_steps_per_s, isolated_b_steps_per_s,
/// packed_a_steps_per_s, packed_b_steps_per_s, oom, capped_to_isolated and num_gpus_each may be
/// missing or blank. The older table of 2019 has no batches and calls its columns isolated_a,
/// isolated_b, packed_a and packed_b; its units differ from job to job. A packed rate of 0 was not
/// measured; two of them say that the pair does not fit where oom does not say it.
Result<std::vector<PackedPair>> read_packed_pairs(std::string_view text, const std::string& source);

/// The rate of a job that has one or more GPUs for itself.
struct IsolatedRate {
  SizedJob job;
  std::string device;
  std::optional<PerSecond> alone;  // Absent for several GPUs and where it does not fit.
  std::optional<bool> fits;
  int gpus = 1;
  std::optional<PerSecond> each_in_server = {};  // Of each GPU, when all are in one server.
};

/// Reads Gavel's rates of jobs alone, one per data row, in order; see read_gavel_steps. A rate or a
/// repeat of 0 does not fit. GPUs are in one server unless the column consolidated is 0.
Result<std::vector<IsolatedRate>> read_isolated_rates(std::string_view text,
                                                      const std::string& source);

}  // namespace stint
