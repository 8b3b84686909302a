#include "supervise/rehearsal.h"

#include <cmath>
#include <gtest/gtest.h>

#include "base/limits.h"
#include "risk/cluster_policy.h"
#include "risk/deadline_baselines.h"

namespace stint {
namespace {

const DeadlineGame kGame{
    .work = 10, .deadline = 30, .changeover = 1, .machines = 2, .price_ratio = 3};

// Before anything is learnt both have the same estimates.
TEST(RehearsalPolicy, BeginsAsTheClusterPolicyDoes) {
  RehearsalTables tables(CountBelief(2).model());
  for (int available = 0; available <= 2; ++available) {
    ClusterPolicy learns{CountBelief(2)};
    const auto rehearses = tables.policy();
    learns.begin(kGame, {});
    rehearses->begin(kGame, {});
    const GameState state{.parts_left = kGame.parts(), .available = available};
    EXPECT_EQ(rehearses->choose(state), learns.choose(state)) << available;
  }
}

TEST(RehearsalPolicy, SolvesAGameOnce) {
  RehearsalTables tables(CountBelief(2).model());
  for (int i = 0; i < 3; ++i) tables.policy()->begin(kGame, {});
  EXPECT_EQ(tables.solved(), 1U);
  DeadlineGame longer = kGame;
  longer.deadline = 31;
  tables.policy()->begin(longer, {});
  EXPECT_EQ(tables.solved(), 2U);
}

// Eleven ticks are left for ten of work and one of set-up.
TEST(RehearsalPolicy, BuysWhenNothingElseIsSafe) {
  RehearsalTables tables(CountBelief(2).model());
  const auto policy = tables.policy();
  policy->begin(kGame, {});
  const GameState state{.tick = 19, .parts_left = 20, .available = 2};
  EXPECT_EQ(policy->choose(state), (Holding{.spot = 0, .on_demand = 2}));
}

/// Two machines, 1 USD/h each, 100 steps of 10 s.
RunTerms two_machines(Market market) {
  RunTerms terms;
  for (int i = 0; i < 2; ++i) {
    terms.slots.push_back(
        {.market = market, .spot = 1 * kDollar / kHour, .on_demand = 3 * kDollar / kHour});
  }
  terms.steps = 100;
  terms.step_time = [](std::span<const int> slots) {
    return 20.0 / static_cast<double>(slots.size()) * kSecond;
  };
  return terms;
}

// The machines are up after 40 s and train after another 20 s, 100 steps of 10 s end at 1060 s, and
// the last checkpoint is safe at 1070 s. Two machines cost 1 USD/h each from 40 s on: 1030 s are
// 2060 / 3600 = 0.5722 USD, of which 20 s are the start, 1000 s training and 10 s a pause.
TEST(Rehearsal, WithoutLossesCostsWhatIsAddedUpByHand) {
  const Forecast forecast = rehearse(two_machines(Market::kSpot), {}, {}, {.runs = 3});
  EXPECT_NEAR(forecast.time.mean.in(kSecond), 1070, 1e-6);
  EXPECT_NEAR(forecast.cost.p90.in(kDollar), 2060.0 / 3600, 1e-9);
  EXPECT_NEAR(forecast.parts.training.in(kDollar), 2000.0 / 3600, 1e-9);
  EXPECT_NEAR(forecast.parts.starting.in(kDollar), 40.0 / 3600, 1e-9);
  EXPECT_NEAR(forecast.parts.standing.in(kDollar), 20.0 / 3600, 1e-9);
  EXPECT_EQ(forecast.trained, 1);
  EXPECT_EQ(forecast.losses, 0);
}

// 50 steps are left: the surviving workers regroup for 10 s, do 500 s of steps and save for 10 s.
// Two machines for 520 s are 1040 / 3600 USD.
TEST(Rehearsal, GoesOnFromWhereARunStands) {
  const RunSoFar so_far{
      .now = 800 * kSecond,
      .steps = 50,
      .cost = 2 * kDollar,
      .machines = {{.slot = 0, .market = Market::kSpot}, {.slot = 1, .market = Market::kSpot}}};
  const Forecast forecast = rehearse(two_machines(Market::kSpot), {}, so_far, {.runs = 2});
  EXPECT_NEAR(forecast.time.p50.in(kSecond), 1320, 1e-6);
  EXPECT_NEAR(forecast.cost.mean.in(kDollar), 2 + 1040.0 / 3600, 1e-9);
}

// One machine that saves only at the end starts again after each loss. It is exposed for x = 20 s
// (to join) + 2000 s + 10 s (to save), so that with the loss rate r there are e^{rx} − 1 losses,
// the machine is paid for (e^{rx} − 1) / r, and each start takes 40 s more.
TEST(Rehearsal, WithLossesAgreesWithTheClosedForm) {
  RunTerms terms = two_machines(Market::kSpot);
  terms.slots.pop_back();
  terms.save_every = 1000 * kHour;
  const double x = 2030;
  const double rate = 1 / x;
  const double losses = std::exp(1) - 1;
  const Forecast forecast = rehearse(
      terms, {.pools = {{.hazard = Hazard::constant(rate / kSecond)}}}, {}, {.runs = 4000});
  // The number of losses is geometric with a deviation of √(e (e − 1)) = 2.16: 0.034 over 4000.
  EXPECT_NEAR(forecast.losses, losses, 0.12);
  EXPECT_NEAR(forecast.cost.mean.in(kDollar), losses / rate / 3600, 0.07);
  EXPECT_NEAR(forecast.time.mean.in(kSecond), losses / rate + 40 * std::exp(1), 250);
  EXPECT_EQ(forecast.trained, 1);
}

// A notice of two minutes is enough to save and to launch another machine: almost nothing is lost.
TEST(Rehearsal, LosesLittleWithANotice) {
  const RehearsalWorld sudden{.pools = {{.hazard = Hazard::constant(1 / (20 * kMinute))}}};
  RehearsalWorld announced = sudden;
  announced.notice = 2 * kMinute;
  RunTerms terms = two_machines(Market::kSpot);
  terms.steps = 400;
  const Forecast worse = rehearse(terms, sudden, {}, {.runs = 100});
  const Forecast better = rehearse(terms, announced, {}, {.runs = 100});
  EXPECT_LT(better.parts.redone, 0.5 * worse.parts.redone);
  EXPECT_LT(better.time.mean, worse.time.mean);
}

TEST(Rehearsal, WaitsForSpotMachinesByTheTrace) {
  const RehearsalWorld world{
      .capacity = {{.at = {}, .machines = 0}, {.at = 600 * kSecond, .machines = 2}}};
  // Requested at 600 s, then as above: 600 + 1070 s.
  const Forecast forecast = rehearse(two_machines(Market::kSpot), world, {}, {.runs = 1});
  EXPECT_NEAR(forecast.time.mean.in(kSecond), 1670, 1e-6);
}

TEST(Rehearsal, PartsAddUpToTheBill) {
  RunTerms terms = two_machines(Market::kSpot);
  terms.slots.push_back({.trains = false, .on_demand = 0.5 * kDollar / kHour});
  const RehearsalWorld world{.pools = {{.hazard = Hazard::constant(1 / (10 * kMinute))}},
                             .notice = 30 * kSecond,
                             .slowness_deviation = 0.2,
                             .step_noise = 0.1,
                             .plenty = 10 * kMinute,
                             .dearth = 5 * kMinute};
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const RehearsedRun run = rehearse_once(terms, world, {}, seed, nullptr);
    const BillParts& parts = run.parts;
    const Dollars sum = parts.training + parts.saving + parts.redone + parts.starting +
                        parts.standing + parts.keeping;
    EXPECT_NEAR(sum.in(kDollar), run.cost.in(kDollar), 1e-9) << "seed " << seed;
  }
}

TEST(Rehearsal, ComparesTermsUnderTheSameChances) {
  const RunTerms terms = two_machines(Market::kSpot);
  RunTerms dearer = terms;
  for (RunSlot& slot : dearer.slots) slot.spot = 2 * slot.spot;
  const RehearsalWorld world{.pools = {{.hazard = Hazard::constant(1 / (10 * kMinute))}},
                             .slowness_deviation = 0.2};
  const Forecast one = rehearse(terms, world, {}, {.runs = 30, .seed = 7});
  const Forecast two = rehearse(dearer, world, {}, {.runs = 30, .seed = 7});
  EXPECT_EQ(one.time.p90, two.time.p90);
  EXPECT_NEAR(two.cost.mean / one.cost.mean, 2, 1e-9);
}

// Of 1000 other runs of the same world 80 % should lie between; three deviations of both samples
// are about 0.05.
TEST(Rehearsal, CoversWhatHappensWhenTheWorldIsAsAssumed) {
  const RunTerms terms = two_machines(Market::kSpot);
  const RehearsalWorld world{.pools = {{.hazard = Hazard::constant(1 / (15 * kMinute))}},
                             .notice = 2 * kMinute,
                             .slowness_deviation = 0.1,
                             .step_noise = 0.05};
  const Forecast forecast = rehearse(terms, world, {}, {.runs = 1000, .seed = 1});
  int inside = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const Dollars cost = rehearse_once(terms, world, {}, 1'000'000 + seed, nullptr).cost;
    inside += cost >= forecast.cost.p10 && cost <= forecast.cost.p90 ? 1 : 0;
  }
  EXPECT_NEAR(inside / 1000.0, 0.8, 0.06);
}

// On-demand machines need 1070 s, at 6 USD/h for 1030 s of them: 1.72 USD.
TEST(Rehearsal, TellsTheChanceOfADeadlineAndOfABudget) {
  RunTerms terms = two_machines(Market::kSpot);
  const RehearsalWorld none{.capacity = {{.at = {}, .machines = 0}}};
  terms.deadline = 2000 * kSecond;
  terms.budget = 3 * kDollar;
  const Forecast bought = rehearse(terms, none, {}, {.runs = 2});
  EXPECT_EQ(bought.deadline_kept, 1);
  EXPECT_EQ(bought.budget_kept, 1);
  terms.budget = 1.7 * kDollar;
  const Forecast poor = rehearse(terms, none, {}, {.runs = 2});
  EXPECT_EQ(poor.trained, 0);
  EXPECT_EQ(poor.budget_kept, 0);
  terms.budget.reset();
  terms.deadline = 1000 * kSecond;
  const Forecast late = rehearse(terms, {}, {}, {.runs = 2});
  EXPECT_EQ(late.trained, 1);
  EXPECT_EQ(late.deadline_kept, 0);
}

TEST(Rehearsal, TakesAPolicyForEachRun) {
  RunTerms terms = two_machines(Market::kSpot);
  terms.deadline = 2 * kHour;
  int made = 0;
  const auto policy = [&made] {
    ++made;
    return std::make_unique<OnDemandOnly>();
  };
  const Forecast forecast = rehearse(terms, {}, {}, {.runs = 3, .policy = policy});
  EXPECT_EQ(made, 3);
  EXPECT_NEAR(forecast.cost.mean.in(kDollar), 3 * 2060.0 / 3600, 1e-9);
}

// A thousand seconds in ticks of four milliseconds are more than a rehearsal follows: it gives up,
// and another would say the same.
TEST(Rehearsal, GivesUpWhereTooMuchHappens) {
  RunTerms terms = two_machines(Market::kOnDemand);
  terms.tick = 4 * kMillisecond;
  const Forecast forecast = rehearse(terms, {}, {}, {.runs = 50});
  EXPECT_EQ(forecast.runs, 1);
  EXPECT_EQ(forecast.trained, 0);
}

// 1,070 s in ticks of twenty milliseconds are more than 50,000 events: three such rehearsals are
// enough.
TEST(Rehearsal, IsNotRepeatedOftenWhereMuchHappens) {
  RunTerms terms = two_machines(Market::kOnDemand);
  terms.tick = 20 * kMillisecond;
  const Forecast forecast = rehearse(terms, {}, {}, {.runs = 50});
  EXPECT_EQ(forecast.runs, 3);
  EXPECT_EQ(forecast.trained, 1);
}

// A cost for each step once took 800 GB. Two machines at 3 USD/h train for 10^5 s: 166.67 USD.
TEST(Rehearsal, MemoryDoesNotGrowWithTheSteps) {
  RunTerms terms = two_machines(Market::kOnDemand);
  terms.steps = kStepsMax;
  terms.step_time = [](std::span<const int>) { return kMicrosecond; };
  const Forecast forecast = rehearse(terms, {}, {}, {.runs = 1});
  EXPECT_EQ(forecast.trained, 1);
  EXPECT_NEAR(forecast.parts.training.in(kDollar), 166.67, 1);
}

}  // namespace

}  // namespace stint
