#include "risk/price_drift.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>
#include <vector>

#include "base/normal.h"
#include "base/text.h"

namespace stint {
namespace {

constexpr const char* kSpotScope = "price: spot";
constexpr const char* kOnDemandScope = "price: on-demand";
constexpr const char* kRate = "variance_rate";
constexpr const char* kLimit = "limit";
constexpr const char* kPerDay = "1/day";
constexpr const char* kRatio = "1";
constexpr double kInterval = 0.8;  // Share of prices that the fitted interval holds.

struct Point {
  Seconds time;
  double log_price = 0;
};

/// The prices of a pool by time.
using Series = std::vector<Point>;

std::vector<Series> series_of(std::span<const PriceRow> rows) {
  std::map<std::string, Series> pools;
  for (const PriceRow& row : rows) {
    pools[pool_of(row)].push_back({row.time, std::log(row.price.in(kDollar / kHour))});
  }
  std::vector<Series> all;
  for (auto& [pool, series] : pools) {
    std::stable_sort(series.begin(), series.end(),
                     [](const Point& a, const Point& b) { return a.time < b.time; });
    all.push_back(std::move(series));
  }
  return all;
}

/// |change of the logarithm| of each price since `age` before it, as far as the pools go back.
std::vector<double> changes_over(const std::vector<Series>& pools, Seconds age) {
  std::vector<double> changes;
  for (const Series& series : pools) {
    std::size_t before = 0;  // The price that held `age` before the current one.
    for (const Point& now : series) {
      const Seconds then = now.time - age;
      if (then < series.front().time) continue;
      while (before + 1 < series.size() && series[before + 1].time <= then) ++before;
      changes.push_back(std::abs(now.log_price - series[before].log_price));
    }
  }
  std::sort(changes.begin(), changes.end());
  return changes;
}

struct Rate {
  double log_rate = 0;  // Per day.
  double age_max = 0;   // In days.
  bool known = false;
};

Rate fitted_rate(const std::vector<Series>& pools, double limit) {
  Rate rate;
  double weights = 0;
  double sum = 0;
  const double score = normal_quantile((1 + kInterval) / 2);
  for (const double days : kPriceAgesDays) {
    const std::vector<double> changes = changes_over(pools, days * kDay);
    if (changes.size() < static_cast<std::size_t>(kPriceRowsMin)) continue;
    rate.age_max = days;
    const double share = std::pow(sorted_quantile(changes, kInterval) / score / limit, 2);
    if (share <= 0 || share >= 1) continue;  // No change at this age, or past any bound.
    const auto weight = static_cast<double>(changes.size());
    sum += weight * std::log(-limit * limit * std::log1p(-share) / days);
    weights += weight;
  }
  rate.known = weights > 0;
  if (rate.known) rate.log_rate = sum / weights;
  return rate;
}

/// Deviation of ln v: the jackknife over regions, whose prices move by themselves.
double jackknife(std::span<const PriceRow> rows, double limit) {
  std::set<std::string> regions;
  for (const PriceRow& row : rows) regions.insert(region_of(row));
  std::vector<double> without;
  for (const std::string& region : regions) {
    std::vector<PriceRow> rest;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(rest),
                 [&](const PriceRow& row) { return region_of(row) != region; });
    const Rate rate = fitted_rate(series_of(rest), limit);
    if (rate.known) without.push_back(rate.log_rate);
  }
  if (without.size() < 2) return 0;
  const auto n = static_cast<double>(without.size());
  double mean = 0;
  for (const double it : without) mean += it / n;
  double squares = 0;
  for (const double it : without) squares += (it - mean) * (it - mean);
  return std::sqrt((n - 1) / n * squares);
}

Constant* find(Calibration& calibration, const char* scope, const char* name) {
  for (Constant& it : calibration.constants) {
    if (it.scope == scope && it.name == name) return &it;
  }
  return nullptr;
}

Result<double> constant_of(const Calibration& calibration, const char* scope, const char* name,
                           const char* unit) {
  for (const Constant& it : calibration.constants) {
    if (it.scope == scope && it.name == name && it.unit == unit && it.value > 0) return it.value;
  }
  return bad_input(
      fmt::format("the calibration '{}' needs a constant '{}' above zero in {} of the scope '{}'",
                  printable(calibration.name), name, unit, scope));
}

Result<PriceDrift> read_drift(const Calibration& calibration, const char* scope) {
  const auto rate = constant_of(calibration, scope, kRate, kPerDay);
  if (!rate.ok()) return rate.error();
  const auto limit = constant_of(calibration, scope, kLimit, kRatio);
  if (!limit.ok()) return limit.error();
  return PriceDrift{.variance_rate = *rate / kDay, .limit = *limit};
}

}  // namespace

double PriceDrift::deviation(Seconds age) const {
  if (limit <= 0 || age <= Seconds{}) return 0;
  return limit * std::sqrt(-std::expm1(-(variance_rate * age) / (limit * limit)));
}

double PriceOutlook::deviation(Market market, const Date& date) const {
  return law.of(market).deviation(days_between(date, today) * kDay);
}

Result<PriceFit> fit_price_drift(std::span<const PriceRow> rows, double limit) {
  const std::vector<Series> pools = series_of(rows);
  const Rate rate = fitted_rate(pools, limit);
  if (rate.age_max <= 0) {
    return bad_input(
        fmt::format("{} dated prices are too few: at least {} need another of their pool a day "
                    "before them",
                    rows.size(), kPriceRowsMin));
  }
  if (!rate.known) {
    return bad_input("the prices of most rows never change, so nothing can be learned of it");
  }
  return PriceFit{.variance_rate = std::exp(rate.log_rate) / kDay,
                  .log_deviation = jackknife(rows, limit),
                  .age_max = rate.age_max * kDay,
                  .rows = static_cast<int>(rows.size()),
                  .pools = static_cast<int>(pools.size())};
}

Result<PriceLaw> read_price_law(const Calibration& calibration) {
  const auto spot = read_drift(calibration, kSpotScope);
  if (!spot.ok()) return spot.error();
  const auto on_demand = read_drift(calibration, kOnDemandScope);
  if (!on_demand.ok()) return on_demand.error();
  return PriceLaw{.spot = *spot, .on_demand = *on_demand};
}

void set_price_fit(const PriceFit& fit, const std::string& provenance, Calibration& calibration) {
  if (Constant* rate = find(calibration, kSpotScope, kRate)) {
    rate->value = (fit.variance_rate * kDay);
    rate->deviation = rate->value * fit.log_deviation;
  }
  std::erase_if(calibration.data, [](const FittedData& it) { return it.rows > 0; });
  calibration.data.insert(
      calibration.data.begin(),
      FittedData{.name = kSpotScope, .provenance = provenance, .rows = fit.rows});
}

}  // namespace stint
