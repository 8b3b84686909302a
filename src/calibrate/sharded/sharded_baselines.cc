#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "calibrate/score.h"
#include "calibrate/sharded/sharded_forecast.h"

namespace stint {
namespace {

double tokens_of(const ShardedCase& it) { return it.row.global_batch * it.row.sequence; }

double seconds_of(const ShardedCase& it) { return it.row.time->in(kSecond); }

double share_of_peak(const ShardedCase& it) {
  return model_flops(it.setup) / (it.row.gpus * it.setup.machines.device.peak) / *it.row.time;
}

Forecast perfect(const CasePointers& train, const ShardedCase& row) {
  const ShardedCase* nearest = nullptr;
  double distance = 0;
  for (const ShardedCase* it : train) {
    if (it->row.job != row.row.job || it->row.table != row.row.table) continue;
    // A larger cluster counts only where there is no smaller one.
    const double ratio = std::log(static_cast<double>(row.row.gpus) / it->row.gpus);
    const double length = std::abs(std::log(row.row.sequence / it->row.sequence));
    const double other =
        it->row.gpu != row.row.gpu || it->row.software != row.row.software ? 10 : 0;
    const double far = (ratio < 0 ? 5 - ratio : ratio) + length + other;
    if (nearest == nullptr || far < distance) {
      nearest = it;
      distance = far;
    }
  }
  if (nearest == nullptr) return {.note = "no training row of the job"};
  const double rate = tokens_of(*nearest) / (seconds_of(*nearest) * nearest->row.gpus);
  return {.time = tokens_of(row) / (rate * row.row.gpus) * kSecond};
}

Forecast utilisation(const CasePointers& train, const ShardedCase& row) {
  std::vector<double> same;
  std::vector<double> all;
  for (const ShardedCase* it : train) {
    const double share = share_of_peak(*it);
    all.push_back(share);
    if (it->row.gpu == row.row.gpu && it->row.fp8 == row.row.fp8) same.push_back(share);
  }
  std::vector<double>& shares = same.empty() ? all : same;
  if (shares.empty()) return {.note = "no training row"};
  std::sort(shares.begin(), shares.end());
  const FlopsPerSecond peak = row.row.gpus * row.setup.machines.device.peak;
  return {.time = model_flops(row.setup) / (quantile(shares, 0.5) * peak)};
}

/// The row with nothing hidden.
ShardedCase exposed(const ShardedCase& it) {
  ShardedCase copy = it;
  copy.setup.overlaps_gradients = false;
  return copy;
}

Result<std::vector<Forecast>> without_overlap(const CasePointers& train, const CasePointers& test,
                                              ShardedPriors priors) {
  constexpr double kHeld = 1e-3;  // A deviation that keeps a constant where it is.
  std::size_t number = 0;
  for (const ShardedConstant& it : sharded_constants()) {
    if (it.member == &ShardedLaw::gather_visible) priors.constants[number] = {0, kHeld};
    ++number;
  }
  std::vector<ShardedCase> copies;
  for (const ShardedCase* it : train) copies.push_back(exposed(*it));
  CasePointers rows;
  for (const ShardedCase& it : copies) rows.push_back(&it);
  const auto model = ShardedStepModel::fit(rows, priors);
  if (!model.ok()) return model.error();
  std::vector<Forecast> forecasts;
  for (const ShardedCase* it : test) {
    forecasts.push_back(
        it->row.unusable.empty()
            ? Forecast{.time = std::exp(model->estimate(exposed(*it)).log_time) * kSecond}
            : Forecast{.note = it->row.unusable});
  }
  return forecasts;
}

}  // namespace

std::span<const EnumName<ShardedBaseline>> names_of(ShardedBaseline /*type*/) {
  static constexpr EnumName<ShardedBaseline> kNames[] = {
      {ShardedBaseline::kPerfect, "perfect"},
      {ShardedBaseline::kUtilisation, "constant-utilisation"},
      {ShardedBaseline::kNoOverlap, "no-overlap"}};
  return kNames;
}

Result<std::vector<Forecast>> sharded_baseline(ShardedBaseline baseline, const CasePointers& train,
                                               const CasePointers& test,
                                               const ShardedPriors& priors) {
  CasePointers measured;
  std::copy_if(train.begin(), train.end(), std::back_inserter(measured),
               [](const ShardedCase* it) { return is_measured(*it); });
  if (baseline == ShardedBaseline::kNoOverlap) return without_overlap(measured, test, priors);
  std::vector<Forecast> forecasts;
  for (const ShardedCase* it : test) {
    if (!it->row.unusable.empty()) {
      forecasts.push_back({.note = it->row.unusable});
    } else if (baseline == ShardedBaseline::kPerfect) {
      forecasts.push_back(perfect(measured, *it));
    } else {
      forecasts.push_back(utilisation(measured, *it));
    }
  }
  return forecasts;
}

}  // namespace stint
