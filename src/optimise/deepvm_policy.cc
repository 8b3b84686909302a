#include "optimise/deepvm_policy.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <utility>

#include "base/check.h"
#include "optimise/answer.h"
#include "optimise/policies.h"

namespace stint {
namespace {

/// A machine as DeepVM sees it, and where in the space it stands.
struct Candidate {
  DeepVmType type;
  int spot = 0;                  // Rental.
  std::optional<int> on_demand;  // Rental of the same region.
};

std::optional<BytesPerSecond> nic_of(const VmType& type) {
  if (!type.network) return std::nullopt;
  return type.network->peak ? type.network->peak : type.network->baseline;
}

bool allows(const Constraints& constraints, Market market) {
  const auto& markets = constraints.markets;
  return markets.empty() || std::find(markets.begin(), markets.end(), market) != markets.end();
}

/// Makes the candidates of a space.
class Candidates {
 public:
  Candidates(const Evaluator& evaluator, const DeepVmLimits& limits)
      : evaluator_(evaluator), space_(evaluator.space()), limits_(limits) {
    for (const Machine& machine : space_.machines) published_ |= machine.type->deepvm.has_value();
  }

  bool published() const { return published_; }

  Result<std::vector<Candidate>> all() const {
    std::vector<Candidate> candidates;
    for (std::size_t i = 0; i < space_.machines.size(); ++i) {
      const auto spot = cheapest_spot(static_cast<int>(i));
      if (!spot) continue;
      auto candidate = made(*spot);
      if (!candidate.ok()) return candidate.error();
      if (*candidate) candidates.push_back(std::move(**candidate));
    }
    return candidates;
  }

 private:
  const Rental& rental(int index) const { return space_.rentals[static_cast<std::size_t>(index)]; }

  std::optional<int> cheapest_spot(int machine) const {
    std::optional<int> best;
    for (int i = 0; i < static_cast<int>(space_.rentals.size()); ++i) {
      if (rental(i).machine != machine || rental(i).market != Market::kSpot) continue;
      if (!best || rental(i).price < rental(*best).price) best = i;
    }
    return best;
  }

  std::optional<int> on_demand_beside(int spot) const {
    for (int i = 0; i < static_cast<int>(space_.rentals.size()); ++i) {
      const bool beside = rental(i).machine == rental(spot).machine &&
                          rental(i).market == Market::kOnDemand &&
                          rental(i).region == rental(spot).region;
      if (beside) return i;
    }
    return std::nullopt;
  }

  /// Nothing when DeepVM would not know what to make of it.
  Result<std::optional<Candidate>> made(int spot) const {
    const VmType& type = *space_.machine_of(spot).type;
    std::optional<Candidate> none;
    if (published_ && !type.deepvm) return none;
    Candidate it{.type = {.name = type.name,
                          .figures = {},
                          .spot = rental(spot).price,
                          .nic = nic_of(type),
                          .vcpus = type.vcpus.value_or(1)},
                 .spot = spot,
                 .on_demand = on_demand_beside(spot)};
    if (it.on_demand) it.type.on_demand = rental(*it.on_demand).price;
    const std::vector<Speedup> speeds = speeds_of(spot);
    if (speeds.empty()) return none;
    for (const Speedup& speed : speeds) it.type.sizes.push_back(speed.workers);
    if (type.deepvm) {
      it.type.figures = *type.deepvm;
    } else {
      const Gpu* gpu = gpu_of(evaluator_.question().context.catalog, type);
      if (gpu == nullptr || !gpu->fp32) return none;
      const auto fitted = fit_deepvm(speeds);
      if (!fitted.ok()) return fitted.error();
      it.type.figures = *fitted;
      it.type.figures.flops = type.accelerator->count * gpu->fp32->in(kTeraflop / kSecond);
    }
    add_receiver(type, rental(spot).region, it.type);
    return std::optional(std::move(it));
  }

  /// The sizes that the job can run on, with the speed relative to one worker.
  std::vector<Speedup> speeds_of(int spot) const {
    std::vector<Speedup> speeds;
    std::optional<Seconds> one;
    const int choice = reference_choice(evaluator_.question());
    for (int vms = 1; vms <= std::min(limits_.vms_max, rental(spot).vms_max); ++vms) {
      const Config config{.parts = {Part{.rental = spot, .vms = vms}}, .choice = choice};
      const auto run = plain_run(evaluator_, config);
      if (!run) continue;
      // Where one VM cannot run the job, the fewest that can count as so many times as fast.
      if (!one) one = vms * run->outcome.iteration;
      speeds.push_back({.workers = vms, .speed = *one / run->outcome.iteration});
    }
    return speeds;
  }

  /// The VMs without accelerator that take checkpoints at the lowest price for each worker, and
  /// the quotas on all.
  void add_receiver(const VmType& type, const std::string& region, DeepVmType& it) const {
    const PlanQuestion& question = evaluator_.question();
    const VmType* best = nullptr;
    std::optional<DollarsPerSecond> least;
    for (const VmType& other : question.context.catalog.types) {
      const auto nic = nic_of(other);
      const bool may_be = !other.accelerator && other.provider == type.provider && nic && it.nic;
      const auto fan_in = may_be ? deepvm_fan_in(std::min(*nic, *it.nic)) : std::nullopt;
      if (!fan_in || !allows(question.constraints, Market::kOnDemand)) continue;
      for (const Offer& offer : other.offers) {
        if (offer.region != region || !offer.on_demand) continue;
        const DollarsPerSecond price = offer.on_demand->rate;
        if (least && price / *fan_in >= *least) continue;
        least = price / *fan_in;
        best = &other;
        it.receiver = DeepVmReceiver{
            .name = other.name, .price = price, .nic = *nic, .vcpus = other.vcpus.value_or(1)};
      }
    }
    for (const Quota& quota : limits_.quotas) {
      it.quotas.push_back(
          {.vcpus = quota.vcpus,
           .spot = counts(quota, type, Market::kSpot),
           .on_demand = counts(quota, type, Market::kOnDemand),
           .receivers = best != nullptr && counts(quota, *best, Market::kOnDemand)});
    }
  }

  const Evaluator& evaluator_;
  const Space& space_;
  const DeepVmLimits& limits_;
  bool published_ = false;
};

Config config_of(const Candidate& candidate, const DeepVmChoice& choice) {
  const Part spot{.rental = candidate.spot, .vms = choice.workers};
  if (choice.architecture == DeepVmArchitecture::kTiering) return {.parts = {spot}};
  const Part anchor{.rental = candidate.on_demand.value(), .vms = 1};
  if (choice.workers == 1) return {.parts = {anchor}};
  const Part others{.rental = candidate.spot, .vms = choice.workers - 1};
  return {.parts = {others, anchor}, .kinds = 2};
}

}  // namespace

Result<std::optional<DeepVmPick>> deepvm_pick(const Evaluator& evaluator,
                                              const DeepVmLimits& limits) {
  const Candidates candidates(evaluator, limits);
  const auto all = candidates.all();
  if (!all.ok()) return all.error();
  std::vector<DeepVmType> types;
  for (const Candidate& candidate : *all) types.push_back(candidate.type);
  const auto choice = deepvm_choice(types, limits.rate_max);
  if (!choice.ok()) return choice.error();
  if (!*choice) return std::optional<DeepVmPick>{};
  const Candidate& chosen = (*all)[(*choice)->type];
  Config config = config_of(chosen, **choice);
  config.choice = reference_choice(evaluator.question());
  const auto run = plain_run(evaluator, config);
  // The same machines were seen to run the job, whoever pays for them how.
  CHECK(run.has_value());
  Found found = *run;
  // Its receivers have another price than those we would choose, which is added to the plan; how
  // long a save takes is about the same as to a store.
  found.config.save = {};
  for (const Part& part : found.config.used()) {
    const auto& rental = evaluator.space().rentals[static_cast<std::size_t>(part.rental)];
    if (!rental.spot) found.config.save.place = CheckpointPlace::kAnchor;
  }
  if (const auto outcome = evaluator.outcome(found.config)) found.outcome = *outcome;
  DeepVmPick pick{.found = found, .choice = **choice, .fitted = !candidates.published()};
  if (pick.choice.architecture == DeepVmArchitecture::kTiering) {
    pick.receiver = chosen.type.receiver;
  }
  return std::optional(std::move(pick));
}

Plan plan_of(const Evaluator& evaluator, const DeepVmPick& pick) {
  Plan plan = plan_of(evaluator, pick.found);
  std::string note = "checkpoints go to the on-demand VM";
  if (plan.checkpoint) plan.checkpoint->place = CheckpointPlace::kAnchor;
  if (pick.receiver) {
    const DollarsPerSecond rate = pick.choice.receivers * pick.receiver->price;
    if (plan.checkpoint) {
      plan.checkpoint->place = CheckpointPlace::kTier;
      plan.checkpoint->receivers = pick.choice.receivers;
      plan.checkpoint->receiver = pick.receiver->name;
    }
    note = fmt::format("checkpoints go to {}x {} on-demand", pick.choice.receivers,
                       pick.receiver->name);
    plan.bill->anchors += rate * plan.time.mean;
    plan.cost.mean += rate * plan.time.mean;
    plan.cost.p10 += rate * plan.time.p10;
    plan.cost.p90 += rate * plan.time.p90;
  }
  if (const auto& budget = evaluator.question().constraints.budget) {
    const double deviation = evaluator.deviation(pick.found.config, pick.found.outcome);
    Found found = pick.found;
    found.outcome.cost = plan.cost.mean;
    plan.p_budget = evaluator.p_within(found, *budget, deviation);
  }
  plan.note = plan.note ? fmt::format("{}; {}", note, *plan.note) : note;
  return plan;
}

}  // namespace stint
