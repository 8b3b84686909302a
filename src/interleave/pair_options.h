#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "interleave/share_job.h"
#include "plan/plan.h"
#include "plan/prediction.h"
#include "predict/memory.h"

namespace stint {

/// The amount of training of a job, and the times of its iteration.
struct SharedWork {
  double iterations = 1;
  Seconds alone;   // On the same VMs without the other job, with normal overlap.
  Seconds shared;  // While the other job trains: the period over its turns in it.
};

/// The outcome of two jobs that start together on the same VMs. When the first is done, the other
/// continues alone.
struct PairOutcome {
  std::array<Seconds, 2> end;  // End of each job, from the common start.
  // Slowdown of each until its end, relative to training alone from the start.
  std::array<double, 2> slowdown;
  Seconds together;  // Time for which both trained.
  Seconds makespan;  // Until both jobs are done.
  Seconds separate;  // The sum of both alone, which separate VMs are paid for.

  /// The speedup over sequential runs with normal overlap. Since the VMs are paid for by time, it
  /// is also the ratio of the costs.
  double speedup() const { return separate / makespan; }
};

/// With N iterations of A and B that take aᵢ alone and bᵢ shared:
///
///   together = min(NA bA, NB bB)
///   end_i    = together + (Nᵢ − together / bᵢ) · aᵢ
///
/// Requires iterations ≥ 0 and times above zero.
PairOutcome pair_outcome(const SharedWork& first, const SharedWork& second);

/// Whether workers of several jobs fit into the `memory` of one accelerator. Each keeps all of its
/// memory there all the time, also while it is not its turn: states, activations and overhead. A
/// process has its own context on the accelerator, so that nothing is shared, and the reserve for
/// fragmentation is counted once, as for one worker.
MemoryVerdict shared_memory_verdict(std::span<const MemoryNeed> needs, Bytes memory);

/// The reason why two jobs do not share.
enum class PairRefusal {
  kNone,
  kWorkers,   // They do not have a worker each on every accelerator.
  kMemory,    // Together they do not fit into an accelerator.
  kDeadline,  // One of them would miss its deadline, or misses it alone.
  kUnknown,   // No model predicts the pair.
  kNoGain,    // The saving would be too small.
};

/// A saving of less than this share of the cost is not worth a second job on the machines: it is
/// about half of the difference between repeated measurements of one job.
inline constexpr double kSavingMin = 0.02;

/// The limits of the search for a way to share.
struct PairTerms {
  const ShareCluster& cluster;
  const SharingModels& models;
  double confidence = 0.95;  // Probability with which deadlines must be kept.
  int turns_max = 4;         // Turns of one job per turn of the other.
};

/// A way for two jobs to share, and its prediction.
struct PairOption {
  SharingMode mode = SharingMode::kBucket;
  std::array<int, 2> turns = {1, 1};
  SharedPace pace;
  PairOutcome outcome;
  std::array<double, 2> deviation = {};  // Deviation of the logarithm of each job's time.
  std::array<std::optional<double>, 2> p_deadline = {};  // For jobs with a deadline.

  /// Saved time of the cluster.
  Seconds saved() const { return outcome.separate - outcome.makespan; }

  /// The saved time at the unfavourable end of the model's 80 % interval.
  Seconds saved_surely() const;
};

/// The options of two jobs: the best of each mode that a model predicts, those that keep the
/// deadlines first and then by their certain saving. The first is recommended, unless there is a
/// refusal.
struct PairVerdict {
  PairRefusal refusal = PairRefusal::kNone;
  std::string reason = {};  // Reason of the refusal, as a sentence.
  std::vector<PairOption> options = {};
};

/// The prediction for sharing in that way; nothing where no model predicts it.
std::optional<PairOption> pair_option(const SharingQuestion& question, const PairTerms& terms);

PairVerdict pair_verdict(const ShareJob& first, const ShareJob& second, const PairTerms& terms);

/// P(a job that ends at `end` keeps the deadline), if it has one: its time is log-normal.
std::optional<double> p_deadline(const ShareJob& job, Seconds end, double deviation);

/// Deviation of the logarithm of a job's time alone.
double time_deviation(const ShareJob& job);

}  // namespace stint
