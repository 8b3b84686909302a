#include "app/run/run_plans.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "predict/predictor.h"

namespace stint {
namespace {

constexpr int kSubsetsMax = 4000;

/// Micro-batches of a step such that none has more samples than `most`, as many on each machine.
/// Predictions need them to be equal, so that some more are taken where that helps.
int accumulation_of(int global_batch, std::int64_t most) {
  const int least = std::max(1, static_cast<int>((global_batch + most - 1) / most));
  for (int count = least; count <= 2 * least + 2; ++count) {
    if (global_batch % count == 0) return count;
  }
  return least;
}

int workers_on(const BatchShares& shares, std::size_t group) {
  return shares.workers.empty() ? 1 : shares.workers[group];
}

/// Micro-batches of a step on so many machines of each group; see accumulation_of.
int accumulation_on(const std::vector<int>& counts, const BatchShares& shares) {
  std::int64_t workers = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    workers += std::int64_t{counts[i]} * workers_on(shares, i);
  }
  return accumulation_of(shares.global_batch, workers * shares.micro_batch);
}

std::vector<int> counts_of(const Cluster& cluster) {
  std::vector<int> counts;
  for (const VmGroup& group : cluster.groups) counts.push_back(group.count);
  return counts;
}

/// Those of the groups that have machines.
PredictOptions step_options(const std::vector<int>& counts, const BatchShares& shares,
                            int accumulation) {
  PredictOptions options{.global_batch = shares.global_batch, .accumulation = accumulation};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) options.group_workers_per_vm.push_back(workers_on(shares, i));
  }
  return options;
}

/// Times of a step of `resolved`, which has so many machines of each kind.
RunStepTime step_of(const PredictInputs& inputs, const ResolvedJob& resolved,
                    const std::vector<int>& counts) {
  const IterationTime time = predict(inputs.context(), resolved, step_parts).prediction.iteration;
  return {.machines = counts, .mean = time.mean, .p10 = time.p10, .p90 = time.p90};
}

/// Times of a step on some machines of each kind; absent where the batch cannot be shared out.
std::optional<RunStepTime> step_on(const PredictInputs& inputs, const Cluster& all,
                                   const std::vector<int>& counts, const BatchShares& shares) {
  Cluster cluster;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    cluster.groups.push_back(all.groups[i]);
    cluster.groups.back().count = counts[i];
  }
  const int accumulation = accumulation_on(counts, shares);
  const auto resolved =
      resolve(inputs.context(), cluster, step_options(counts, shares, accumulation));
  if (!resolved.ok()) return std::nullopt;
  return step_of(inputs, *resolved, counts);
}

Result<RunMachines> machines_of(const ResolvedGroup& group, const VmGroup& asked, int micro_batch) {
  const VmType& type = group.type;
  if (type.provider != kLocalProvider) {
    return bad_usage(fmt::format(
        "{} is a machine of {}, but runs use the emulated cloud only; plan with --providers local",
        type.name, type.provider));
  }
  RunMachines machines{.type = type.name,
                       .count = asked.count,
                       .market = asked.market,
                       .network = network_rate(type).value_or(kGbit / kSecond),
                       .batch_per_vm = group.batch_max() * group.workers_per_vm,
                       .micro_batch = micro_batch,
                       .device = group.times.measured,
                       .speed = 1 / group.times.scale};
  if (group.workers_per_vm > 1) machines.workers = group.workers_per_vm;
  for (const Offer& offer : type.offers) {
    if (offer.on_demand) machines.on_demand = offer.on_demand->rate;
    if (offer.spot) machines.spot = offer.spot->rate;
  }
  if (machines.on_demand <= DollarsPerSecond{}) {
    return bad_usage(fmt::format("{} has no price in the catalogue", type.name));
  }
  if (machines.spot <= DollarsPerSecond{}) machines.spot = machines.on_demand;
  return machines;
}

/// See whole_plan_of; a step has `accumulation` micro-batches on each machine.
Result<RunPlan> whole_plan(const PredictInputs& inputs, const Cluster& cluster,
                           const BatchShares& shares, int accumulation) {
  const std::vector<int> all = counts_of(cluster);
  const auto resolved = resolve(inputs.context(), cluster, step_options(all, shares, accumulation));
  if (!resolved.ok()) return resolved.error();
  RunPlan plan;
  for (std::size_t i = 0; i < cluster.groups.size(); ++i) {
    auto machines = machines_of(resolved->groups[i], cluster.groups[i], shares.micro_batch);
    if (!machines.ok()) return machines.error();
    if (shares.equal) machines->batch_per_vm = 1;
    plan.machines.push_back(std::move(*machines));
  }
  plan.steps.push_back(step_of(inputs, *resolved, all));
  return plan;
}

/// See run_plan_of; a step on all machines has `accumulation` micro-batches on each.
Result<RunPlan> plan_with(const PredictInputs& inputs, const Cluster& cluster,
                          const BatchShares& shares, int accumulation) {
  const std::vector<int> all = counts_of(cluster);
  int subsets = 1;
  for (const int count : all) {
    if (count >= kSubsetsMax / subsets) {
      return bad_usage("the cluster has too many kinds of machines to run");
    }
    subsets *= count + 1;
  }
  auto plan = whole_plan(inputs, cluster, shares, accumulation);
  if (!plan.ok()) return plan;
  const RunStepTime whole = plan->steps.front();
  plan->steps.clear();
  for (int subset = 1; subset < subsets - 1; ++subset) {
    std::vector<int> counts;
    int rest = subset;
    for (const int count : all) {
      counts.push_back(rest % (count + 1));
      rest /= count + 1;
    }
    if (auto step = step_on(inputs, cluster, counts, shares))
      plan->steps.push_back(std::move(*step));
  }
  plan->steps.push_back(whole);
  return plan;
}

}  // namespace

int accumulation_on(const Cluster& cluster, const BatchShares& shares) {
  return accumulation_on(counts_of(cluster), shares);
}

Result<RunPlan> run_plan_of(const PredictInputs& inputs, const Cluster& cluster,
                            const BatchShares& shares) {
  return plan_with(inputs, cluster, shares, accumulation_on(cluster, shares));
}

Result<RunPlan> whole_plan_of(const PredictInputs& inputs, const Cluster& cluster,
                              const BatchShares& shares) {
  return whole_plan(inputs, cluster, shares, accumulation_on(cluster, shares));
}

}  // namespace stint
