#include "app/risk/run_summary.h"

#include <cmath>
#include <gtest/gtest.h>

namespace stint {
namespace {

// The median of 1, …, 5 is 3, a tenth of the way from 1 to 5 is 1.4, the mean's standard error is
// √2/√5.
TEST(RunSummary, TellsMeanAndQuantiles) {
  std::vector<RunOutcome> outcomes;
  for (int i = 1; i <= 5; ++i) {
    outcomes.push_back(
        {.time = i * kSecond, .finished = i != 2, .losses = i, .machines_lost = 2 * i});
    outcomes.back().bill.idle = i * kDollar;
  }
  const RunSummary summary = summary_of(outcomes, 3 * kSecond, 4 * kDollar);
  EXPECT_EQ(summary.runs, 5);
  EXPECT_DOUBLE_EQ(summary.time.p50.in(kSecond), 3);
  EXPECT_DOUBLE_EQ(summary.time.p10.in(kSecond), 1.4);
  EXPECT_DOUBLE_EQ(summary.cost.p90.in(kDollar), 4.6);
  EXPECT_DOUBLE_EQ(summary.time.standard_error.in(kSecond), std::sqrt(0.4));
  EXPECT_DOUBLE_EQ(summary.bill.idle.in(kDollar), 3);
  EXPECT_DOUBLE_EQ(summary.losses, 3);
  EXPECT_DOUBLE_EQ(summary.machines_lost, 6);
  EXPECT_NEAR(summary.finished, 0.8, 1e-12);
  EXPECT_NEAR(*summary.p_deadline, 0.4, 1e-12);  // The second was not finished.
  EXPECT_NEAR(*summary.p_budget, 0.6, 1e-12);
  EXPECT_FALSE(summary_of(outcomes, {}, {}).p_deadline);
}

}  // namespace
}  // namespace stint
