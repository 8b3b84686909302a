#include "validate/validate_prices.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "base/normal.h"
#include "calibrate/score.h"
#include "load/job_files.h"
#include "risk/price_drift.h"
#include "validate/row_files.h"

namespace stint {
namespace {

constexpr const char* kDates = "dates";

/// A row with its known price, where there is one.
struct PriceForecast {
  std::size_t row = 0;
  const PriceRow* known = nullptr;
  double deviation = 0;  // Of the logarithm.
};

/// Trains on the first half of the dates of each pool.
Fold earlier_then_later(std::span<const PriceRow> rows) {
  std::map<std::string, std::pair<Seconds, Seconds>> spans;
  for (const PriceRow& row : rows) {
    const auto at = spans.emplace(pool_of(row), std::pair(row.time, row.time)).first;
    at->second.first = std::min(at->second.first, row.time);
    at->second.second = std::max(at->second.second, row.time);
  }
  Fold fold;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& [first, last] = spans[pool_of(rows[i])];
    const bool early = rows[i].time < first + (last - first) / 2;
    (early ? fold.train : fold.test).push_back(i);
  }
  return fold;
}

Result<std::vector<Fold>> folds_of(std::span<const PriceRow> rows, std::size_t learned,
                                   const std::string& split) {
  if (split.empty()) return std::vector{train_then_test(learned, rows.size())};
  if (split == kDates) return std::vector{earlier_then_later(rows)};
  std::vector<std::string> keys;
  for (const PriceRow& row : rows) keys.push_back(region_of(row));
  if (std::set(keys.begin(), keys.end()).size() < 2) {
    return bad_input("the training files have one region only, so none is left to learn from");
  }
  return leave_one_out(keys);
}

/// The prices by which a fold knows its pools, by pool and time.
using KnownPrices = std::map<std::string, std::vector<const PriceRow*>>;

KnownPrices known_prices(std::span<const PriceRow> rows, const Fold& fold) {
  KnownPrices known;
  for (const std::size_t i : fold.train) known[pool_of(rows[i])].push_back(&rows[i]);
  KnownPrices firsts;
  for (const std::size_t i : fold.test) {
    const std::string pool = pool_of(rows[i]);
    if (known.count(pool) > 0) continue;
    std::vector<const PriceRow*>& first = firsts[pool];
    if (first.empty()) first.push_back(&rows[i]);
    if (rows[i].time < first.front()->time) first.front() = &rows[i];
  }
  known.merge(firsts);
  for (auto& [pool, prices] : known) {
    std::stable_sort(prices.begin(), prices.end(),
                     [](const PriceRow* a, const PriceRow* b) { return a->time < b->time; });
  }
  return known;
}

/// The last price before `row`; none where it is itself the first that is known.
const PriceRow* last_before(const std::vector<const PriceRow*>& prices, const PriceRow& row) {
  const PriceRow* last = nullptr;
  for (const PriceRow* price : prices) {
    if (price->time < row.time) last = price;
  }
  return last;
}

Result<std::vector<PriceForecast>> forecasts_of(std::span<const PriceRow> rows, const Fold& fold,
                                                double limit) {
  std::vector<PriceRow> train;
  for (const std::size_t i : fold.train) train.push_back(rows[i]);
  const auto fit = fit_price_drift(train, limit);
  if (!fit.ok()) return fit.error();
  const PriceDrift drift{.variance_rate = fit->variance_rate, .limit = limit};
  const KnownPrices known = known_prices(rows, fold);
  std::vector<PriceForecast> forecasts;
  for (const std::size_t i : fold.test) {
    PriceForecast forecast{.row = i, .known = last_before(known.at(pool_of(rows[i])), rows[i])};
    if (forecast.known != nullptr) {
      forecast.deviation = drift.deviation(rows[i].time - forecast.known->time);
    }
    forecasts.push_back(forecast);
  }
  return forecasts;
}

PredictionLine line_of(const PriceForecast& forecast) {
  PredictionLine line{.row = forecast.row};
  if (forecast.known == nullptr) {
    line.note = "no earlier price of its pool is known";
    return line;
  }
  const double price = forecast.known->price.in(kDollar / kHour);
  const double factor = std::exp(normal_quantile(0.9) * forecast.deviation);
  line.predicted = price;
  line.p10 = price / factor;
  line.p90 = price * factor;
  return line;
}

std::string age_band(Seconds age) {
  if (age <= 7 * kDay) return "price up to a week old";
  if (age <= 28 * kDay) return "price one to four weeks old";
  return "price over four weeks old";
}

Validation scored(std::span<const PriceRow> rows, std::span<const PriceForecast> forecasts,
                  const std::string& split) {
  // Errors are relative, so that scores of times hold for prices.
  const auto amount = [](double usd_per_hour) { return usd_per_hour * kSecond; };
  std::vector<Scored> all;
  std::map<std::string, std::vector<Scored>> bands;
  for (const PriceForecast& forecast : forecasts) {
    const PriceRow& row = rows[forecast.row];
    const PredictionLine line = line_of(forecast);
    Scored it{.job = row.type, .measured = amount(row.price.in(kDollar / kHour))};
    if (line.predicted) {
      it.predicted = amount(*line.predicted);
      it.p10 = amount(*line.p10);
      it.p90 = amount(*line.p90);
      bands[age_band(row.time - forecast.known->time)].push_back(it);
    }
    all.push_back(std::move(it));
  }
  Validation validation{.what = "prices", .overall = score(all), .jobs = score_by_job(all)};
  validation.mean_over_jobs = mean_over(validation.jobs);
  for (const auto& [name, its] : bands) validation.groups[name] = score(its);
  if (!split.empty()) validation.split = split;
  validation.notes.emplace_back(
      "The prediction of a price is the last known price of its pool; the interval widens with its "
      "age. Jobs are VM types.");
  return validation;
}

}  // namespace

Result<ValidationReport> validate_prices(const PricesRequest& request) {
  const Status files = check_validation_files(request.train, request.test, request.split);
  if (!files.ok()) return files.error();
  auto rows = rows_of_files<PriceRow>(request.train, read_price_rows);
  if (!rows.ok()) return rows.error();
  const auto test = rows_of_files<PriceRow>(request.test, read_price_rows);
  if (!test.ok()) return test.error();
  const std::size_t learned = rows->size();
  rows->insert(rows->end(), test->begin(), test->end());
  const auto law = read_price_law(shipped_calibration("spot-prices"));
  if (!law.ok()) return law.error();
  const auto folds = folds_of(*rows, learned, request.split);
  if (!folds.ok()) return folds.error();
  std::vector<PriceForecast> forecasts;
  for (const Fold& fold : *folds) {
    // The limit is a prior, not a result of any table.
    const auto some = forecasts_of(*rows, fold, law->spot.limit);
    if (!some.ok()) return some.error();
    forecasts.insert(forecasts.end(), some->begin(), some->end());
  }
  std::sort(forecasts.begin(), forecasts.end(),
            [](const PriceForecast& a, const PriceForecast& b) { return a.row < b.row; });
  ValidationReport report{.validation = scored(*rows, forecasts, request.split)};
  for (const PriceForecast& forecast : forecasts) {
    report.predictions.push_back(line_of(forecast));
    if (request.split.empty()) report.predictions.back().row -= learned;
  }
  return report;
}

}  // namespace stint
