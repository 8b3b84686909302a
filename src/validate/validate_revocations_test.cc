#include "validate/validate_revocations.h"

#include <gtest/gtest.h>
#include <memory>

#include "load/example_job_fixture.h"

namespace stint {
namespace {

Environment bare() { return {.clock = std::make_shared<FixedClock>(20772 * kDay)}; }

TEST(ValidateRevocations, ComparesAllWaysToChooseUnderLimitsOfItsOwn) {
  const auto report = validate_revocations(bare(), {.job = kExampleJob, .options = {.runs = 20}});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->goal.deadline, kRevocationsDeadline);
  EXPECT_EQ(report->goal.rate_max, kRevocationsRate);
  EXPECT_FALSE(report->goal.budget);
  ASSERT_EQ(report->rows.size(), 4U);
  for (const RevocationsRow& row : report->rows) {
    EXPECT_FALSE(row.binding) << row.policy;
    EXPECT_EQ(row.runs.runs, 20);
    EXPECT_TRUE(row.runs.p_deadline);
    EXPECT_GT(row.runs.cost.mean, Dollars());
  }
  EXPECT_EQ(report->rows[1].policy, "stint-on-demand");
  EXPECT_EQ(report->rows[1].plan.market, PlanMarket::kOnDemand);
  EXPECT_EQ(report->rows[1].runs.losses, 0);
  const auto mean = [&](std::size_t row) { return report->rows[row].runs.cost.mean; };
  EXPECT_DOUBLE_EQ(report->deepvm_over_stint, mean(2) / mean(0));
}

TEST(ValidateRevocations, TheSameSeedGivesTheSameRuns) {
  const RevocationsRequest request{.job = kExampleJob,
                                   .constraints = {.budget = 400 * kDollar, .vms_max = 2},
                                   .options = {.runs = 5, .seed = 7}};
  const auto one = validate_revocations(bare(), request);
  const auto other = validate_revocations(bare(), request);
  ASSERT_TRUE(one.ok()) << one.error().message;
  EXPECT_EQ(one->goal.budget, 400 * kDollar);
  EXPECT_FALSE(one->goal.deadline);
  for (std::size_t i = 0; i < one->rows.size(); ++i) {
    EXPECT_EQ(one->rows[i].runs.cost.mean, other->rows[i].runs.cost.mean);
    EXPECT_TRUE(one->rows[i].runs.p_budget);
  }
}

TEST(ValidateRevocations, LimitsThatCannotBeKeptAreSaid) {
  const auto report =
      validate_revocations(bare(), {.job = kExampleJob,
                                    .constraints = {.deadline = 1 * kMinute, .vms_max = 2},
                                    .options = {.runs = 2}});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_TRUE(report->rows[0].binding);
  EXPECT_EQ(report->rows[0].runs.p_deadline, 0);
  EXPECT_FALSE(validate_revocations(bare(), {.job = "no-such-job"}).ok());
  EXPECT_FALSE(
      validate_revocations(bare(), {.job = kExampleJob, .constraints = {.deadline = -1 * kHour}})
          .ok());
}

}  // namespace
}  // namespace stint
