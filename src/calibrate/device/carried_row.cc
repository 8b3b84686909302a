#include "calibrate/device/carried_row.h"

#include <cmath>
#include <limits>
#include <tuple>

#include "base/check.h"

namespace stint {
namespace {

/// How much longer a sample takes on `to` than on `from`, as a logarithm.
double log_ratio(const CarriedRow& from, const CarriedRow& to, CarriedBy by) {
  switch (by) {
    case CarriedBy::kNothing:
      return 0;
    case CarriedBy::kPeak:
      return std::log(from.peak / to.peak);
    case CarriedBy::kBandwidth:
      return std::log(from.bandwidth / to.bandwidth);
  }
  CHECK(false);
}

/// First the accelerator, then the batch, then the power.
std::tuple<double, double, double> distance(const CarriedRow& from, const CarriedRow& to,
                                            CarriedBy by) {
  const CarriedBy figure = by == CarriedBy::kNothing ? CarriedBy::kPeak : by;
  return {std::abs(log_ratio(from, to, figure)), std::abs(std::log(from.batch / to.batch)),
          std::abs(from.power - to.power)};
}

}  // namespace

CarriedBy carried_by(std::string_view baseline) {
  if (baseline == "same-time") return CarriedBy::kNothing;
  if (baseline == "peak-flops") return CarriedBy::kPeak;
  CHECK(baseline == "bandwidth");
  return CarriedBy::kBandwidth;
}

std::vector<std::string> carried_baselines() { return {"peak-flops", "bandwidth", "same-time"}; }

std::optional<double> carried_log_time(std::span<const CarriedRow> known, const CarriedRow& row,
                                       CarriedBy by) {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  std::tuple nearest{kFar, kFar, kFar};
  double sum = 0;
  int count = 0;
  for (const CarriedRow& it : known) {
    if (it.job != row.job) continue;
    const auto its = distance(it, row, by);
    if (its > nearest) continue;
    if (its < nearest) {
      nearest = its;
      sum = 0;
      count = 0;
    }
    sum += it.log_time + log_ratio(it, row, by);
    ++count;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

}  // namespace stint
