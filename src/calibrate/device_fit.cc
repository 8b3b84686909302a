#include "calibrate/device_fit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "base/check.h"
#include "catalog/gpu_spelling.h"
#include "predict/calibrated_law.h"
#include "solver/least_squares.h"

namespace stint {
namespace {

// Deviation of ln r from the law: only sets the scale of the prior.
constexpr double kPairDeviation = 0.3;
// Deviation of the logit: shares from 2 to 98 % are all plausible.
constexpr double kPriorDeviation = 2.0;
constexpr double kTail = 2;  // Deviations beyond which the loss of a pair is linear.

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

double log_error(const DevicePair& pair, double share) {
  const auto ratio = device_ratio(*pair.from, *pair.to, share);
  CHECK(ratio.ok());
  return std::log(*ratio / pair.ratio);
}

Result<Fitted> fit_share(std::span<const DevicePair> pairs, const std::string& left_out) {
  std::map<std::string, int> of_job;
  for (const DevicePair& pair : pairs) ++of_job[pair.job];
  std::vector<const DevicePair*> kept;
  for (const DevicePair& pair : pairs) {
    if (pair.job != left_out) kept.push_back(&pair);
  }
  LeastSquares problem{.unknowns = {Unknown{.prior_mean = 0, .prior_deviation = kPriorDeviation}},
                       .rows = kept.size(),
                       .residuals =
                           [&](std::span<const double> x, std::span<double> residuals) {
                             for (std::size_t i = 0; i < kept.size(); ++i) {
                               const double weight = 1.0 / of_job.at(kept[i]->job);
                               const double error = log_error(*kept[i], logistic(x[0]));
                               residuals[i] = std::sqrt(weight) * error / kPairDeviation;
                             }
                           },
                       .robust_beyond = kTail};
  return fit(problem);
}

double quantile(std::vector<double> values, double share) {
  CHECK(!values.empty());
  std::sort(values.begin(), values.end());
  const double place = share * static_cast<double>(values.size() - 1);
  return values[static_cast<std::size_t>(std::lround(place))];
}

/// Logarithms of times on one device.
struct LogTimes {
  double sum = 0;
  int count = 0;

  double mean() const { return sum / count; }
};

}  // namespace

const Gpu* gpu_of_row(const Catalog& catalog, const StepRow& row) {
  if (row.device.empty()) return nullptr;
  const Gpu* gpu = find_gpu(catalog, row.device);
  return gpu != nullptr ? gpu : find_spelled_gpu(catalog, row.device);
}

std::vector<DevicePair> device_pairs(std::span<const StepRow> rows, const Catalog& catalog) {
  using Setup = std::tuple<std::string, std::string, double>;  // Job, series, batch.
  std::map<Setup, std::map<const Gpu*, LogTimes>> times;
  for (const StepRow& row : rows) {
    const bool usable = row.unusable.empty() && row.time && workers(row) == 1;
    const Gpu* gpu = usable ? gpu_of_row(catalog, row) : nullptr;
    if (gpu == nullptr || !gpu->fp32 || !gpu->memory_bandwidth) continue;
    LogTimes& on_gpu = times[{row.job, row.series, row.batch_per_worker}][gpu];
    on_gpu.sum += std::log((row.times_per_step * *row.time).in(kSecond));
    ++on_gpu.count;
  }
  std::vector<DevicePair> pairs;
  for (const auto& [setup, by_gpu] : times) {
    for (const Gpu& from : catalog.gpus) {  // In the catalogue's order, not that of addresses.
      for (const Gpu& to : catalog.gpus) {
        const auto first = by_gpu.find(&from);
        const auto second = by_gpu.find(&to);
        if (&from == &to || first == by_gpu.end() || second == by_gpu.end()) continue;
        pairs.push_back({.job = std::get<0>(setup),
                         .from = &from,
                         .to = &to,
                         .ratio = std::exp(second->second.mean() - first->second.mean())});
      }
    }
  }
  return pairs;
}

Result<DeviceFit> fit_devices(std::span<const DevicePair> pairs) {
  std::set<std::string> jobs;
  for (const DevicePair& pair : pairs) jobs.insert(pair.job);
  if (jobs.size() < 2) {
    return bad_input(
        "scaling between devices needs at least two jobs that were measured on two devices");
  }
  const auto all = fit_share(pairs, "");
  if (!all.ok()) return all.error();
  DeviceFit result;  // Member by member: g++ 12 takes nested initialisers for uninitialised.
  result.law.compute_share = logistic(all->values[0]);
  result.share_deviation = std::sqrt(all->covariance[0][0]);
  result.identified = all->identified[0];
  result.pairs = pairs.size();
  result.jobs.assign(jobs.begin(), jobs.end());
  std::vector<double> errors;
  std::vector<double> log_errors;
  for (const std::string& job : jobs) {
    const auto without = fit_share(pairs, job);
    if (!without.ok()) return without.error();
    for (const DevicePair& pair : pairs) {
      if (pair.job != job) continue;
      const double error = log_error(pair, logistic(without->values[0]));
      errors.push_back(std::abs(std::exp(error) - 1));
      result.error_mean += errors.back();
      log_errors.push_back(std::abs(error));
    }
  }
  result.law.spread = quantile(log_errors, 0.8) / kEightInTen;
  result.error_mean /= static_cast<double>(errors.size());
  result.error_median = quantile(errors, 0.5);
  result.error_p90 = quantile(errors, 0.9);
  return result;
}

Calibration to_calibration(const DeviceFit& fit, const std::string& name) {
  const double share = fit.law.compute_share;
  Calibration calibration{.name = name};
  calibration.constants = {{.name = "compute_share",
                            .scope = "devices",
                            .value = share,
                            .unit = "1",
                            // A logit's deviation times the slope of the logistic function.
                            .deviation = fit.share_deviation * share * (1 - share),
                            .prior_mean = 0.5,
                            .prior_deviation = kPriorDeviation / 4,
                            .identified = fit.identified},
                           {.name = "device_spread",
                            .scope = "devices",
                            .value = fit.law.spread,
                            .unit = "ln(1)",
                            .identified = false}};
  calibration.accuracy = {{.name = "pairs of devices",
                           .split = "leave-one-job-out",
                           .n = static_cast<int>(fit.pairs),
                           .mape = fit.error_mean,
                           .median_ape = fit.error_median,
                           .p90_ape = fit.error_p90}};
  return calibration;
}

}  // namespace stint
