#include "calibrate/space_sharing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "base/normal.h"
#include "calibrate/score.h"

namespace stint {
namespace {

enum Kind : std::size_t {
  kMean,
  kDevice,
  kSlope,
  kOwn,
  kOwnDevice,
  kOwnSlope,
  kOwnSize,
  kBeside,
  kBesideDevice,
  kBesideSlope,
  kBesideSize,
  kPair,
  kPairOwnSlope,
  kPairBesideSlope,
  // Of the law with rates alone.
  kLength,
  kBesideLength,
  kGrowth,
  kBesideGrowth,
  kGrowthDevice,
  kBesideGrowthDevice,
  kServer,
  kBesideServer,
  kKinds,
};

// Jobs differ by a seventh and repeated measurements by a twentieth: orders of magnitude, with the
// weight of two jobs, or two rows, beside those of the data.
constexpr double kBelievedEffect = 0.14 * 0.14;
constexpr double kBelievedNoise = 0.055 * 0.055;

// What a job loses or gains in a full server returns beside another job in part, or more than that.
constexpr double kBelievedServer = 0.5 * 0.5;

// Student's noise: machines in a bad state deviate by tens of deviations.
constexpr double kFreedom = 4;

// Ratios up to this are those of a table that cuts off at the rate alone, printed with six digits.
constexpr double kCutOff = 1 + 1e-5;

// Weights converge in that many rounds when variances are fixed.
constexpr int kHeldRounds = 3;

// With fewer families than these, in all and on a device, holding one out has no information.
constexpr std::size_t kFamiliesMin = 3;
constexpr std::size_t kDeviceFamiliesMin = 2;

const double kP90 = normal_quantile(0.9);

/// A job as the law sees it.
struct SharingJob {
  SizedJob job;
  double step = 0;    // x of the law.
  double growth = 0;  // w.
  double server = 0;  // c; 0: unknown.
};

/// One job of a pair.
struct Side {
  std::string device;  // As the basis names it.
  bool in_steps = true;
  bool unsteady = false;
  SharingJob own;
  SharingJob beside;
  double log_share = 0;  // log r, if it was measured.
};

struct WeightedTerm {
  SharingTerm term;
  double weight = 1;
};

/// The terms that say what rates alone say.
void add_terms_of_rates(const Side& side, std::vector<WeightedTerm>& terms) {
  const auto add = [&](Kind kind, double weight) {
    terms.push_back({{.shared = true, .kind = kind}, weight});
  };
  const auto here = [&](Kind kind, double weight) {
    if (weight != 0) terms.push_back({{.device = side.device, .kind = kind}, weight});
  };
  add(kLength, side.own.step);
  add(kBesideLength, side.beside.step);
  add(kGrowth, side.own.growth);
  add(kBesideGrowth, side.beside.growth);
  here(kGrowthDevice, side.own.growth);
  here(kBesideGrowthDevice, side.beside.growth);
  here(kServer, side.own.server);
  here(kBesideServer, side.beside.server);
}

/// The terms of the law for one side.
std::vector<WeightedTerm> terms_of(const Side& side, bool by_rates) {
  std::vector<WeightedTerm> terms;
  const std::string& own = side.own.job.job;
  const std::string& beside = side.beside.job.job;
  const double x_own = side.own.step;
  const double x_beside = side.beside.step;
  const auto shared = [&](Kind kind, double weight, const std::string& a, const std::string& b) {
    terms.push_back({{.shared = true, .kind = kind, .own = a, .beside = b}, weight});
  };
  const auto here = [&](Kind kind, double weight, const std::string& a, const std::string& b,
                        int batch = 0) {
    terms.push_back(
        {{.device = side.device, .kind = kind, .own = a, .beside = b, .batch = batch}, weight});
  };
  shared(kMean, 1, "", "");
  if (!by_rates) shared(kSlope, x_own - x_beside, "", "");
  shared(kOwn, 1, own, "");
  shared(kBeside, 1, "", beside);
  here(kDevice, 1, "", "");
  here(kOwnDevice, 1, own, "");
  here(kOwnSlope, x_own, own, "");
  here(kOwnSize, 1, own, "", side.own.job.batch);
  here(kBesideDevice, 1, "", beside);
  here(kBesideSlope, x_beside, "", beside);
  here(kBesideSize, 1, "", beside, side.beside.job.batch);
  here(kPair, 1, own, beside);
  here(kPairOwnSlope, x_own, own, beside);
  here(kPairBesideSlope, x_beside, own, beside);
  if (by_rates) add_terms_of_rates(side, terms);
  return terms;
}

double log_step(const PackedSide& side) { return -std::log(side.alone->in(1 / kSecond)); }

SharingJob job_of(const PackedSide& side, bool in_steps, double log_step_mean) {
  SharingJob it{.job = side.job};
  if (!in_steps) return it;
  it.step = log_step(side) - log_step_mean;
  if (side.alone_usual) it.growth = std::log(*side.alone_usual / *side.alone);
  if (side.full_server) it.server = std::log(*side.full_server / *side.alone);
  return it;
}

Side side_of(const PackedPair& pair, const PackedSide& own, const PackedSide& beside,
             const SharingBasis& basis) {
  Side side{.device = sharing_device(pair),
            .in_steps = pair.in_steps,
            .unsteady = pair.unsteady,
            .own = job_of(own, pair.in_steps, basis.log_step_mean),
            .beside = job_of(beside, pair.in_steps, basis.log_step_mean)};
  if (own.packed) side.log_share = std::log(*own.packed / *own.alone);
  return side;
}

/// Devices, their families and cut-offs, and the mean step.
SharingBasis basis_of(std::span<const PackedPair> pairs) {
  SharingBasis basis;
  double steps = 0;
  double count = 0;
  for (const PackedPair& pair : pairs) {
    SharingDevice& device = basis.devices[sharing_device(pair)];
    for (const PackedSide* side : {&pair.first, &pair.second}) {
      device.families.insert(side->job.job);
      device.in_steps = pair.in_steps;
      if (*side->packed / *side->alone > kCutOff) device.cut_off = false;
      if (!pair.in_steps) continue;
      steps += log_step(*side);
      count += 1;
    }
  }
  if (count > 0) basis.log_step_mean = steps / count;
  std::size_t noise = 0;
  for (auto& [name, device] : basis.devices) device.noise = noise++;
  return basis;
}

/// Numbers the terms of all sides, those of a device together and the shared ones last.
void number_terms(const std::vector<Side>& sides, SharingBasis& basis) {
  for (const Side& side : sides) {
    for (WeightedTerm& it : terms_of(side, basis.by_rates))
      basis.unknowns.emplace(std::move(it.term), 0);
  }
  std::size_t number = 0;
  for (auto& [term, unknown] : basis.unknowns) unknown = number++;
}

/// The number of a term's variance: kinds first for all devices together, then for each device.
std::size_t variance_number(const SharingTerm& term, const SharingBasis& basis) {
  if (term.shared) return term.kind;
  return kKinds * (1 + basis.devices.at(term.device).noise) + term.kind;
}

/// All devices have the same variances.
RandomEffects problem_of(const std::vector<Side>& sides, const SharingBasis& basis) {
  RandomEffects problem{.freedom = kFreedom};
  problem.believed.kinds.assign(kKinds, kBelievedEffect);
  problem.believed.kinds[kServer] = kBelievedServer;
  problem.believed.kinds[kBesideServer] = kBelievedServer;
  problem.believed.noises.assign(basis.devices.size(), kBelievedNoise);
  for (const auto& [term, unknown] : basis.unknowns) problem.kind_of.push_back(term.kind);
  for (const Side& side : sides) {
    const SharingDevice& device = basis.devices.at(side.device);
    Observation it{.value = side.log_share - std::log(0.5), .noise = device.noise};
    it.at_least = device.cut_off && side.log_share >= -std::log(kCutOff);
    for (const WeightedTerm& term : terms_of(side, basis.by_rates)) {
      it.shares.push_back({basis.unknowns.at(term.term), term.weight});
    }
    problem.observations.push_back(std::move(it));
  }
  return problem;
}

/// The same with variances for each device, expected to be those of all devices together.
RandomEffects problem_by_device(RandomEffects problem, const SharingBasis& basis,
                                const EffectVariances& together) {
  problem.believed = together;
  for (std::size_t i = 0; i < basis.devices.size(); ++i) {
    problem.believed.kinds.insert(problem.believed.kinds.end(), together.kinds.begin(),
                                  together.kinds.end());
  }
  problem.kind_of.clear();
  for (const auto& [term, unknown] : basis.unknowns) {
    problem.kind_of.push_back(variance_number(term, basis));
  }
  return problem;
}

/// The variance of a term without data. An unknown device is as uncertain as the worst one.
double variance_of(SharingTerm term, const SharingBasis& basis, const EffectVariances& variances) {
  if (term.shared || basis.devices.contains(term.device)) {
    return variances.kinds[variance_number(term, basis)];
  }
  double worst = 0;
  for (const auto& [name, device] : basis.devices) {
    term.device = name;
    worst = std::max(worst, variances.kinds[variance_number(term, basis)]);
  }
  return worst;
}

/// log r of a side.
struct Estimate {
  double mean = 0;
  double deviation = 0;
  double ceiling = 0;  // The cut-off; infinite without one.
};

const SharingDevice* find_device(const SharingBasis& basis, const std::string& name) {
  const auto found = basis.devices.find(name);
  return found == basis.devices.end() ? nullptr : &found->second;
}

Estimate estimate(const SharingBasis& basis, const FittedEffects& fitted, const Side& side) {
  const EffectVariances& variances = fitted.variances();
  const SharingDevice* device = find_device(basis, side.device);
  // An unknown device is assumed to be as noisy as the worst one.
  double variance = device == nullptr
                        ? *std::max_element(variances.noises.begin(), variances.noises.end())
                        : variances.noises[device->noise];
  std::vector<EffectShare> known;
  for (const WeightedTerm& it : terms_of(side, basis.by_rates)) {
    const auto found = basis.unknowns.find(it.term);
    if (found != basis.unknowns.end()) {
      known.push_back({found->second, it.weight});
    } else {
      variance += it.weight * it.weight * variance_of(it.term, basis, variances);
    }
  }
  variance += fitted.variance(known);
  const bool cut_off =
      device != nullptr
          ? device->cut_off
          : std::all_of(basis.devices.begin(), basis.devices.end(), [&](const auto& it) {
              return it.second.cut_off || it.second.in_steps != side.in_steps;
            });
  return {.mean = std::log(0.5) + fitted.mean(known),
          .deviation = std::sqrt(variance),
          .ceiling = cut_off ? 0 : INFINITY};
}

/// The error in deviations of each steady side when it is predicted without one of its families;
/// each family is held out in turn, with the variances fixed.
std::map<std::string, std::vector<double>> off_without_family(const SharingBasis& basis,
                                                              const RandomEffects& problem,
                                                              const FittedEffects& fitted,
                                                              const std::vector<Side>& sides) {
  std::set<std::string> families;
  for (const Side& side : sides) families.insert(side.own.job.job);
  std::map<std::string, std::vector<double>> off;
  if (families.size() < kFamiliesMin) return off;
  for (const std::string& family : families) {
    RandomEffects rest{.kind_of = problem.kind_of,
                       .believed = fitted.variances(),
                       .held = true,
                       .freedom = kFreedom,
                       .rounds = kHeldRounds};
    const auto has = [&](const Side& it) {
      return it.own.job.job == family || it.beside.job.job == family;
    };
    for (std::size_t i = 0; i < sides.size(); ++i) {
      if (!has(sides[i])) rest.observations.push_back(problem.observations[i]);
    }
    const FittedEffects without = fit_random_effects(rest);
    for (const Side& side : sides) {
      if (!has(side) || side.unsteady) continue;
      const Estimate it = estimate(basis, without, side);
      off[side.device].push_back(std::abs(side.log_share - std::min(it.mean, it.ceiling)) /
                                 it.deviation);
    }
  }
  return off;
}

/// The factor on deviations with which eight in ten lie within.
double factor_of(std::vector<double> off) {
  if (off.empty()) return 1;
  std::sort(off.begin(), off.end());
  return quantile(off, 0.8) / kP90;
}

/// The law of `taught`, which can teach.
SharingLaw law_of(const std::vector<PackedPair>& taught, bool by_rates) {
  SharingLaw law{.basis = basis_of(taught)};
  SharingBasis& basis = law.basis;
  basis.by_rates = by_rates;
  std::vector<Side> sides;
  for (const PackedPair& pair : taught) {
    sides.push_back(side_of(pair, pair.first, pair.second, basis));
    sides.push_back(side_of(pair, pair.second, pair.first, basis));
  }
  number_terms(sides, basis);
  const RandomEffects together = problem_of(sides, basis);
  const RandomEffects problem =
      problem_by_device(together, basis, fit_random_effects(together).variances());
  law.fitted = fit_random_effects(problem);
  const auto off = off_without_family(basis, problem, law.fitted, sides);
  std::vector<double> all;
  for (const auto& [name, some] : off) all.insert(all.end(), some.begin(), some.end());
  law.unseen_factor = factor_of(std::move(all));
  for (auto& [name, device] : basis.devices) {
    const bool enough = device.families.size() >= kDeviceFamiliesMin && off.contains(name);
    device.unseen_factor = enough ? factor_of(off.at(name)) : law.unseen_factor;
  }
  return law;
}

bool knows_full_servers(const PackedPair& pair) {
  return pair.first.full_server || pair.second.full_server;
}

SharedRate rate_of(const Estimate& it, double factor, PerSecond alone) {
  const double reach = kP90 * factor * it.deviation;
  const auto share = [&](double log_share) { return std::exp(std::min(log_share, it.ceiling)); };
  return {.median = share(it.mean) * alone,
          .p10 = share(it.mean - reach) * alone,
          .p90 = share(it.mean + reach) * alone};
}

std::optional<SharedRates> same_share(const PackedPair& pair, double share) {
  if (!can_predict_sharing(pair)) return std::nullopt;
  return SharedRates{.first = {.median = share * *pair.first.alone},
                     .second = {.median = share * *pair.second.alone}};
}

}  // namespace

bool can_predict_sharing(const PackedPair& pair) {
  return pair.first.alone && pair.second.alone && pair.gpus_each == 1;
}

bool can_teach_sharing(const PackedPair& pair) {
  return can_predict_sharing(pair) && pair.first.packed && pair.second.packed && pair.fits != false;
}

std::string sharing_device(const PackedPair& pair) {
  return pair.in_steps ? pair.device : pair.device + ", other units";
}

Result<SpaceSharing> SpaceSharing::fit(std::span<const PackedPair> pairs) {
  std::vector<PackedPair> taught;
  std::copy_if(pairs.begin(), pairs.end(), std::back_inserter(taught), can_teach_sharing);
  if (taught.empty()) {
    return bad_input(
        "no pair to learn from: none has rates of both jobs, alone and together, on one GPU");
  }
  SpaceSharing model;
  model.by_pairs_ = law_of(taught, false);
  if (std::any_of(taught.begin(), taught.end(), knows_full_servers)) {
    model.by_rates_ = law_of(taught, true);
  }
  return model;
}

std::optional<SharedRates> SpaceSharing::predict(const PackedPair& pair) const {
  if (!can_predict_sharing(pair)) return std::nullopt;
  const SharingDevice* device = find_device(by_pairs_.basis, sharing_device(pair));
  const auto seen = [&](const PackedSide& side) {
    return device != nullptr && device->families.contains(side.job.job);
  };
  const bool both_seen = seen(pair.first) && seen(pair.second);
  const bool by_rates = by_rates_ && pair.in_steps && device != nullptr && !both_seen;
  const SharingLaw& law = by_rates ? *by_rates_ : by_pairs_;
  device = find_device(law.basis, sharing_device(pair));
  const double unseen = device == nullptr ? law.unseen_factor : device->unseen_factor;
  const auto rate = [&](const PackedSide& own, const PackedSide& beside) {
    const Side side = side_of(pair, own, beside, law.basis);
    return rate_of(estimate(law.basis, law.fitted, side), both_seen ? 1 : unseen, *own.alone);
  };
  return SharedRates{.first = rate(pair.first, pair.second),
                     .second = rate(pair.second, pair.first)};
}

FreeSharingLaw SpaceSharing::law_of_strangers() const {
  const SharingBasis& basis = by_pairs_.basis;
  const auto mean_of = [&](const SharingTerm& term) {
    const auto found = basis.unknowns.find(term);
    if (found == basis.unknowns.end()) return 0.0;
    const std::array<EffectShare, 1> share{{{found->second, 1}}};
    return by_pairs_.fitted.mean(share);
  };
  const double usual = std::log(0.5) + mean_of({.shared = true, .kind = kMean});
  // Rates beyond those alone are cut off.
  const auto log_share = [&](double more) { return std::min(0.0, usual + more); };
  FreeSharingLaw law{.slope = mean_of({.shared = true, .kind = kSlope}),
                     .elsewhere = {.log_share = log_share(0)}};
  for (const auto& [name, device] : basis.devices) {
    if (!device.in_steps) continue;
    law.devices[name].log_share = log_share(mean_of({.device = name, .kind = kDevice}));
  }
  return law;
}

bool SpaceSharing::knows_device(const PackedPair& pair) const {
  return find_device(by_pairs_.basis, sharing_device(pair)) != nullptr;
}

std::optional<SharedRates> half_speed(const PackedPair& pair) { return same_share(pair, 0.5); }

MeanSlowdown::MeanSlowdown(std::span<const PackedPair> pairs) {
  for (const PackedPair& pair : pairs) {
    if (!can_teach_sharing(pair)) continue;
    for (const PackedSide* side : {&pair.first, &pair.second}) {
      const double log_share = std::log(*side->packed / *side->alone);
      for (Sum* sum : {&devices_[sharing_device(pair)], &all_}) {
        sum->log_shares += log_share;
        sum->count += 1;
      }
    }
  }
}

std::optional<SharedRates> MeanSlowdown::predict(const PackedPair& pair) const {
  const auto found = devices_.find(sharing_device(pair));
  const Sum& sum = found == devices_.end() ? all_ : found->second;
  if (sum.count == 0) return half_speed(pair);
  return same_share(pair, std::exp(sum.log_shares / sum.count));
}

}  // namespace stint
