#include "calibrate/score.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"

namespace stint {
namespace {

constexpr double kOutside = 0.2;  // The share that an interval from p10 to p90 leaves outside.

/// A mean that is absent without values.
struct Mean {
  double sum = 0;
  int n = 0;

  void add(double value) {
    sum += value;
    ++n;
  }
  void add(std::optional<double> value) {
    if (value) add(*value);
  }
  std::optional<double> value() const { return n > 0 ? std::optional(sum / n) : std::nullopt; }
};

double interval_score(double low, double high, double measured) {
  const double missed = std::max(low - measured, 0.0) + std::max(measured - high, 0.0);
  return ((high - low) + 2 / kOutside * missed) / measured;
}

}  // namespace

double quantile(std::span<const double> sorted, double share) {
  CHECK(!sorted.empty());
  const double position = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - std::floor(position));
}

Score score(std::span<const Scored> rows) {
  Score score;
  std::vector<double> errors;
  Mean error;
  Mean covered;
  Mean interval;
  for (const Scored& row : rows) {
    CHECK(row.p10.has_value() == row.p90.has_value());
    if (!row.predicted || !row.measured) {
      ++score.skipped;
      if (row.p90 && row.longer_than) covered.add(*row.p90 >= *row.longer_than ? 1.0 : 0.0);
      continue;
    }
    const Seconds measured = *row.measured;
    CHECK(measured > Seconds{});
    errors.push_back(std::abs((*row.predicted - measured) / measured));
    error.add(errors.back());
    if (!row.p10) continue;
    covered.add(*row.p10 <= measured && measured <= *row.p90 ? 1.0 : 0.0);
    interval.add(interval_score(row.p10->in(kSecond), row.p90->in(kSecond), measured.in(kSecond)));
  }
  score.n = error.n;
  score.coverage80 = covered.value();
  if (errors.empty()) return score;
  std::sort(errors.begin(), errors.end());
  score.mape = *error.value();
  score.median_ape = quantile(errors, 0.5);
  score.p90_ape = quantile(errors, 0.9);
  score.interval_score = interval.value();
  return score;
}

std::map<std::string, Score> score_by_job(std::span<const Scored> rows) {
  std::map<std::string, std::vector<Scored>> by_job;
  for (const Scored& row : rows) by_job[row.job].push_back(row);
  std::map<std::string, Score> scores;
  for (const auto& [job, its_rows] : by_job) scores[job] = score(its_rows);
  return scores;
}

Score mean_over(const std::map<std::string, Score>& jobs) {
  Score mean;
  Mean mape;
  Mean median_ape;
  Mean p90_ape;
  Mean coverage80;
  Mean interval;
  for (const auto& [name, job] : jobs) {
    mean.n += job.n;
    mean.skipped += job.skipped;
    if (job.n == 0) continue;
    mape.add(job.mape);
    median_ape.add(job.median_ape);
    p90_ape.add(job.p90_ape);
    coverage80.add(job.coverage80);
    interval.add(job.interval_score);
  }
  mean.mape = mape.value().value_or(0);
  mean.median_ape = median_ape.value().value_or(0);
  mean.p90_ape = p90_ape.value().value_or(0);
  mean.coverage80 = coverage80.value();
  mean.interval_score = interval.value();
  return mean;
}

}  // namespace stint
