#include "app/search/search_space.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "app/run/run_plans.h"
#include "base/text.h"
#include "catalog/lookup.h"

namespace stint {
namespace {

constexpr std::size_t kSetupsMax = 400;
constexpr std::size_t kCandidatesMax = 4000;  // Mixed ones that are predicted.

std::vector<std::string> types_of(const SearchRequest& request, const Catalog& catalog) {
  if (!request.types.empty()) return request.types;
  std::vector<std::string> types;
  for (const VmType& type : catalog.types) {
    if (type.provider == kLocalProvider && type.accelerator) types.push_back(type.name);
  }
  return types;
}

std::vector<int> counts_of(const SearchRequest& request) {
  if (!request.vms.empty()) return request.vms;
  std::vector<int> counts(
      static_cast<std::size_t>(std::clamp(request.vms_max, 0, static_cast<int>(kVmsOfClusterMax))));
  std::iota(counts.begin(), counts.end(), 1);
  return counts;
}

std::vector<int> batches_of(const SearchRequest& request, const JobProfile& job, int reference) {
  if (!request.batches.empty()) return request.batches;
  std::vector<int> batches;
  for (const double factor : {0.5, 1.0, 2.0, 4.0}) {
    const int batch = static_cast<int>(std::lround(factor * reference));
    const int least = job.batch ? job.batch->min.value_or(1) : 1;
    const int most = job.batch ? job.batch->max.value_or(batch) : batch;
    if (batch >= least && batch <= std::min(most, kBatchMax)) batches.push_back(batch);
  }
  return batches;
}

/// The micro-batch of a worker: the largest batch that was measured.
int micro_batch_of(const JobProfile& job, int batch) {
  int most = 0;
  for (const ComputeSample& sample : job.compute) most = std::max(most, sample.batch_per_worker);
  return most > 0 ? most : batch;
}

int accelerators_of(const Catalog& catalog, const VmGroup& group) {
  const auto type = find_type(catalog, group.vm);
  return type.ok() && (*type)->accelerator ? (*type)->accelerator->count : 1;
}

/// Numbers of workers on a VM of the group.
std::vector<int> workers_of(const SearchRequest& request, const Catalog& catalog,
                            const VmGroup& group) {
  const int most = accelerators_of(catalog, group);
  std::vector<int> found;
  if (request.workers_per_vm.empty()) {
    for (int workers = 1; workers < most; workers *= 2) found.push_back(workers);
    found.push_back(most);
  }
  for (const int workers : request.workers_per_vm) {
    if (workers <= most) found.push_back(workers);
  }
  return found;
}

/// A cluster whose VMs have so many workers each, or one for each accelerator where those are
/// fewer.
struct Candidate {
  Cluster cluster;
  int workers = 1;
};

Result<VmGroup> group_of(const std::string& type, Market market) {
  auto cluster = parse_cluster(type);
  if (!cluster.ok()) return cluster.error();
  VmGroup group = cluster->groups.front();
  group.market = market;
  return group;
}

Result<std::vector<VmGroup>> kinds_of(const SearchRequest& request, const Catalog& catalog) {
  std::vector<VmGroup> kinds;
  for (const std::string& type : types_of(request, catalog)) {
    for (const Market market : request.markets) {
      auto group = group_of(type, market);
      if (!group.ok()) return group.error();
      kinds.push_back(std::move(*group));
    }
  }
  return kinds;
}

std::vector<Candidate> equal_clusters(const SearchRequest& request, const Catalog& catalog,
                                      const std::vector<VmGroup>& kinds) {
  std::vector<Candidate> found;
  for (VmGroup group : kinds) {
    for (const int workers : workers_of(request, catalog, group)) {
      for (const int count : counts_of(request)) {
        group.count = count;
        found.push_back({.cluster = {.groups = {group}}, .workers = workers});
      }
    }
  }
  return found;
}

std::vector<Candidate> mixed_clusters(const SearchRequest& request, const Catalog& catalog,
                                      const std::vector<VmGroup>& kinds) {
  std::vector<Candidate> found;
  if (request.kinds_max < 2) return found;
  for (std::size_t a = 0; a < kinds.size(); ++a) {
    for (std::size_t b = a + 1; b < kinds.size(); ++b) {
      VmGroup first = kinds[a];
      VmGroup second = kinds[b];
      const int most = std::max(accelerators_of(catalog, first), accelerators_of(catalog, second));
      for (const int count : counts_of(request)) {
        for (first.count = 1; first.count < count; ++first.count) {
          second.count = count - first.count;
          found.push_back({.cluster = {.groups = {first, second}}, .workers = most});
        }
      }
    }
  }
  return found;
}

BatchShares shares_on(const PredictInputs& inputs, const Candidate& candidate, int batch) {
  BatchShares shares{.global_batch = batch, .micro_batch = micro_batch_of(inputs.job, batch)};
  for (const VmGroup& group : candidate.cluster.groups) {
    shares.workers.push_back(std::min(candidate.workers, accelerators_of(inputs.catalog, group)));
  }
  return shares;
}

LiveSetup setup_of(RunPlan plan, const Candidate& candidate, int batch) {
  std::string cluster = cluster_text(plan);
  LiveSetup setup{.choice = {.cluster = std::move(cluster), .batch = batch},
                  .type = {},
                  .vms = 0,
                  .plan = std::move(plan),
                  .rate = {}};
  if (candidate.workers > 1) setup.choice.workers_per_vm = candidate.workers;
  for (const RunMachines& machines : setup.plan.machines) {
    if (setup.type != machines.type) setup.type += (setup.vms > 0 ? " + " : "") + machines.type;
    setup.vms += machines.count;
    const bool spot = machines.market == Market::kSpot;
    setup.rate += static_cast<double>(machines.count) * (spot ? machines.spot : machines.on_demand);
  }
  return setup;
}

Result<LiveSetup> setup_on(const PredictInputs& inputs, const Candidate& candidate, int batch) {
  auto plan = run_plan_of(inputs, candidate.cluster, shares_on(inputs, candidate, batch));
  if (!plan.ok()) return plan.error();
  return setup_of(std::move(*plan), candidate, batch);
}

Error too_many(const char* what, std::size_t most, const char* flags) {
  return bad_usage(
      fmt::format("more than {} {} are too many to search; limit them with {}", most, what, flags));
}

/// Seconds and dollars of a step.
struct StepPrice {
  Seconds time;
  Dollars cost;
};

StepPrice price_of(const LiveSetup& setup) {
  const Seconds time = setup.plan.steps.back().mean;  // Of all machines.
  return {.time = time, .cost = setup.rate * time};
}

/// What a step is worth by the objective; at the knee, where both count, by their product.
double value_of(SearchObjective objective, const StepPrice& price) {
  const double time = price.time.in(kSecond);
  const double cost = price.cost.in(kDollar);
  if (objective == SearchObjective::kTime) return time;
  return objective == SearchObjective::kCost ? cost : time * cost;
}

/// A mixed cluster and batch, and its value by prediction.
struct MixedSetup {
  const Candidate* candidate = nullptr;
  int batch = 1;
  double value = 0;
};

/// Those that no equal VMs are predicted to be as fast and as cheap as, at the same batch, the best
/// first.
std::vector<MixedSetup> worth_a_look(const SearchRequest& request, const PredictInputs& inputs,
                                     const std::vector<Candidate>& mixed,
                                     const std::vector<LiveSetup>& equal) {
  std::map<int, std::vector<StepPrice>> prices;  // Of equal VMs, by batch.
  for (const LiveSetup& setup : equal) prices[setup.choice.batch].push_back(price_of(setup));
  std::vector<MixedSetup> found;
  for (const auto& [batch, others] : prices) {
    for (const Candidate& candidate : mixed) {
      auto plan = whole_plan_of(inputs, candidate.cluster, shares_on(inputs, candidate, batch));
      if (!plan.ok()) continue;
      const StepPrice price = price_of(setup_of(std::move(*plan), candidate, batch));
      const bool beaten = std::any_of(others.begin(), others.end(), [&](const StepPrice& other) {
        return other.time <= price.time && other.cost <= price.cost;
      });
      if (!beaten) found.push_back({&candidate, batch, value_of(request.objective, price)});
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const MixedSetup& a, const MixedSetup& b) { return a.value < b.value; });
  return found;
}

}  // namespace

Result<std::vector<LiveSetup>> search_space(const SearchRequest& request,
                                            const PredictInputs& inputs, int reference) {
  const auto kinds = kinds_of(request, inputs.catalog);
  if (!kinds.ok()) return kinds.error();
  std::vector<LiveSetup> setups;
  std::string reason;
  for (const Candidate& candidate : equal_clusters(request, inputs.catalog, *kinds)) {
    for (const int batch : batches_of(request, inputs.job, reference)) {
      auto setup = setup_on(inputs, candidate, batch);
      if (!setup.ok()) {
        reason = setup.error().message;
        continue;
      }
      if (setups.size() == kSetupsMax) {
        return too_many("clusters and batch sizes", kSetupsMax, "--types, --max-vms or --batches");
      }
      setups.push_back(std::move(*setup));
    }
  }
  const auto mixed = mixed_clusters(request, inputs.catalog, *kinds);
  if (mixed.size() > kCandidatesMax) {
    return too_many("mixed clusters", kCandidatesMax, "--types, --max-vms or --max-kinds 1");
  }
  for (const MixedSetup& one : worth_a_look(request, inputs, mixed, setups)) {
    if (setups.size() == kSetupsMax) break;
    auto setup = setup_on(inputs, *one.candidate, one.batch);
    if (setup.ok()) setups.push_back(std::move(*setup));
  }
  if (!setups.empty()) return setups;
  return bad_usage(reason.empty() ? "no cluster and batch size remains to search"
                                  : "no cluster and batch size remains to search: " + reason);
}

Result<std::vector<LiveSetup>> search_space_again(const PredictInputs& inputs,
                                                  const SearchRecord& record) {
  std::vector<LiveSetup> setups;
  for (const SurfaceRow& row : record.surface) {
    const auto cluster = parse_cluster(row.cluster);
    if (!cluster.ok()) return cluster.error();
    auto setup = setup_on(inputs, {.cluster = *cluster, .workers = row.workers_per_vm.value_or(1)},
                          row.batch);
    if (setup.ok()) setups.push_back(std::move(*setup));
  }
  if (setups.empty()) return bad_input("no setup of the search can train");
  return setups;
}

bool uses(const LiveSetup& setup, const std::string& type) {
  return std::any_of(
      setup.plan.machines.begin(), setup.plan.machines.end(),
      [&](const RunMachines& machines) { return machines.trains && machines.type == type; });
}

std::vector<double> worker_shares(const LiveSetup& setup, const std::vector<std::string>& types) {
  std::vector<double> shares;
  for (const std::string& type : types) {
    double workers = 0;
    for (const RunMachines& machines : setup.plan.machines) {
      if (machines.type == type) workers += machines.count * workers_on(machines);
    }
    shares.push_back(workers / stint::workers_of(setup.plan));
  }
  return shares;
}

void limit_memory(LiveSetup& setup, const std::string& type, int samples) {
  for (RunMachines& machines : setup.plan.machines) {
    if (machines.trains && machines.type == type) {
      machines.micro_batch = std::min(machines.micro_batch, samples);
    }
  }
}

bool same_cluster(const std::string& a, const std::string& b) {
  const auto sorted = [](const std::string& text) -> std::multiset<std::string> {
    const auto cluster = parse_cluster(text);
    if (!cluster.ok()) return {text};
    std::multiset<std::string> groups;
    for (const VmGroup& group : cluster->groups) groups.insert(to_text(Cluster{.groups = {group}}));
    return groups;
  };
  return sorted(a) == sorted(b);
}

}  // namespace stint
