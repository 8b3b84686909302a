#include "app/risk/risk_survive.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "load/catalog_cases.h"
#include "load/predict_inputs.h"
#include "measure/tables/lifetime_table.h"
#include "risk/advisor.h"
#include "risk/hazard.h"
#include "risk/pool_population.h"

namespace stint {
namespace {

constexpr int kMostMachines = 512;  // The distribution of machines left takes n³ operations.
constexpr GroupLoss kIndependent{.shared = 0, .reach = 0.5};

/// A pool of which this many losses were observed is fitted without the prior.
constexpr int kManyLosses = 10;

Result<std::vector<Lifetime>> lifetimes_in(const std::vector<std::string>& files) {
  std::vector<Lifetime> all;
  for (const std::string& file : files) {
    const auto text = read_file(file);
    if (!text.ok()) return text.error();
    const auto rows = read_lifetimes(*text, file);
    if (!rows.ok()) return rows.error();
    all.insert(all.end(), rows->begin(), rows->end());
  }
  return all;
}

/// The hazard by lifetimes of one's own. Few losses correct the prior, which is for machines
/// without a band; else they speak for themselves.
Result<PoolHazard> fitted_hazard(const SurviveRequest& request, bool has_band,
                                 const PoolHazard& prior) {
  const auto all = lifetimes_in(request.lifetimes);
  if (!all.ok()) return all.error();
  const int losses = KaplanMeier(*all).losses();
  std::string origin =
      fmt::format("fitted to {} of which {} were lost ({})", counted(all->size(), "lifetime"),
                  losses, join(request.lifetimes, ", "));
  const auto fitted = [&]() -> PoolHazard {
    if (!has_band && losses < kManyLosses) {
      origin += ", from " + prior.origin;
      return observed_hazard(prior, *all);
    }
    const PoolStudy study = study_of(*all);
    return population_hazard({.median = study.hazard, .deviation = std::sqrt(study.variance)});
  };
  PoolHazard hazard = fitted();
  hazard.origin = std::move(origin);
  return hazard;
}

/// The requested offer: of several the cheapest on spot, those with a band first.
const Offer* offer_of(const VmType& type, const std::string& region) {
  const Offer* best = nullptr;
  const auto rank = [](const Offer& it) {
    return std::pair(!it.interruption.has_value(), it.spot->rate);
  };
  for (const Offer& it : type.offers) {
    if (!it.spot || (!region.empty() && it.region != region)) continue;
    if (best == nullptr || rank(it) < rank(*best)) best = &it;
  }
  return best;
}

/// By the band of a table, in the requested region or else that of the catalogue.
Result<PoolHazard> advised_by(const std::string& file, const VmType& type,
                              const std::string& region) {
  const auto text = read_file(file);
  if (!text.ok()) return text.error();
  const auto rows = read_advised_bands(*text, file);
  if (!rows.ok()) return rows.error();
  std::string wanted = region;
  if (wanted.empty() && !type.offers.empty()) wanted = type.offers.front().region;
  for (const AdvisedBand& row : *rows) {
    if (row.vm != type.name || row.region != wanted) continue;
    PoolHazard hazard = advised_hazard(row.band);
    // The table has no date.
    hazard.origin = fmt::format("{}: {} are interrupted ({})", wanted, to_text(row.band), file);
    return hazard;
  }
  return bad_input(
      fmt::format("{}: no line for {} in {}; give another --region", file, type.name, wanted));
}

Result<PoolHazard> hazard_for(const VmType& type, const SurviveRequest& request,
                              const SpotPrior& prior) {
  if (!request.lifetimes.empty() && !request.advisor.empty()) {
    return bad_usage("--lifetimes and --advisor exclude each other; give one of them");
  }
  if (!request.advisor.empty()) return advised_by(request.advisor, type, request.region);
  const Offer* offer = offer_of(type, request.region);
  if (!request.lifetimes.empty()) {
    return fitted_hazard(request, offer != nullptr && offer->interruption, prior.hazard);
  }
  if (offer == nullptr) {
    const std::string where = request.region.empty() ? "" : " in " + printable(request.region);
    return bad_usage(
        fmt::format("{}/{} has no spot price{}, so it is not available as a spot machine; see "
                    "'stint catalog show {}'",
                    type.provider, type.name, where, type.name));
  }
  if (!offer->interruption) {
    PoolHazard hazard = prior.hazard;
    hazard.origin = fmt::format("{} has no interruption band; {}", type.provider, hazard.origin);
    return hazard;
  }
  PoolHazard hazard = advised_hazard(*offer->interruption);
  hazard.origin = offer->region + ": " + hazard.origin;
  return hazard;
}

std::optional<Seconds> first_loss_at(const Hazard& hazard, double events, double share) {
  const Seconds age = hazard.age_at(-std::log1p(-share) / events);
  return std::isfinite(age.in(kSecond)) ? std::optional(age) : std::nullopt;
}

FirstLoss first_loss(const Hazard& hazard, const GroupLoss& group, int machines) {
  const double events = events_rate(group, machines, 1 / kSecond).in(1 / kSecond);
  return {.p10 = first_loss_at(hazard, events, 0.1),
          .median = first_loss_at(hazard, events, 0.5),
          .p90 = first_loss_at(hazard, events, 0.9)};
}

template <class Figure>
RiskFigure figure_of(const PoolHazard& hazard, Seconds time, const GroupLoss& group,
                     Figure figure) {
  const double one = figure(group, hazard.low.cumulative(time));
  const double other = figure(group, hazard.high.cumulative(time));
  const double amount = hazard.typical.cumulative(time);
  return {.typical = figure(group, amount),
          .low = std::min(one, other),
          .high = std::max(one, other),
          .independent = figure(kIndependent, amount)};
}

/// Every count for small groups; for larger ones those that matter for decisions.
std::vector<int> counts_of(int machines) {
  constexpr int kAll = 12;
  std::vector<int> counts;
  if (machines <= kAll) {
    for (int k = machines; k >= 1; --k) counts.push_back(k);
    return counts;
  }
  for (const double share : {1.0, 0.99, 0.95, 0.9, 0.75, 0.5, 0.25}) {
    counts.push_back(static_cast<int>(std::ceil(share * machines)));
  }
  counts.push_back(machines - 1);
  counts.push_back(1);
  std::sort(counts.rbegin(), counts.rend());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

std::vector<LeftShare> left_shares(const GroupLoss& group, int machines, double amount) {
  const auto left = left_distribution(group, machines, amount);
  const auto alone = left_distribution(kIndependent, machines, amount);
  std::vector<LeftShare> shares;
  for (const int k : counts_of(machines)) {
    LeftShare share{.machines = k};
    for (auto i = static_cast<std::size_t>(k); i < left.size(); ++i) {
      share.typical += left[i];
      share.independent += alone[i];
    }
    shares.push_back(share);
  }
  return shares;
}

}  // namespace

Result<PoolHazard> pool_hazard(const VmType& type, const SurviveRequest& request) {
  const auto prior = load_spot_prior();
  if (!prior.ok()) return prior.error();
  return hazard_for(type, request, *prior);
}

Result<SurviveReport> survive_risk(const Environment& environment, const SurviveRequest& request) {
  const int n = request.count;
  if (n < 1 || n > kMostMachines) {
    return bad_usage(fmt::format("--count must be from 1 to {}", kMostMachines));
  }
  if (!(request.time > Seconds())) return bad_usage("--for must be above zero");
  const auto catalog = show_vm(environment, request.vm);
  if (!catalog.ok()) return catalog.error();
  const VmType& type = catalog->noun.types.front();
  const auto prior = load_spot_prior();
  if (!prior.ok()) return prior.error();
  const auto hazard = hazard_for(type, request, *prior);
  if (!hazard.ok()) return hazard.error();

  const GroupLoss& group = prior->group;
  const auto all_left = [n](const GroupLoss& it, double amount) {
    return all_survive(it, n, amount);
  };
  const auto losses = [n](const GroupLoss&, double amount) { return -n * std::expm1(-amount); };
  return SurviveReport{.vm = type.provider + "/" + type.name,
                       .count = n,
                       .time = request.time,
                       .all_left = figure_of(*hazard, request.time, group, all_left),
                       .losses_expected = figure_of(*hazard, request.time, group, losses),
                       .left = left_shares(group, n, hazard->typical.cumulative(request.time)),
                       .first_loss = first_loss(hazard->typical, group, n),
                       .first_loss_independent = first_loss(hazard->typical, kIndependent, n),
                       .group = group,
                       .hazard_origin = hazard->origin,
                       .group_origin = prior->hazard.origin,
                       .warnings = catalog->warnings};
}

}  // namespace stint
