#include "optimise/space.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "base/text.h"
#include "predict/sharded/layout_choices.h"
#include "risk/save_cost.h"

namespace stint {
namespace {

bool listed(const std::vector<std::string>& list, const std::string& name) {
  return list.empty() || std::any_of(list.begin(), list.end(), [&](const std::string& one) {
           return to_lower(one) == to_lower(name);
         });
}

/// 1, 2, 4, … and all accelerators of the VM.
std::vector<int> worker_choices(const VmType& type) {
  const int accelerators = type.accelerator ? type.accelerator->count : 1;
  std::vector<int> choices;
  for (int workers = 1; workers < accelerators; workers *= 2) choices.push_back(workers);
  choices.push_back(accelerators);
  return choices;
}

/// The figures of `type`, in a cluster of two where that is possible; otherwise alone.
Result<ResolvedGroup> figures_of(const PredictContext& context, const VmType& type, bool& network) {
  const auto rate = network_rate(type);
  network = rate && *rate > BytesPerSecond{};
  const VmName name{.provider = type.provider, .region = std::nullopt, .name = type.name};
  Cluster cluster{.groups = {{.vm = name, .count = network ? 2 : 1}}};
  auto resolved = resolve(context, cluster, {.batch_per_worker = 1});
  if (!resolved.ok()) return resolved.error();
  return std::move(resolved->groups.front());
}

/// VMs of the rental that its quotas alone allow.
int quota_limit(const Constraints& constraints, const VmType& type, const Rental& rental) {
  int most = constraints.vms_max;
  for (const int index : rental.quotas) {
    const int vcpus = constraints.quotas[static_cast<std::size_t>(index)].vcpus;
    most = std::min(most, vcpus / std::max(1, type.vcpus.value_or(1)));
  }
  if (constraints.rate_max) {
    const double affordable = std::floor(*constraints.rate_max / rental.price * (1 + 1e-12));
    most = static_cast<int>(std::min<double>(most, affordable));
  }
  return most;
}

std::shared_ptr<const PoolLosses> losses_of(const PoolHazard& hazard) {
  return std::make_shared<PoolLosses>(PoolLosses{LossCount(hazard.low, kSpotMissing),
                                                 LossCount(hazard.typical, kSpotMissing),
                                                 LossCount(hazard.high, kSpotMissing)});
}

/// Makes the space, type by type.
class Maker {
 public:
  Maker(const PlanQuestion& question, bool shards)
      : question_(question),
        choice_(question.context.catalog, question.constraints.machines),
        losses_(losses_of(question.outlook.spot.hazard)),
        shards_(shards) {}

  void add(const VmType& type) {
    // Machines of the emulated cloud are no choice that was left out, unless they are asked for.
    const bool emulated = type.provider == kLocalProvider;
    if (emulated && !means_provider(question_.constraints.providers, type.provider)) return;
    const std::string reason = try_add(type);
    if (!reason.empty()) ++space_.excluded[reason];
  }

  Space take() {
    if (allows(Market::kOnDemand)) find_receivers();
    return std::move(space_);
  }

 private:
  /// The reason it was not added, or nothing.
  std::string try_add(const VmType& type) {
    const Constraints& constraints = question_.constraints;
    if (!listed(constraints.providers, type.provider)) return "provider not allowed";
    if (!type.accelerator) return "no accelerator";
    const std::string against = choice_.reason_against(type);
    if (!against.empty()) return against;
    bool network = false;
    auto figures = figures_of(question_.context, type, network);
    if (!figures.ok()) return "accelerator without figures";
    const auto batch_max = largest_batch(question_.context.job, memory_of(*figures));
    const auto sharded = sharded_of(type, network);
    if (!batch_max && !sharded) return "job does not fit into memory";
    std::string reason;
    const std::vector<Rental> rentals = rentals_of(type, reason);
    if (rentals.empty()) return reason;
    Machine machine{.type = &type,
                    .figures = std::move(*figures),
                    .worker_choices = worker_choices(type),
                    .batch_max = batch_max.value_or(1),
                    .vms_max = network ? constraints.vms_max : 1};
    if (const auto& copy = question_.outlook.host_copy) {
      machine.copy = copy_line(*copy, gpu_of(question_.context.catalog, type));
    }
    if (batch_max) add_machine(machine, rentals);
    if (sharded && (!batch_max || is_tight(*sharded))) {
      machine.sharded = sharded;
      add_machine(machine, rentals);
    }
    return "";
  }

  void add_machine(const Machine& machine, const std::vector<Rental>& rentals) {
    for (Rental rental : rentals) {
      rental.machine = static_cast<int>(space_.machines.size());
      rental.vms_max = std::min(rental.vms_max, machine.vms_max);
      space_.rentals.push_back(std::move(rental));
    }
    space_.machines.push_back(machine);
  }

  /// Whether the states of a replica leave less than half of the memory to activations, so that
  /// shards may be faster.
  bool is_tight(const ShardedCluster& cluster) const {
    const ShardedModel& model = *question_.context.sharded;
    const ShardedStates& each = model.states;
    const Bytes states = model.parameters() *
                         (each.parameter + model.setup.trained * (each.gradient + each.optimizer));
    return states > 0.5 * cluster.memory;
  }

  /// One VM of the type, where parts of the model fit on as many as are allowed.
  std::optional<ShardedCluster> sharded_of(const VmType& type, bool network) const {
    const ShardedModel* model = question_.context.sharded;
    if (!shards_ || model == nullptr) return std::nullopt;
    auto cluster =
        sharded_cluster(question_.context.catalog, type, model->precision, network ? 2 : 1);
    if (!cluster) return std::nullopt;
    cluster->vms = network ? question_.constraints.vms_max : 1;
    if (!may_fit({.model = *model, .cluster = *cluster})) return std::nullopt;
    cluster->vms = 1;
    return cluster;
  }

  /// The cheapest price in each region and market; without any, the reason.
  std::vector<Rental> rentals_of(const VmType& type, std::string& reason) {
    const Constraints& constraints = question_.constraints;
    std::map<std::pair<std::string, Market>, Rental> found;
    reason = "no price";
    for (const Offer& offer : type.offers) {
      for (const Market market : {Market::kOnDemand, Market::kSpot}) {
        const auto& price = market == Market::kSpot ? offer.spot : offer.on_demand;
        if (!price || price->rate <= DollarsPerSecond{}) continue;
        if (reason == "no price") reason = "region not allowed";
        if (!listed(constraints.regions, offer.region)) continue;
        if (!allows(market)) {
          if (reason == "region not allowed") reason = "no price on the market";
          continue;
        }
        reason = "over quota or hourly budget";
        Rental rental{.market = market,
                      .region = offer.region,
                      .price = price->rate,
                      .date = price->date,
                      .quotas = quotas_of(type, market)};
        // Prices of the emulated cloud are what it charges.
        if (question_.outlook.prices && type.provider != kLocalProvider) {
          rental.price_deviation = question_.outlook.prices->deviation(market, price->date);
        }
        if (market == Market::kSpot) rental.spot = spot_figures(type, offer);
        rental.vms_max = quota_limit(constraints, type, rental);
        if (rental.vms_max < 1) continue;
        const auto key = std::make_pair(to_lower(offer.region), market);
        const auto at = found.find(key);
        if (at == found.end()) {
          found.emplace(key, std::move(rental));
        } else if (rental.price < at->second.price) {
          at->second = std::move(rental);
        }
      }
    }
    std::vector<Rental> rentals;
    for (auto& [key, rental] : found) rentals.push_back(std::move(rental));
    return rentals;
  }

  /// For each place the machine without accelerator whose network costs least.
  void find_receivers() {
    std::map<std::string, ReceiverChoice> best;
    for (const VmType& type : question_.context.catalog.types) {
      const auto network = network_rate(type);
      if (type.accelerator || !network || *network <= BytesPerSecond{}) continue;
      if (!choice_.may_serve(type)) continue;
      for (const Offer& offer : type.offers) {
        if (!offer.on_demand || offer.on_demand->rate <= DollarsPerSecond{}) continue;
        const ReceiverChoice receiver{&type, offer.on_demand->rate, *network};
        const auto [at, fresh] =
            best.emplace(type.provider + "/" + to_lower(offer.region), receiver);
        if (!fresh && receiver.price / receiver.network < at->second.price / at->second.network) {
          at->second = receiver;
        }
      }
    }
    for (Rental& rental : space_.rentals) {
      if (!rental.spot) continue;
      const std::string& provider =
          space_.machines[static_cast<std::size_t>(rental.machine)].type->provider;
      const auto found = best.find(provider + "/" + to_lower(rental.region));
      if (found != best.end()) rental.receiver = found->second;
    }
  }

  bool allows(Market market) const {
    const auto& markets = question_.constraints.markets;
    return markets.empty() || std::find(markets.begin(), markets.end(), market) != markets.end();
  }

  std::shared_ptr<const PoolLosses> losses_in(const Interruption& band) {
    auto& known = bands_[{band.monthly_min, band.monthly_max}];
    if (!known) known = losses_of(advised_hazard(band));
    return known;
  }

  SpotFigures spot_figures(const VmType& type, const Offer& offer) {
    SpotFigures figures{.losses = offer.interruption ? losses_in(*offer.interruption) : losses_,
                        .notice = spot_notice(type.provider)};
    if (offer.on_demand && allows(Market::kOnDemand)) figures.on_demand = offer.on_demand->rate;
    return figures;
  }

  std::vector<int> quotas_of(const VmType& type, Market market) const {
    std::vector<int> indexes;
    const auto& quotas = question_.constraints.quotas;
    for (std::size_t i = 0; i < quotas.size(); ++i) {
      if (counts(quotas[i], type, market)) indexes.push_back(static_cast<int>(i));
    }
    return indexes;
  }

  const PlanQuestion& question_;
  MachineChoice choice_;
  std::shared_ptr<const PoolLosses> losses_;  // Of a pool that nothing is known of.
  std::map<std::pair<double, std::optional<double>>, std::shared_ptr<const PoolLosses>> bands_;
  bool shards_;
  Space space_;
};

Space space_of(const PlanQuestion& question, bool shards) {
  Maker maker(question, shards);
  for (const VmType& type : question.context.catalog.types) maker.add(type);
  return maker.take();
}

/// A quota that nothing counts against is a slip of the pen.
Status check_quotas(const Catalog& catalog, const Constraints& constraints) {
  for (const Quota& quota : constraints.quotas) {
    const bool counted =
        std::any_of(catalog.types.begin(), catalog.types.end(), [&](const VmType& type) {
          return counts(quota, type, quota.market.value_or(Market::kSpot));
        });
    if (counted) continue;
    return bad_usage(
        fmt::format("--quota: '{}' is not a VM type, family or quota class of the catalogue; write "
                    "for example g5=32 or p4d:spot=96",
                    quota.name));
  }
  return {};
}

}  // namespace

bool no_worse(const Rental& a, const Rental& b) {
  if (a.price > b.price || a.price_deviation > b.price_deviation) return false;
  if (!a.spot) return true;
  for (std::size_t i = 0; i < a.spot->losses->size() && a.spot->losses != b.spot->losses; ++i) {
    if (!(*a.spot->losses)[i].never_more((*b.spot->losses)[i])) return false;
  }
  if (a.spot->on_demand.has_value() != b.spot->on_demand.has_value()) return false;
  if (a.spot->on_demand && *a.spot->on_demand > *b.spot->on_demand) return false;
  if (!b.receiver) return true;
  return a.receiver && a.receiver->price <= b.receiver->price &&
         a.receiver->network >= b.receiver->network;
}

const Machine& Space::machine_of(int rental) const {
  return machines[static_cast<std::size_t>(rentals[static_cast<std::size_t>(rental)].machine)];
}

Result<Space> plan_space(const PlanQuestion& question, Sharding sharding) {
  const Status quotas = check_quotas(question.context.catalog, question.constraints);
  if (!quotas.ok()) return quotas.error();
  const ShardedModel* model = question.context.sharded;
  const bool may = sharding == Sharding::kAllowed && model != nullptr;
  // No measured row of a layout trains adapters beside frozen weights: replicas come first.
  const bool frozen = may && model->setup.frozen_products;
  Space space = space_of(question, may && !frozen);
  if (frozen && space.machines.empty()) return space_of(question, true);
  return space;
}

bool within_quotas(const Space& space, const Constraints& constraints,
                   std::span<const std::pair<int, int>> counts) {
  int vms = 0;
  for (const auto& [rental, count] : counts) vms += count;
  if (vms > constraints.vms_max) return false;
  for (std::size_t quota = 0; quota < constraints.quotas.size(); ++quota) {
    std::int64_t used = 0;
    for (const auto& [rental, count] : counts) {
      const auto& of = space.rentals[static_cast<std::size_t>(rental)].quotas;
      if (std::find(of.begin(), of.end(), static_cast<int>(quota)) == of.end()) continue;
      used += std::int64_t{count} * std::max(1, space.machine_of(rental).type->vcpus.value_or(1));
    }
    if (used > constraints.quotas[quota].vcpus) return false;
  }
  return true;
}

}  // namespace stint
