#include "calibrate/late_quantile.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "base/check.h"
#include "base/normal.h"
#include "calibrate/split.h"
#include "predict/law.h"

namespace stint {

double conformal_quantile(std::vector<double> values, double share) {
  CHECK(!values.empty());
  std::sort(values.begin(), values.end());
  const double place = std::ceil(share * static_cast<double>(values.size() + 1));
  const auto number = static_cast<std::size_t>(std::max(1.0, place));
  return values[std::min(number, values.size()) - 1];
}

double deviation_of(const Forecast& forecast) {
  CHECK(forecast.p10.has_value());
  CHECK(forecast.p90.has_value());
  return std::log(*forecast.p90 / *forecast.p10) / (2 * kEightInTen);
}

Result<double> unseen_quantile(std::span<const StepRow> train, const FitContext& context,
                               double confidence) {
  std::map<std::string, std::vector<double>> by_job;
  for (const Fold& fold : folds(Split{}, train, TestRows::kSeveralVms)) {
    std::vector<StepRow> known;
    std::vector<StepRow> left_out;
    for (const std::size_t i : fold.train) known.push_back(train[i]);
    for (const std::size_t i : fold.test) left_out.push_back(train[i]);
    const auto forecasts = forecast(known, left_out, context);
    if (!forecasts.ok()) return forecasts.error();
    for (std::size_t i = 0; i < left_out.size(); ++i) {
      const Forecast& it = (*forecasts)[i];
      if (!it.time || !left_out[i].time) continue;
      by_job[left_out[i].job].push_back(std::log(*left_out[i].time / *it.time) / deviation_of(it));
    }
  }
  if (by_job.size() < 2) return normal_quantile(confidence);
  std::vector<double> of_jobs;
  for (auto& [job, of_rows] : by_job) {
    of_jobs.push_back(conformal_quantile(std::move(of_rows), confidence));
  }
  return conformal_quantile(std::move(of_jobs), confidence);
}

}  // namespace stint
