#include "optimise/nearest.h"

#include <cmath>
#include <gtest/gtest.h>

#include "optimise/search_fixture.h"

namespace stint {
namespace {

const FixedClock kClock{Seconds{}};

/// A question whose limits are kept on average or not.
struct NearestFixture : PolicyFixture {
  NearestFixture() { constraints().confidence = 0.5; }

  Constraints& constraints() { return question.constraints; }

  NearestPlan nearest() const {
    const auto plan = nearest_plan(question, kClock);
    EXPECT_TRUE(plan.ok()) << plan.error().message;
    return plan.ok() ? *plan : NearestPlan{};
  }
};

// With a deviation of 0.1, 10 h are at most 10 · e^(1.6449 · 0.1) = 11.788 h and 20 USD are 23.576
// USD at 95 %. From tables, Φ(ln 1.1 / 0.1) = Φ(0.953) = 0.830 and Φ(ln 1.2 / 0.1) = Φ(1.823) =
// 0.966.
TEST(StateMisses, IsAboutTheLimitsAtTheConfidence) {
  NearestPlan nearest;
  nearest.plan.time = {
      .mean = 10 * kHour, .p10 = 9.9 * kHour, .p90 = std::exp(0.128155) * 10 * kHour};
  nearest.plan.cost = {
      .mean = 20 * kDollar, .p10 = 19 * kDollar, .p90 = std::exp(0.128155) * 20 * kDollar};
  state_misses({.deadline = 11 * kHour, .budget = 24 * kDollar, .confidence = 0.95}, nearest);
  EXPECT_NEAR(nearest.late->in(kHour), 0.788, 1e-3);
  EXPECT_NEAR(*nearest.plan.p_deadline, 0.830, 1e-3);
  EXPECT_FALSE(nearest.dearer);
  EXPECT_NEAR(*nearest.plan.p_budget, 0.966, 1e-3);
}

// A cost of deviation 0.2 is at most 20 · e^(1.6449 · 0.2) = 27.790 USD, and 24 USD are enough with
// Φ(0.912) = 0.819, however sure the time is.
TEST(StateMisses, ACostMayBeLessSureThanTheTime) {
  NearestPlan nearest;
  nearest.plan.time = {.mean = 10 * kHour, .p10 = 10 * kHour, .p90 = 10 * kHour};
  nearest.plan.cost = {
      .mean = 20 * kDollar, .p10 = 17 * kDollar, .p90 = std::exp(0.25631) * 20 * kDollar};
  state_misses({.budget = 24 * kDollar, .confidence = 0.95}, nearest);
  EXPECT_NEAR(nearest.dearer->in(kDollar), 3.790, 1e-3);
  EXPECT_NEAR(*nearest.plan.p_budget, 0.819, 1e-3);
}

TEST(StateMisses, SaysNothingOfLimitsThatNobodySet) {
  NearestPlan nearest;
  nearest.plan.time = {.mean = 10 * kHour, .p10 = 9 * kHour, .p90 = 11 * kHour};
  state_misses({}, nearest);
  EXPECT_FALSE(nearest.late);
  EXPECT_FALSE(nearest.dearer);
  EXPECT_FALSE(nearest.plan.p_deadline);
  EXPECT_FALSE(nearest.plan.p_budget);
}

// The cheapest is one slow.1 on spot: 1.94 h at 0.4 USD/h, 0.776 USD.
TEST(NearestPlan, IsTheCheapestWhereTheBudgetBinds) {
  NearestFixture fixture;
  fixture.constraints().budget = 0.5 * kDollar;
  const NearestPlan nearest = fixture.nearest();
  EXPECT_EQ(nearest.binding, "The budget of 0.50 USD cannot be met with 50 % probability.");
  EXPECT_EQ(to_text(nearest.plan.cluster), "1x slow.1:spot");
  EXPECT_NEAR(nearest.dearer->in(kDollar), 0.276, 1e-3);
  EXPECT_LT(*nearest.plan.p_budget, 0.01);
  EXPECT_FALSE(nearest.late);
}

// At 95 %, 0.776 USD of deviation 0.03 are 0.776 · e^(1.6449 · 0.03) = 0.8153 USD.
TEST(NearestPlan, SaysHowMuchIsMissingAtTheConfidence) {
  NearestFixture fixture;
  fixture.constraints().budget = 0.5 * kDollar;
  fixture.constraints().confidence = 0.95;
  EXPECT_NEAR(fixture.nearest().dearer->in(kDollar), 0.3153, 1e-3);
}

TEST(NearestPlan, IsThatOfAHigherHourlyBudgetWhereThatBinds) {
  NearestFixture fixture;
  fixture.constraints().rate_max = 0.3 * kDollar / kHour;
  const NearestPlan nearest = fixture.nearest();
  EXPECT_EQ(nearest.binding,
            "No cluster that meets the other constraints is expected to cost at most 0.3 USD/h.");
  EXPECT_EQ(to_text(nearest.plan.cluster), "1x slow.1:spot");
}

// The fastest is four slow.4 with 4 samples on each worker: 4 · 3 + 2 = 14 ms, 0.14 h.
TEST(NearestPlan, IsTheFastestWhereTheDeadlineBinds) {
  NearestFixture fixture;
  fixture.constraints().deadline = 36 * kSecond;
  const NearestPlan nearest = fixture.nearest();
  EXPECT_EQ(nearest.binding, "The deadline of 36 s cannot be met with 50 % probability.");
  EXPECT_EQ(to_text(nearest.plan.cluster), "4x slow.4");
  EXPECT_NEAR(nearest.late->in(kHour), 0.13, 1e-3);
  EXPECT_LT(*nearest.plan.p_deadline, 0.01);
  EXPECT_FALSE(nearest.dearer);
}

TEST(NearestPlan, IsThatOfMoreVmsWhereQuotasBind) {
  NearestFixture fixture;
  keep_types(fixture, {"slow.1", "fast.1"});
  fixture.constraints().quotas = {{"slow", std::nullopt, 3}, {"fast", Market::kSpot, 0}};
  fixture.constraints().markets = {Market::kSpot};
  const NearestPlan nearest = fixture.nearest();
  EXPECT_EQ(nearest.binding, "The quotas slow=3, fast:spot=0 leave too few VMs.");
  EXPECT_EQ(to_text(nearest.plan.cluster), "1x slow.1:spot");
}

// Of a deadline that a dearer plan keeps, and a budget that a slower one does, the budget goes
// first. Two slow.1 on spot take 0.98 h and 0.784 USD.
TEST(NearestPlan, KeepsTheDeadlineWhereTheBudgetCanGo) {
  NearestFixture fixture;
  fixture.constraints().deadline = 1 * kHour;
  fixture.constraints().budget = 0.78 * kDollar;
  const NearestPlan nearest = fixture.nearest();
  EXPECT_EQ(nearest.binding, "The budget of 0.78 USD cannot be met with 50 % probability.");
  EXPECT_EQ(to_text(nearest.plan.cluster), "2x slow.1:spot");
  EXPECT_NEAR(nearest.dearer->in(kDollar), 0.004, 1e-3);
  EXPECT_FALSE(nearest.late);
}

TEST(NearestPlan, LeavesAllOutWhereNoSingleOneHelps) {
  NearestFixture fixture;
  fixture.constraints().deadline = 36 * kSecond;
  fixture.constraints().budget = 0.01 * kDollar;
  const NearestPlan nearest = fixture.nearest();
  EXPECT_EQ(nearest.binding,
            "Deadline, budget and quotas cannot be met together, and dropping any one of them does "
            "not help.");
  EXPECT_EQ(to_text(nearest.plan.cluster), "4x slow.4");
  EXPECT_TRUE(nearest.late);
  EXPECT_TRUE(nearest.dearer);
}

TEST(NearestPlan, IsInfeasibleWhereNothingRunsTheJob) {
  NearestFixture fixture;
  keep_types(fixture, {"slow.1", "slow.4", "cpu.1"});
  fixture.predict.catalog.gpus[0].memory = 1 * kGB;
  const auto nearest = nearest_plan(fixture.question, kClock);
  EXPECT_EQ(nearest.error().kind, ErrorKind::kInfeasible);
  EXPECT_EQ(nearest.error().message,
            "no VM type of the catalogue can run the job small: 2 job does not fit into memory, 1 "
            "no accelerator");
}

// A loss every few seconds.
TEST(NearestPlan, SaysThatSpotMachinesAreLostBeforeASaveIsSafe) {
  NearestFixture fixture;
  keep_types(fixture, {"slow.1"});
  fixture.constraints().markets = {Market::kSpot};
  fixture.question.outlook.spot.hazard.typical = Hazard::constant(0.5 / kSecond);
  EXPECT_EQ(nearest_plan(fixture.question, kClock).error().message,
            "no VM type of the catalogue can run the job small: 1 batch does not fit into memory, "
            "or a checkpoint rarely completes before the next spot interruption");
}

// 67 samples cannot be split into equal micro-steps; two workers would have 34, and memory of 4 GB
// holds 21 (see space_test.cc).
TEST(NearestPlan, SaysThatTheBatchIsTooLargeForMemory) {
  NearestFixture fixture;
  keep_types(fixture, {"slow.1"});
  fixture.predict.catalog.gpus[0].memory = 4 * kGB;
  fixture.question.work.choices[0].global_batch = 67;
  fixture.constraints().vms_max = 2;
  EXPECT_EQ(nearest_plan(fixture.question, kClock).error().message,
            "no VM type of the catalogue can run the job small: 1 batch does not fit into memory");
}

}  // namespace
}  // namespace stint
