#pragma once

#include <span>
#include <string>

#include "base/date.h"
#include "base/result.h"
#include "base/units.h"
#include "catalog/market.h"
#include "measure/tables/price_table.h"
#include "plan/calibration.h"
#include "risk/hazard.h"

namespace stint {

/// How far a price may have moved since it was read: the logarithm of today's price over the known
/// one is normal around zero with the variance
///
///   σ²(age) = L² (1 − exp(−v age / L²)),
///
/// that of a random walk (v age) which forgets where it began: after many years σ is L.
struct PriceDrift {
  PerSecond variance_rate;  // v: of the logarithm.
  double limit = 0;         // L; zero: the price does not move.

  /// σ of a price of this age; a price of the future counts as one of now.
  double deviation(Seconds age) const;
};

/// What is believed of the prices of both markets.
struct PriceLaw {
  PriceDrift spot;
  PriceDrift on_demand;

  const PriceDrift& of(Market market) const { return market == Market::kSpot ? spot : on_demand; }
};

/// The law and the day that prices are needed for.
struct PriceOutlook {
  PriceLaw law;
  Date today;

  double deviation(Market market, const Date& date) const;
};

/// The 80 % interval of a fit is matched at these ages; more rows than this are needed at each.
inline constexpr double kPriceAgesDays[] = {1, 2, 3, 5, 7, 10, 14, 21, 28, 42, 56};
inline constexpr int kPriceRowsMin = 30;

/// What a table of dated prices says.
struct PriceFit {
  PerSecond variance_rate;
  double log_deviation = 0;  // Of ln v, by leaving out one region at a time.
  Seconds age_max;           // The greatest age that the rows cover.
  int rows = 0;
  int pools = 0;
};

/// Fits v, given L. For each age, every row is compared with the price of its pool that long
/// before; the deviation at that age is that of a normal distribution with the same 80 % interval,
/// and ln v is the mean over the ages, weighted by rows. Quantiles rather than squares, because
/// most prices stand still for weeks and a few jump: squares would follow the jumps. Bad input: too
/// few rows, or prices that never move.
Result<PriceFit> fit_price_drift(std::span<const PriceRow> rows, double limit);

/// The law in a calibration. Bad input: a constant that is missing, in another unit or not above
/// zero.
Result<PriceLaw> read_price_law(const Calibration& calibration);

/// Puts the fit into a calibration of prices: its constant, and the rows in place of those that
/// were fitted before. What is believed of years and of on-demand prices stays as it is.
void set_price_fit(const PriceFit& fit, const std::string& provenance, Calibration& calibration);

}  // namespace stint
