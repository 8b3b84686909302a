#include "calibrate/late_quantile.h"

#include <cmath>
#include <gtest/gtest.h>
#include <string>
#include <utility>

#include "calibrate/priors_fixture.h"

namespace stint {
namespace {

FitContext context() { return {.facts = {}, .priors = bundled_priors()}; }

/// 70 ms alone; each VM beyond the first adds `exchange` milliseconds.
std::vector<StepRow> rows_of(const std::string& job, double exchange) {
  std::vector<StepRow> rows;
  for (const std::vector<int>& by_vm :
       std::vector<std::vector<int>>{{1}, {1, 1}, {2, 2}, {1, 1, 1}}) {
    const double vms = static_cast<double>(by_vm.size());
    rows.push_back({.job = job,
                    .device = "T4",
                    .workers_by_vm = by_vm,
                    .batch_per_worker = 16,
                    .time = (70 + exchange * (vms - 1)) * kMillisecond,
                    .gradient_bytes = 100 * kMB});
  }
  return rows;
}

std::vector<StepRow> both(std::vector<StepRow> rows, const std::vector<StepRow>& others) {
  rows.insert(rows.end(), others.begin(), others.end());
  return rows;
}

// From tables of the normal distribution.
// Half of 4 + 1 is 2.5, so the third of four; 95 % of five is 4.75, past the greatest of four.
TEST(ConformalQuantile, CountsTheNextValueToo) {
  EXPECT_DOUBLE_EQ(conformal_quantile({4, 1, 3, 2}, 0.5), 3);
  EXPECT_DOUBLE_EQ(conformal_quantile({4, 1, 3, 2}, 0.95), 4);
  EXPECT_DOUBLE_EQ(conformal_quantile({4, 1, 3, 2}, 0.01), 1);
}

// e^{±1.2816 · 0.1} times a second.
TEST(DeviationOf, IsThatOfTheInterval) {
  const Forecast forecast{.time = 1 * kSecond,
                          .p10 = std::exp(-0.12816) * kSecond,
                          .p90 = std::exp(0.12816) * kSecond,
                          .note = {}};
  EXPECT_NEAR(deviation_of(forecast), 0.1, 1e-4);
}

TEST(UnseenQuantile, IsTheNormalOneWithoutTwoJobs) {
  const auto one = unseen_quantile(rows_of("a", 60), context(), 0.95);
  ASSERT_TRUE(one.ok()) << one.error().message;
  EXPECT_NEAR(*one, 1.644854, 1e-6);
}

// Jobs that are alike predict each other far better than the spread of jobs lets expect; of two
// that are not, the slower one comes out late by more.
TEST(UnseenQuantile, IsSmallWhereJobsAreAlike) {
  const auto alike = unseen_quantile(both(rows_of("a", 60), rows_of("b", 60)), context(), 0.95);
  ASSERT_TRUE(alike.ok()) << alike.error().message;
  EXPECT_LT(*alike, 1);
  const auto apart = unseen_quantile(both(rows_of("a", 60), rows_of("b", 240)), context(), 0.95);
  ASSERT_TRUE(apart.ok()) << apart.error().message;
  EXPECT_GT(*apart, *alike + 0.5);
}

}  // namespace
}  // namespace stint
