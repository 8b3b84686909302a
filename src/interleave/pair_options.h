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

/// How much of a job is to be trained, and what an iteration of it takes.
struct SharedWork {
  double iterations = 1;
  Seconds alone;   // On the same VMs without the other job, with its normal overlap.
  Seconds shared;  // While the other job is there: the period over its turns in it.
};

/// What becomes of two jobs that begin together on the same VMs. When the first is done, the other
/// goes on alone.
struct PairOutcome {
  std::array<Seconds, 2> end;      // Of each job, from the common start.
  std::array<double, 2> slowdown;  // Of each until its end, over being alone from the start.
  Seconds together;                // How long both were there.
  Seconds makespan;                // Until both are done.
  Seconds separate;                // The sum of both alone: what separate VMs are paid for.

  /// How much sooner both are done than one after the other, each with its normal overlap. Since
  /// the VMs are paid for by time, it is also how much less they cost than separate ones.
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
/// own there all the time, also while it is not its turn: states, activations and overhead. A
/// process has its own context on the accelerator, so that nothing is shared, and what is kept free
/// for fragmentation is kept once, as for one worker.
MemoryVerdict shared_memory_verdict(std::span<const MemoryNeed> needs, Bytes memory);

/// Why two jobs are not put together.
enum class PairRefusal {
  kNone,
  kWorkers,   // They do not have a worker each on every accelerator.
  kMemory,    // Together they do not fit into an accelerator.
  kDeadline,  // One of them would miss its deadline, or misses it alone.
  kUnknown,   // No model can tell.
  kNoGain,    // It would save too little.
};

/// Less than this share of the bill is not worth having a second job on the machines: it is about
/// half of what repeated measurements of one job differ by.
inline constexpr double kSavingMin = 0.02;

/// What two jobs are asked for beside themselves.
struct PairTerms {
  const ShareCluster& cluster;
  const SharingModels& models;
  double confidence = 0.95;  // That deadlines are kept with.
  int turns_max = 4;         // Of one job to one of the other.
};

/// A way for two jobs to share, and what it comes to.
struct PairOption {
  SharingMode mode = SharingMode::kBucket;
  std::array<int, 2> turns = {1, 1};
  SharedPace pace;
  PairOutcome outcome;
  std::array<double, 2> deviation = {};                  // Of the logarithm of each job's time.
  std::array<std::optional<double>, 2> p_deadline = {};  // Of jobs that have one.

  /// Time of the cluster that is saved.
  Seconds saved() const { return outcome.separate - outcome.makespan; }

  /// The same if jobs get along as badly as one time in ten by what the model cannot tell.
  Seconds saved_surely() const;
};

/// What two jobs may do. The options are the best of each mode that can be asked about, those that
/// keep the deadlines first and then by what they surely save. The first of them is to be taken,
/// unless there is a refusal.
struct PairVerdict {
  PairRefusal refusal = PairRefusal::kNone;
  std::string reason = {};  // Of the refusal, a whole sentence.
  std::vector<PairOption> options = {};
};

/// What sharing in that way comes to; nothing where no model can tell.
std::optional<PairOption> pair_option(const SharingQuestion& question, const PairTerms& terms);

PairVerdict pair_verdict(const ShareJob& first, const ShareJob& second, const PairTerms& terms);

/// P(a job that ends at `end` keeps the deadline), if it has one: its time is log-normal.
std::optional<double> p_deadline(const ShareJob& job, Seconds end, double deviation);

/// Deviation of the logarithm of a job's time alone.
double time_deviation(const ShareJob& job);

}  // namespace stint
