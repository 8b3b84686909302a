#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "predict/sharded/sharded_model.h"

namespace stint {

/// A layout counts as feasible when it fits into memory with this probability.
inline constexpr double kFitsConfidence = 0.9;

/// What layouts are asked for. The model must outlive it.
struct LayoutQuestion {
  const ShardedModel& model;
  ShardedCluster cluster;
  int global_batch = 1;
  double confidence = kFitsConfidence;  // Of fitting into memory.
  bool unvalidated = false;             // Also those with parts that no measured row is behind.
};

/// A layout with what it is predicted to take.
struct LayoutChoice {
  ParallelLayout layout;
  ShardedParts parts;
  Seconds iteration;
  ShardedMemory memory;  // Of the fullest worker.
  double p_fits = 1;

  /// Deviations of the logarithm of the iteration, as a factor of 8 in 10 cases.
  Seconds low(double spread) const;
  Seconds high(double spread) const;
};

/// The layout of the question as a setup of the law.
ShardedSetup setup_of(const LayoutQuestion& question, const ParallelLayout& layout);

/// The layout with times and memory. Requires one without a layout_problem.
LayoutChoice evaluate(const LayoutQuestion& question, const ParallelLayout& layout);

/// Why the layout cannot be on this cluster, in one sentence for the user; empty when it can. More
/// than problem(): stages are equal, and interleaving needs micro-batches in rounds of the stages.
std::string layout_problem(const LayoutQuestion& question, const ParallelLayout& layout);

/// Parts of the layout that no measured row is behind, as a person calls them; mostly none.
std::vector<std::string> unvalidated_parts(const LayoutQuestion& question,
                                           const ParallelLayout& layout);

/// All layouts of a cluster.
struct LayoutList {
  std::vector<LayoutChoice> fitting;  // Fastest first.
  std::int64_t fits = 0;              // All that fit, also those that are not in the list.
  std::int64_t too_large = 0;         // Layouts that do not fit into memory.
  // Divisions of the workers into data, tensor and pipeline degrees that no layout has, by reason.
  std::map<std::string, std::int64_t> impossible;
};

/// Looks at every layout of data × tensor × pipeline degrees, ZeRO stage, micro-batch,
/// recomputation and sequence parallelism without a layout_problem:
///
/// - tensor degrees that divide the heads and the workers of a VM; beyond a VM, in whole VMs, only
///   where nothing else fits;
/// - hybrid sharding for stage 3 over several VMs;
/// - virtual stages and expert degrees where unvalidated parts are wanted.
/// The list has at most `rows` of them.
LayoutList all_layouts(const LayoutQuestion& question,
                       std::size_t rows = std::numeric_limits<std::size_t>::max());

/// The fastest layouts that fit, one for each choice of degrees and ZeRO stage, best first: exactly
/// those of all_layouts, but bounds keep most from being evaluated:
///
/// - with tensor degree t and micro-batches of m samples, W workers take at least
///   T ≥ G t F(t, m) / (m W), F the passes of one micro-batch through the whole model;
/// - less recomputation is never slower, so that the least that fits is enough;
/// - the states of W workers are at least all of those of the model.
std::vector<LayoutChoice> best_layouts(const LayoutQuestion& question, int rows);

/// Seconds of all workers together that no layout undercuts, however many workers there are: the
/// first of these bounds.
Seconds least_work(const LayoutQuestion& question);

/// False where the states of the model alone are too large for the workers: the last one.
bool may_fit(const LayoutQuestion& question);

}  // namespace stint
