#include "app/run/run_forecast.h"

#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "run/run_fixture.h"

namespace stint {
namespace {

/// As planned to the second: no losses, and steps that take exactly 1 s on both machines.
RunRecord sure_record() {
  RunRecord record = small_record();
  for (RunStepTime& step : record.plan.steps) step.p10 = step.p90 = step.mean;
  return record;
}

// Machines are there after 0.1 s and train 1.8 s later; 20 steps of 1 s; a few saves on the way
// stop training for 30 ms each, the last one needs no order, and scripts end within 0.6 s: 22.7 s.
// Two machines of 0.0001 USD/s from 0.1 s on: 0.0045 USD.
TEST(RunForecast, WithoutLossesIsTheSumOfItsParts) {
  const RunForecast forecast = forecast_of(sure_record());
  EXPECT_NEAR(forecast.time.mean.in(kSecond), 22.7, 0.3);
  EXPECT_NEAR((forecast.time.p90 - forecast.time.p10).in(kSecond), 2.5 * 0.05 * 20, 0.6);
  EXPECT_NEAR(forecast.cost.mean.in(kDollar), 0.00452, 0.0001);
  EXPECT_EQ(forecast.losses, 0);
  EXPECT_FALSE(forecast.p_deadline);
  EXPECT_FALSE(forecast.p_budget);
}

// Steps that may be a tenth faster or slower one time in ten: 20 s of them become 18 to 22, give or
// take a save under way at the end, which is waited for up to 1 s.
TEST(RunForecast, AnIntervalOfStepsBecomesOneOfTheRun) {
  const RunForecast forecast = forecast_of(small_record());
  EXPECT_NEAR((forecast.time.mean - forecast.time.p10).in(kSecond), 2.0, 1.0);
  EXPECT_NEAR((forecast.time.p90 - forecast.time.mean).in(kSecond), 2.0, 1.0);
  const double sure = forecast_of(sure_record()).cost.mean.in(kDollar);
  EXPECT_LT(forecast.cost.p10.in(kDollar), sure);
  EXPECT_GT(forecast.cost.p90.in(kDollar), sure);
}

TEST(RunForecast, MoreLossesMakeItLongerAndDearer) {
  RunRecord record = sure_record();
  RunForecast before = forecast_of(record);
  for (const double stay : {100.0, 25.0, 8.0}) {
    record.expected = SpotSpells{.stay = stay * kSecond};
    const RunForecast forecast = forecast_of(record);
    EXPECT_GT(forecast.losses, before.losses) << stay;
    EXPECT_GT(forecast.time.mean, before.time.mean) << stay;
    EXPECT_GT(forecast.cost.mean, before.cost.mean) << stay;
    before = forecast;
  }
}

TEST(RunForecast, MachinesThatStayAwayMakeItLonger) {
  RunRecord record = sure_record();
  record.expected = SpotSpells{.stay = 25 * kSecond};
  const RunForecast replaced = forecast_of(record);
  record.expected->away = 20 * kSecond;
  const RunForecast missing = forecast_of(record);
  EXPECT_GT(missing.time.mean, replaced.time.mean);
}

TEST(RunForecast, SaysHowSureDeadlineAndBudgetAre) {
  RunRecord record = sure_record();
  record.deadline = 60 * kSecond;
  record.budget = 1 * kDollar;
  RunForecast forecast = forecast_of(record);
  EXPECT_EQ(forecast.p_deadline, 1.0);
  EXPECT_EQ(forecast.p_budget, 1.0);
  record.deadline = 15 * kSecond;  // 20 s of steps.
  forecast = forecast_of(record);
  EXPECT_EQ(forecast.p_deadline, 0.0);
  record.deadline.reset();
  record.budget = 0.002 * kDollar;  // 0.005 are needed.
  forecast = forecast_of(record);
  EXPECT_EQ(forecast.p_budget, 0.0);
}

TEST(RunForecast, IsTheSameEachTime) {
  RunRecord record = small_record();
  record.expected = SpotSpells{.stay = 25 * kSecond, .away = 5 * kSecond};
  EXPECT_EQ(forecast_of(record).cost.mean, forecast_of(record).cost.mean);
}

TEST(RunForecast, InHindsightKnowsTheMarket) {
  RunRecord record = sure_record();
  EXPECT_FALSE(hindsight_of(record));
  record.expected = SpotSpells{.stay = 25 * kSecond, .away = 20 * kSecond};
  record.pool = {{.at = Seconds{}, .spot = 2}};
  const auto lucky = hindsight_of(record);
  ASSERT_TRUE(lucky);
  EXPECT_EQ(lucky->losses, 0);
  EXPECT_NEAR(lucky->time.mean.in(kSecond), 22.7, 0.3);  // As without losses.
  record.pool.push_back({.at = 10 * kSecond, .spot = 1});
  const auto unlucky = hindsight_of(record);
  EXPECT_NEAR(unlucky->losses, 1, 1e-9);
  EXPECT_GT(unlucky->time.mean, lucky->time.mean);
}

class RunOutlookTest : public testing::Test {
 protected:
  RunOutlook after(std::size_t events) {
    std::vector<RunEvent> some = small_events();
    some.resize(events);
    write_small_run(place_.path(), sure_record(), some);
    auto run = replay_run_folder(place_.path());
    EXPECT_TRUE(run.ok());
    so_far_ = so_far_of(*run->supervisor);
    return outlook_of(*run);
  }

  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
  RunSoFar so_far_;
};

// After 7.5 s 3 steps are done on both machines; 17 s and a save of about 1 s are left, and
// the workers that are held already begin within their 3.6 s: between 25.5 and 30 s.
TEST_F(RunOutlookTest, BeginsWhereTheRunStands) {
  const RunOutlook outlook = after(8);
  EXPECT_EQ(so_far_.now, 7.5 * kSecond);
  EXPECT_EQ(so_far_.steps, 3);
  ASSERT_EQ(so_far_.machines.size(), 2U);
  EXPECT_EQ(so_far_.machines[1].slot, 1);
  EXPECT_GE(outlook.time.mean, 25.2 * kSecond);
  EXPECT_LE(outlook.time.mean, 30 * kSecond);
  // Until now 6.5 + 5.5 machine seconds were paid; then two machines.
  EXPECT_NEAR(outlook.cost.mean.in(kDollar), 0.0012 + 0.0002 * (outlook.time.mean.in(kSecond)-7.5),
              0.0001);
}

TEST_F(RunOutlookTest, OfARunThatHasReachedItsLastStepIsNotCalledOff) {
  const RunOutlook outlook = after(small_events().size() - 3);  // Step 20 is done, but not saved.
  EXPECT_EQ(so_far_.steps, 20);
  EXPECT_GE(outlook.time.mean, 34 * kSecond);
  EXPECT_LE(outlook.time.mean, 45 * kSecond);
}

}  // namespace
}  // namespace stint
