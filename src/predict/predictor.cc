#include "predict/predictor.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "predict/cluster_price.h"
#include "predict/memory.h"

namespace stint {
namespace {

/// The verdict on the group that is fullest.
std::optional<MemoryVerdict> verdict_of(const JobProfile& job, const ResolvedJob& resolved) {
  std::optional<MemoryVerdict> worst;
  for (const ResolvedGroup& group : resolved.groups) {
    const auto verdict = worker_verdict(job, memory_of(group), group.batch_max());
    if (!verdict) continue;
    const bool worse =
        !worst || verdict->needed / verdict->available > worst->needed / worst->available;
    if (worse) worst = verdict;
  }
  return worst;
}

/// Batches of the same shares, for other global batches in other numbers of micro-steps.
class Fitting {
 public:
  Fitting(const JobProfile& job, const ResolvedJob& resolved) : job_(job), resolved_(resolved) {}

  /// Of the busiest worker, or nothing where it does not fit.
  std::optional<FittingBatch> of(std::int64_t global, std::int64_t steps) const {
    FittingBatch fitting{.batch_per_worker = 1, .accumulation = static_cast<int>(steps)};
    for (const ResolvedGroup& group : resolved_.groups) {
      const int batch = share(group, static_cast<double>(global) / static_cast<double>(steps));
      const auto verdict = worker_verdict(job_, memory_of(group), batch);
      if (verdict && !verdict->fits) return std::nullopt;
      fitting.batch_per_worker = std::max(fitting.batch_per_worker, batch);
    }
    if (global != resolved_.global_batch()) fitting.global_batch = global;
    return fitting;
  }

 private:
  /// What the average worker of a group gets of a micro-step, rounded up.
  int share(const ResolvedGroup& group, double micro_batch) const {
    const auto samples = std::accumulate(group.batches.begin(), group.batches.end(), 0.0);
    const double average = samples / static_cast<double>(group.batches.size());
    const double before = static_cast<double>(resolved_.global_batch()) /
                          static_cast<double>(resolved_.options.accumulation);
    constexpr double kRounding = 1e-9;
    return std::max(1, static_cast<int>(std::ceil(average * micro_batch / before - kRounding)));
  }

  const JobProfile& job_;
  const ResolvedJob& resolved_;
};

/// The fewest micro-steps that keep the global batch and let every worker's batch fit; where no
/// number of them divides it, the nearest global batch of the fewest that would do. Nothing where
/// not even one sample for each worker fits.
std::optional<FittingBatch> fitting_batch(const JobProfile& job, const ResolvedJob& resolved) {
  const Fitting fitting(job, resolved);
  const std::int64_t whole = resolved.global_batch();
  const std::int64_t most = whole / resolved.workers();  // One sample for each worker.
  const auto below = [&](std::int64_t steps) { return whole - whole % steps; };
  // More micro-steps need less memory, so the fewest are found by halving.
  std::int64_t low = std::min<std::int64_t>(resolved.options.accumulation + 1, most);
  std::int64_t fewest = most;
  if (!fitting.of(below(fewest), fewest)) return std::nullopt;
  while (low < fewest) {
    const std::int64_t middle = low + (fewest - low) / 2;
    if (fitting.of(below(middle), middle)) {
      fewest = middle;
    } else {
      low = middle + 1;
    }
  }
  // Keeping the batch is worth a few more micro-steps, but not many times as many.
  constexpr std::int64_t kManyTimes = 4;
  for (std::int64_t steps = fewest; steps <= std::min(most, kManyTimes * fewest); ++steps) {
    if (whole % steps != 0) continue;
    if (const auto same = fitting.of(whole, steps)) return same;
  }
  const auto above = fitting.of(below(fewest) + fewest, fewest);
  const bool nearer = 2 * (whole % fewest) > fewest;
  return nearer && above ? above : fitting.of(below(fewest), fewest);
}

std::vector<PredictedGroup> groups_of(const ResolvedJob& resolved) {
  std::int64_t micro_batch = resolved.global_batch() / resolved.options.accumulation;
  std::vector<PredictedGroup> groups;
  for (const ResolvedGroup& group : resolved.groups) {
    PredictedGroup shown{.vm = group.type.provider + "/" + group.type.name,
                         .device = group.times.device,
                         .vms = group.vms,
                         .workers_per_vm = group.workers_per_vm};
    if (group.times.carried_over()) shown.carried_over_from = group.times.measured;
    if (!group.times.validated) shown.unvalidated = true;
    for (const int batch : group.batches) {
      const bool same = !shown.batches.empty() && shown.batches.back().batch_per_worker == batch;
      if (same) {
        ++shown.batches.back().workers;
      } else {
        shown.batches.push_back({.workers = 1,
                                 .batch_per_worker = batch,
                                 .gradient_weight = batch / static_cast<double>(micro_batch)});
      }
    }
    groups.push_back(std::move(shown));
  }
  return groups;
}

void add_price(const ResolvedJob& resolved, Prediction& prediction) {
  std::vector<VmType> types;
  for (const ResolvedGroup& group : resolved.groups) types.push_back(group.type);
  const auto price = cluster_price(resolved.cluster, types);
  if (!price) return;
  prediction.price = PriceUsed{.rate = price->rate, .region = price->region, .date = price->date};
  const Seconds per_sample =
      prediction.iteration.mean / static_cast<double>(resolved.global_batch());
  prediction.cost_per_million_samples = 1e6 * (price->rate * per_sample);
}

}  // namespace

Predicted predict(const PredictContext& context, const ResolvedJob& resolved,
                  const IterationModel& model) {
  ClusterView view(resolved);
  const Workers& cluster = view.workers();
  Predicted answer{
      .setup = step_setup(context.job, cluster, context.law.fabric, law_of(context.known()))};
  Prediction& prediction = answer.prediction;
  prediction.cluster = resolved.cluster;
  prediction.iteration.parts = model(answer.setup);
  const Seconds mean = total(prediction.iteration.parts);
  const LogSpread spread = time_spread(context.job, context.law, context.known(), cluster, mean);
  // Where the network is hardly known, half of the interval would lie below the compute itself.
  const Seconds alone = alone_time(cluster);
  const double unsure = std::hypot(context.law.noise_floor, compute_deviation(cluster, alone));
  // A job whose own law makes it faster than a worker alone has no such bound above its mean.
  const Seconds shortest = std::exp(-kEightInTen * unsure) * std::min(alone, mean);
  prediction.iteration.mean = mean;
  prediction.iteration.p10 = std::max(std::exp(-kEightInTen * spread.below) * mean, shortest);
  prediction.iteration.p90 = std::exp(kEightInTen * spread.above) * mean;
  prediction.global_batch = resolved.global_batch();
  prediction.throughput_samples_per_second =
      static_cast<double>(resolved.global_batch()) / mean.in(kSecond);
  prediction.groups = groups_of(resolved);
  prediction.assumptions = resolved.assumptions;
  prediction.memory = verdict_of(context.job, resolved);
  if (prediction.memory && !prediction.memory->fits) {
    prediction.fitting = fitting_batch(context.job, resolved);
  }
  add_price(resolved, prediction);
  return answer;
}

}  // namespace stint
