#include "app/search/move_forecast.h"

#include <gtest/gtest.h>

#include "run/run_fixture.h"

namespace stint {
namespace {

RunPlan plan_with(const std::string& type, int count) {
  RunPlan plan = small_record().plan;
  plan.machines[0].type = type;
  plan.machines[0].count = count;
  plan.machines[0].market = Market::kOnDemand;
  return plan;
}

RunRecord record_with(Bytes state) {
  RunRecord record = small_record();
  record.state = state;
  return record;
}

// Half a step of 1 s, 0.11 s to regroup, 12.5 MB through 100 Mbit/s: 1.61 s. Four machines of 1.08
// USD/h are paid for it, and two of them for the second in which their workers start.
TEST(MoveForecast, WhoIsKeptGivesNewcomersTheState) {
  const RunPlan from = plan_with("local.small", 2);
  const RunPlan to = plan_with("local.small", 4);
  const MoveForecast move = move_forecast(record_with(12.5 * kMB), &from, to);
  EXPECT_NEAR(move.time.mean.in(kSecond), 1.61, 1e-9);
  EXPECT_NEAR(move.cost.mean.in(kDollar), 0.0003 * (4 * 1.61 + 2 * 1.0), 1e-9);
  EXPECT_LT(move.time.p10, move.time.mean);
  EXPECT_GT(move.time.p90, move.time.mean);
}

// Half a step, 0.11 s, and the state for the second worker of each of two machines, which are paid
// for anyway.
TEST(MoveForecast, MoreWorkersOnTheSameMachinesAreNewToo) {
  const RunPlan from = plan_with("local.small", 2);
  RunPlan to = from;
  to.machines[0].workers = 2;
  const MoveForecast move = move_forecast(record_with(12.5 * kMB), &from, to);
  EXPECT_NEAR(move.time.mean.in(kSecond), 1.61, 1e-9);
  EXPECT_NEAR(move.cost.mean.in(kDollar), 0.0003 * 2 * 1.61, 1e-9);
}

TEST(MoveForecast, FewerMachinesOnlyRegroup) {
  const RunPlan from = plan_with("local.small", 2);
  const RunPlan to = plan_with("local.small", 1);
  const MoveForecast move = move_forecast(record_with(12.5 * kMB), &from, to);
  EXPECT_NEAR(move.time.mean.in(kSecond), 0.61, 1e-9);
}

// Half a step, 30 MB to the disk and back at 300 MB/s, 1 s until workers are there: 1.7 s, in
// which both clusters are paid for.
TEST(MoveForecast, OtherMachinesReadWhatWasSaved) {
  const RunPlan from = plan_with("local.small", 2);
  const RunPlan to = plan_with("local.fast", 1);
  const MoveForecast move = move_forecast(record_with(30 * kMB), &from, to);
  EXPECT_NEAR(move.time.mean.in(kSecond), 1.7, 1e-9);
  EXPECT_NEAR(move.cost.mean.in(kDollar), 0.0003 * 3 * 1.7, 1e-9);
  EXPECT_NEAR(move_forecast(record_with(30 * kMB), nullptr, to).time.mean.in(kSecond), 1.2, 1e-9);
}

}  // namespace
}  // namespace stint
