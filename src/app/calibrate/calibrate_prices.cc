#include "app/calibrate/calibrate_prices.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/date.h"
#include "base/file.h"
#include "load/job_files.h"
#include "risk/price_drift.h"

namespace stint {
namespace {

/// "… (108 pools, 2019-12-22 to 2020-03-23)".
std::string rows_text(const CalibrateRequest& request, const PriceFit& fit,
                      const std::vector<PriceRow>& rows) {
  const auto [first, last] =
      std::minmax_element(rows.begin(), rows.end(),
                          [](const PriceRow& a, const PriceRow& b) { return a.time < b.time; });
  return fmt::format("{} ({} pools, {} to {}; changes over up to {:.0f} days)",
                     stated_provenance(request), fit.pools, to_text(date_at(first->time)),
                     to_text(date_at(last->time)), fit.age_max.in(kDay));
}

}  // namespace

Result<Calibration> calibrate_prices(const Environment& environment,
                                     const CalibrateRequest& request) {
  const Status fine = check_calibration(request);
  if (!fine.ok()) return fine.error();
  std::vector<PriceRow> rows;
  for (const std::string& file : request.train) {
    const auto text = read_file(file);
    if (!text.ok()) return text.error();
    const auto some = read_price_rows(*text, file);
    if (!some.ok()) return some.error();
    rows.insert(rows.end(), some->begin(), some->end());
  }
  Calibration calibration = shipped_calibration("spot-prices");
  const auto priors = read_price_law(calibration);
  if (!priors.ok()) return priors.error();
  const auto fit = fit_price_drift(rows, priors->spot.limit);
  if (!fit.ok()) return fit.error();
  calibration.name = request.name;
  calibration.date = date_at(environment.clock->now());
  set_price_fit(*fit, rows_text(request, *fit, rows), calibration);
  const Status kept = keep_calibration(calibration, request);
  if (!kept.ok()) return kept.error();
  return calibration;
}

}  // namespace stint
