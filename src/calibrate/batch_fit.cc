#include "calibrate/batch_fit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "base/check.h"

namespace stint {
namespace {

double share_of(const BatchPair& pair) {
  return std::clamp((pair.time_ratio - pair.batch_ratio) / (1 - pair.batch_ratio), 0.0, 1.0);
}

double predicted(const BatchPair& pair, double share) {
  return share + (1 - share) * pair.batch_ratio;
}

/// Mean and deviation over the pairs of all jobs but one.
FixedShare share_without(std::span<const BatchPair> pairs, const std::string& left_out) {
  std::map<std::string, int> of_job;
  for (const BatchPair& pair : pairs) ++of_job[pair.job];
  of_job.erase(left_out);
  const auto jobs = static_cast<double>(of_job.size());
  double mean = 0;
  double square = 0;
  for (const BatchPair& pair : pairs) {
    if (pair.job == left_out) continue;
    const double weight = 1 / (jobs * of_job.at(pair.job));
    mean += weight * share_of(pair);
    square += weight * share_of(pair) * share_of(pair);
  }
  return {.mean = mean, .deviation = std::sqrt(std::max(0.0, square - mean * mean))};
}

double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<std::size_t>(std::lround(place))];
}

struct LogTimes {
  double sum = 0;
  int count = 0;

  double mean() const { return sum / count; }
};

}  // namespace

std::vector<BatchPair> batch_pairs(std::span<const StepRow> rows) {
  using Setup = std::tuple<std::string, std::string, std::string>;  // Job, series, device.
  std::map<Setup, std::map<double, LogTimes>> times;
  for (const StepRow& row : rows) {
    const bool usable = row.unusable.empty() && row.time && workers(row) == 1;
    if (!usable || row.servers > 0) continue;
    LogTimes& at_batch = times[{row.job, row.series, row.device}][row.batch_per_worker];
    at_batch.sum += std::log((row.times_per_step * *row.time).in(kSecond));
    ++at_batch.count;
  }
  std::vector<BatchPair> pairs;
  for (const auto& [setup, by_batch] : times) {
    const std::pair<const double, LogTimes>* smaller = nullptr;
    for (const auto& batch : by_batch) {
      if (smaller != nullptr) {
        pairs.push_back({.job = std::get<0>(setup),
                         .batch_ratio = smaller->first / batch.first,
                         .time_ratio = std::exp(smaller->second.mean() - batch.second.mean())});
      }
      smaller = &batch;
    }
  }
  return pairs;
}

Result<BatchFit> fit_fixed_share(std::span<const BatchPair> pairs) {
  std::set<std::string> jobs;
  for (const BatchPair& pair : pairs) jobs.insert(pair.job);
  if (jobs.size() < 2) {
    return bad_input(
        "the fixed part of times needs at least two jobs that were measured at two batches");
  }
  BatchFit fit{
      .share = share_without(pairs, ""), .pairs = pairs.size(), .jobs = {jobs.begin(), jobs.end()}};
  std::vector<double> errors;
  for (const std::string& job : jobs) {
    const FixedShare without = share_without(pairs, job);
    for (const BatchPair& pair : pairs) {
      if (pair.job != job) continue;
      errors.push_back(std::abs(predicted(pair, without.mean) / pair.time_ratio - 1));
      fit.error_mean += errors.back() / static_cast<double>(pairs.size());
    }
  }
  std::sort(errors.begin(), errors.end());
  fit.error_median = quantile(errors, 0.5);
  fit.error_p90 = quantile(errors, 0.9);
  return fit;
}

void add_to(Calibration& calibration, const BatchFit& fit) {
  calibration.constants.push_back({.name = "fixed_share",
                                   .scope = "devices",
                                   .value = fit.share.mean,
                                   .unit = "1",
                                   .deviation = fit.share.deviation,
                                   .identified = true});
  // The last record is the one that a calibration is known by.
  calibration.accuracy.insert(calibration.accuracy.begin(), {.name = "pairs of batches",
                                                             .split = "leave-one-job-out",
                                                             .n = static_cast<int>(fit.pairs),
                                                             .mape = fit.error_mean,
                                                             .median_ape = fit.error_median,
                                                             .p90_ape = fit.error_p90});
}

}  // namespace stint
