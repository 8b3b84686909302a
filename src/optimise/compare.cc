#include "optimise/compare.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "optimise/answer.h"
#include "optimise/policies.h"

namespace stint {
namespace {

Error infeasible(const Cluster& cluster, std::string_view reason) {
  return {ErrorKind::kInfeasible, fmt::format("{} has no plan: {}", to_text(cluster), reason)};
}

/// The VM types of the groups, in their order.
Result<std::vector<const VmType*>> types_of(const Catalog& catalog, const Cluster& cluster) {
  std::vector<const VmType*> types;
  std::set<std::string> providers;
  for (const VmGroup& group : cluster.groups) {
    const auto type = find_type(catalog, group.vm);
    if (!type.ok()) return type.error();
    types.push_back(*type);
    providers.insert((*type)->provider);
  }
  if (types.size() > 2) {
    return bad_usage(fmt::format("'{}' has {} kinds of VMs; at most two are compared",
                                 to_text(cluster), types.size()));
  }
  if (providers.size() > 1) {
    return bad_usage(
        fmt::format("'{}' has VMs of several providers, which are not planned as one "
                    "cluster",
                    to_text(cluster)));
  }
  return types;
}

/// The catalogue with nothing but these types and what may keep their checkpoints, so that the
/// reasons of the space are those of the cluster.
Catalog catalog_for(const Catalog& all, const std::vector<const VmType*>& types) {
  Catalog catalog = all;
  std::erase_if(catalog.types, [&](const VmType& type) {
    const bool wanted = std::any_of(types.begin(), types.end(), [&](const VmType* it) {
      return it->provider == type.provider && it->name == type.name;
    });
    return !wanted && (type.accelerator || type.provider != types.front()->provider);
  });
  return catalog;
}

/// The limits on the training, without those on what may be rented.
Constraints limits_for(const Constraints& asked, const Cluster& cluster, const VmType& type) {
  Constraints limits{.deadline = asked.deadline,
                     .budget = asked.budget,
                     .confidence = asked.confidence,
                     .miss = asked.miss,
                     .providers = {type.provider},
                     .vms_max = 0};
  limits.machines.unusual = true;  // Whoever names a machine asks for it.
  for (const VmGroup& group : cluster.groups) {
    limits.vms_max += group.count;
    if (group.vm.region) limits.regions = {*group.vm.region};
  }
  return limits;
}

/// The rental of each group, all in the region where they cost least; empty: there is none.
std::vector<int> rentals_for(const Space& space, const Cluster& cluster,
                             const std::vector<std::string>& names) {
  std::map<std::string, std::vector<int>> by_region;  // A rental of each group.
  for (std::size_t group = 0; group < names.size(); ++group) {
    for (int i = 0; i < static_cast<int>(space.rentals.size()); ++i) {
      const Rental& rental = space.rentals[static_cast<std::size_t>(i)];
      if (rental.market != cluster.groups[group].market) continue;
      if (space.machine_of(i).type->name != names[group]) continue;
      auto& found = by_region[to_lower(rental.region)];
      if (found.size() == group) found.push_back(i);
    }
  }
  std::vector<int> best;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [region, rentals] : by_region) {
    if (rentals.size() != names.size()) continue;
    double price = 0;
    for (std::size_t group = 0; group < names.size(); ++group) {
      const Rental& rental = space.rentals[static_cast<std::size_t>(rentals[group])];
      price += cluster.groups[group].count * rental.price.in(kDollar / kHour);
    }
    if (price >= least) continue;
    least = price;
    best = rentals;
  }
  return best;
}

/// The run of one choice of batch: in the fewest micro-steps that fit into memory, on all
/// accelerators; where all machines are equal, else on fewer.
std::optional<Found> run_of(const Evaluator& evaluator, Config config) {
  const Space& space = evaluator.space();
  const Machine& first = space.machine_of(config.parts[0].rental);
  if (config.kinds == 1) return plain_run(evaluator, config);
  if (&space.machine_of(config.parts[1].rental) == &first) return plain_run(evaluator, config);
  for (Part& part : config.parts) {
    part.workers_per_vm = space.machine_of(part.rental).worker_choices.back();
  }
  for (const int accumulation : evaluator.accumulations(config.choice)) {
    config.accumulation = accumulation;
    if (const auto found = evaluator.with_cheapest_save(config)) return found;
  }
  return std::nullopt;
}

std::optional<Found> best_run(const Evaluator& evaluator, Config config) {
  const bool by_time = evaluator.question().objective == Objective::kTime;
  const auto rank = [&](const Found& run) {
    const double time = run.outcome.time.in(kSecond);
    const double cost = run.outcome.cost.in(kDollar);
    return by_time ? std::pair(time, cost) : std::pair(cost, time);
  };
  std::optional<Found> best;
  const auto choices = static_cast<int>(evaluator.question().work.choices.size());
  for (int choice = 0; choice < choices; ++choice) {
    config.choice = choice;
    const auto run = run_of(evaluator, config);
    if (run && (!best || rank(*run) < rank(*best))) best = run;
  }
  return best;
}

/// Why the cluster cannot be rented, from what the space left out.
std::string reason_of(const Space& space, const std::vector<const VmType*>& types) {
  const bool all = std::all_of(types.begin(), types.end(), [&](const VmType* type) {
    return std::any_of(space.machines.begin(), space.machines.end(),
                       [&](const Machine& it) { return it.type->name == type->name; });
  });
  if (!all) {
    for (const auto& [reason, count] : space.excluded) {
      const bool own = reason != "no accelerator" || !types.front()->accelerator;
      if (own && count > 0) return reason;
    }
  }
  return "no price on its market in one region";
}

}  // namespace

Result<Plan> plan_on(const PlanQuestion& question, const Cluster& cluster) {
  const auto types = types_of(question.context.catalog, cluster);
  if (!types.ok()) return types.error();
  const Catalog catalog = catalog_for(question.context.catalog, *types);
  const PredictContext& context = question.context;
  PlanQuestion own{.context = {context.job, catalog, context.law, context.devices, context.sharded},
                   .work = question.work,
                   .constraints = limits_for(question.constraints, cluster, *types->front()),
                   .objective = question.objective,
                   .outlook = question.outlook};
  // Of one cluster nobody knows whether another holds a replica, which adapters are trained on.
  const bool frozen = context.sharded != nullptr && context.sharded->setup.frozen_products;
  const auto space = plan_space(own, frozen ? Sharding::kNone : Sharding::kAllowed);
  if (!space.ok()) return space.error();
  std::vector<std::string> names;
  for (const VmType* type : *types) names.push_back(type->name);
  const std::vector<int> rentals = rentals_for(*space, cluster, names);
  if (rentals.empty()) return infeasible(cluster, reason_of(*space, *types));
  const Evaluator evaluator(own, *space);
  Config config{.parts = {}, .kinds = static_cast<int>(rentals.size())};
  for (std::size_t i = 0; i < rentals.size(); ++i) {
    config.parts[i] = {.rental = rentals[i], .vms = cluster.groups[i].count};
    const int most = space->rentals[static_cast<std::size_t>(rentals[i])].vms_max;
    if (config.parts[i].vms > most) {
      return infeasible(cluster,
                        "the network of this VM type is not known, so that only one VM is "
                        "predicted");
    }
  }
  const auto found = best_run(evaluator, config);
  if (!found) {
    return infeasible(cluster,
                      "no batch of the job can be shared out over its accelerators within their "
                      "memory");
  }
  Plan plan = plan_of(evaluator, *found);
  plan.cluster = cluster;
  return plan;
}

}  // namespace stint
