#include "optimise/deepvm_policy.h"

#include <gtest/gtest.h>

#include "optimise/policy_fixture.h"

namespace stint {
namespace {

constexpr DollarsPerSecond kHourly = kDollar / kHour;

Result<std::optional<Plan>> picked(const PolicyFixture& fixture, const DeepVmLimits& limits) {
  const auto space = plan_space(fixture.question);
  if (!space.ok()) return space.error();
  const Evaluator evaluator(fixture.question, *space);
  const auto pick = deepvm_pick(evaluator, limits);
  if (!pick.ok()) return pick.error();
  if (!*pick) return std::optional<Plan>{};
  return std::optional(plan_of(evaluator, **pick));
}

Plan plan(const PolicyFixture& fixture, const DeepVmLimits& limits) {
  const auto made = picked(fixture, limits);
  CHECK(made.ok());
  return made->value();
}

// Peaks of 8 and 16 TFLOP/s at 0.4 and 1.2 USD/h on spot: 20 against 13.3, so slow.1. Up to four of
// them; a receiver of 0.2 USD/h is cheaper than an anchor, which costs 0.6 more than a spot VM. An
// iteration of 4 takes 50 ms, the training half an hour: 4 · 0.4 · 0.5 + 0.2 · 0.5 = 0.90 USD.
TEST(DeepVmPolicy, PaysForReceiversThatDoNoWork) {
  PolicyFixture fixture;
  fixture.question.constraints.budget = 0.9 * kDollar;
  const Plan tier = plan(fixture, {.vms_max = 4});
  EXPECT_EQ(to_text(tier.cluster), "4x slow.1:spot");
  ASSERT_TRUE(tier.checkpoint.has_value());
  EXPECT_EQ(tier.checkpoint->place, CheckpointPlace::kTier);
  EXPECT_EQ(tier.checkpoint->receivers, 1);
  EXPECT_EQ(tier.note, "checkpoints go to 1x cpu.1 on-demand");
  EXPECT_NEAR(tier.time.mean.in(kHour), 0.5, 0.001);
  EXPECT_NEAR(tier.cost.mean.in(kDollar), 0.9, 0.001);
  EXPECT_NEAR(tier.bill->anchors.in(kDollar), 0.1, 0.001);
  EXPECT_NEAR(total(*tier.bill).in(kDollar), tier.cost.mean.in(kDollar), 1e-9);
  EXPECT_GT(tier.cost.p90, tier.cost.mean);
  // The budget is the mean cost, with the receivers.
  EXPECT_NEAR(*tier.p_budget, 0.5, 0.01);
}

// Without VMs to receive, one of the workers is on demand: 3 · 0.4 + 1 = 2.2 USD/h for half an
// hour.
TEST(DeepVmPolicy, KeepsAnAnchorWhereThereIsNoTier) {
  PolicyFixture fixture;
  fixture.type("cpu.1").network.reset();
  const Plan anchored = plan(fixture, {.vms_max = 4});
  EXPECT_EQ(to_text(anchored.cluster), "3x slow.1:spot + 1x slow.1");
  EXPECT_EQ(anchored.market, PlanMarket::kMixed);
  EXPECT_EQ(anchored.checkpoint->place, CheckpointPlace::kAnchor);
  EXPECT_NEAR(anchored.cost.mean.in(kDollar), 1.1, 0.001);
  EXPECT_EQ(to_text(plan(fixture, {.vms_max = 1}).cluster), "1x slow.1");
}

// 1.5 USD/h pay for 3 spot VMs and a receiver (1.4); 16 vCPUs of spot VMs must not be reached by 4
// VMs of 4.
TEST(DeepVmPolicy, KeepsItsLimits) {
  const PolicyFixture fixture;
  EXPECT_EQ(to_text(plan(fixture, {.vms_max = 4, .rate_max = 1.5 * kHourly}).cluster),
            "3x slow.1:spot");
  const Quota quota{.name = "slow", .market = Market::kSpot, .vcpus = 16};
  EXPECT_EQ(to_text(plan(fixture, {.vms_max = 4, .quotas = {quota}}).cluster),
            "3x slow.1:spot + 1x slow.1");
  const auto nothing = picked(fixture, {.vms_max = 4, .rate_max = 0.5 * kHourly});
  ASSERT_TRUE(nothing.ok());
  EXPECT_FALSE(nothing->has_value());
}

// Of two receivers the one with the lower price for each worker it serves: at 50 Gbit/s 32 workers
// for 0.2 USD/h, at 1 Gbit/s 2 for 0.05.
TEST(DeepVmPolicy, TakesTheReceiverThatServesMostForItsPrice) {
  PolicyFixture fixture;
  VmType narrow = fixture.type("cpu.1");
  narrow.name = "cpu.narrow";
  narrow.network = Network{.peak = 1 * kGbit / kSecond};
  narrow.offers[0].on_demand->rate = 0.05 * kHourly;
  fixture.predict.catalog.types.push_back(narrow);
  EXPECT_EQ(plan(fixture, {.vms_max = 4}).note, "checkpoints go to 1x cpu.1 on-demand");
}

// Only fast.1 has published figures, so slow.1 is not compared with it.
TEST(DeepVmPolicy, GoesByPublishedFiguresWhereThereAreSome) {
  PolicyFixture fixture;
  fixture.type("fast.1").deepvm = DeepVmFigures{.a = 0.1, .b = 10, .c = 5, .flops = 1};
  EXPECT_EQ(plan(fixture, {.vms_max = 2}).cluster.groups[0].vm.name, "fast.1");
}

// DeepVM cannot do without VMs on demand, nor without spot VMs.
TEST(DeepVmPolicy, NeedsBothMarkets) {
  PolicyFixture fixture;
  for (const Market market : {Market::kSpot, Market::kOnDemand}) {
    fixture.question.constraints.markets = {market};
    const auto nothing = picked(fixture, {.vms_max = 4});
    ASSERT_TRUE(nothing.ok());
    EXPECT_FALSE(nothing->has_value());
  }
}

}  // namespace
}  // namespace stint
