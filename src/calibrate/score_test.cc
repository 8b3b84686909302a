#include "calibrate/score.h"

#include <gtest/gtest.h>
#include <vector>

namespace stint {
namespace {

Scored row(const char* job, double predicted, double measured) {
  return {.job = job, .predicted = predicted * kSecond, .measured = measured * kSecond};
}

Scored row(const char* job, double measured, double p10, double p90) {
  return {.job = job,
          .predicted = measured * kSecond,
          .measured = measured * kSecond,
          .p10 = p10 * kSecond,
          .p90 = p90 * kSecond};
}

// Position 0.5 · 3 = 1.5 lies between 2 and 4.
TEST(Quantile, LiesBetweenItsNeighbours) {
  const std::vector<double> sorted{1, 2, 4, 8};
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.5), 3);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(sorted, 1), 8);
}

// Errors 0.1, 0.2, 0.6: mean 0.3, median 0.2; the 0.9 quantile lies at position 1.8 of 0 … 2:
// 0.2 + 0.8 · 0.4 = 0.52.
TEST(Score, MatchesHandComputedErrors) {
  const std::vector<Scored> rows = {row("a", 1.1, 1), row("a", 1.6, 2), row("a", 16, 10)};
  const Score it = score(rows);
  EXPECT_EQ(it.n, 3);
  EXPECT_NEAR(it.mape, 0.3, 1e-12);
  EXPECT_NEAR(it.median_ape, 0.2, 1e-12);
  EXPECT_NEAR(it.p90_ape, 0.52, 1e-12);
  EXPECT_FALSE(it.coverage80.has_value());
  EXPECT_FALSE(it.interval_score.has_value());
}

// Measured 2 in [1, 3]: 2/2 = 1. Measured 2 in [3, 4]: (1 + 10 · 1)/2 = 5.5. Measured 4 in [1, 3]:
// (2 + 10 · 1)/4 = 3. Mean 9.5/3; one of three is inside.
TEST(Score, JudgesIntervalsByWidthAndMisses) {
  const std::vector<Scored> rows = {row("a", 2, 1, 3), row("a", 2, 3, 4), row("a", 4, 1, 3)};
  const Score it = score(rows);
  EXPECT_NEAR(*it.coverage80, 1.0 / 3, 1e-12);
  EXPECT_NEAR(*it.interval_score, 9.5 / 3, 1e-12);
}

TEST(Score, CountsRowsWithoutPredictionAsSkipped) {
  const std::vector<Scored> rows = {row("a", 1.5, 1), {.job = "a", .measured = 1 * kSecond}};
  EXPECT_EQ(score(rows).n, 1);
  EXPECT_EQ(score(rows).skipped, 1);
  EXPECT_NEAR(score(rows).mape, 0.5, 1e-12);
  EXPECT_EQ(score({}).n, 0);
}

TEST(Score, CountsRowsWithoutMeasurementAsSkipped) {
  const std::vector<Scored> rows = {row("a", 1.5, 1), {.job = "a", .predicted = 1 * kSecond}};
  EXPECT_EQ(score(rows).n, 1);
  EXPECT_EQ(score(rows).skipped, 1);
  EXPECT_NEAR(score(rows).mape, 0.5, 1e-12);
}

// Job a: errors 0.1 and 0.3, mean 0.2. Job b: 0.6. Mean over jobs 0.4 though the rows' mean is 1/3.
// Job c was skipped and has no say. Only b has an interval.
// One interval holds its measurement, one reaches past where a row was given up, one does not.
TEST(Score, RowsThatWereGivenUpCountInTheCoverage) {
  const auto row = [](std::optional<Seconds> measured, std::optional<Seconds> longer_than) {
    return Scored{.job = "a",
                  .predicted = 10 * kSecond,
                  .measured = measured,
                  .p10 = 8 * kSecond,
                  .p90 = 12 * kSecond,
                  .longer_than = longer_than};
  };
  const std::vector<Scored> rows = {row(10 * kSecond, {}), row({}, 11 * kSecond),
                                    row({}, 13 * kSecond)};
  const Score score = stint::score(rows);
  EXPECT_EQ(score.n, 1);
  EXPECT_EQ(score.skipped, 2);
  EXPECT_NEAR(*score.coverage80, 2.0 / 3, 1e-12);
}

TEST(Score, WeighsJobsAlike) {
  std::vector<Scored> rows = {row("a", 1.1, 1), row("a", 1.3, 1), row("b", 1.6, 1)};
  rows[2].p10 = 0.5 * kSecond;
  rows[2].p90 = 2 * kSecond;
  rows.push_back({.job = "c", .measured = 1 * kSecond});
  const auto jobs = score_by_job(rows);
  ASSERT_EQ(jobs.size(), 3U);
  const Score mean = mean_over(jobs);
  EXPECT_EQ(mean.n, 3);
  EXPECT_EQ(mean.skipped, 1);
  EXPECT_NEAR(mean.mape, 0.4, 1e-12);
  EXPECT_NEAR(*mean.coverage80, 1, 1e-12);
  EXPECT_NEAR(*mean.interval_score, 1.5, 1e-12);
  EXPECT_EQ(mean_over({}).n, 0);
}

}  // namespace
}  // namespace stint
