#include "risk/checkpoint_schedule.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"

namespace stint {
namespace {

PerSecond per_hour(double losses) { return losses / kHour; }

// As for Google's preemptible VMs: many early, few for long, all at the end of the day.
Hazard bathtub() {
  return Hazard({{Seconds(), per_hour(1)}, {1 * kHour, per_hour(0.05)}, {6 * kHour, per_hour(1)}});
}

SpotGang gang_of(const Hazard& hazard, double without_notice = 1) {
  return {.hazard = hazard, .without_notice = without_notice, .horizon = 8 * kHour};
}

constexpr SaveCost kBlocking{.stall = 6 * kMinute, .transfer = {}, .restore = {}};
constexpr SaveCost kBeside{.stall = 2 * kMinute, .transfer = 25 * kMinute, .restore = {}};

// The waste by stepping through time, written without a formula of the tested file.
double stepped_waste(const SpotGang& gang, const SaveCost& save,
                     const std::vector<Seconds>& begins) {
  const Seconds step = 2 * kSecond;
  double waste = 0;
  double alive = 0;
  double work = 0;
  double safe = 0;
  std::vector<double> held(begins.size());  // Work that each checkpoint holds.
  for (Seconds age = step / 2; age < gang.horizon; age += step) {
    bool stalls = false;
    for (std::size_t i = 0; i < begins.size(); ++i) {
      if (age < begins[i]) held[i] = work;
      if (age >= begins[i] && age < begins[i] + save.stall) stalls = true;
      if (age >= begins[i] + save.until_safe()) safe = held[i];
    }
    const double survival = gang.hazard.survival(age);
    const double dies = survival * (gang.hazard.rate(age) * step);
    if (!stalls) work += step.in(kSecond);
    alive += survival * step.in(kSecond);
    waste += stalls ? survival * step.in(kSecond) : 0;
    waste += gang.without_notice * dies * (work - safe);
  }
  return waste / alive;
}

TEST(ExpectedWaste, EqualsThatOfSteppingThroughTime) {
  const std::vector<Seconds> begins = {0.4 * kHour, 1 * kHour, 3.5 * kHour, 6.2 * kHour};
  for (const SaveCost& save : {kBlocking, kBeside}) {
    for (const double without_notice : {0.0, 0.3, 1.0}) {
      for (const Hazard& hazard : {bathtub(), Hazard::constant(per_hour(0.4))}) {
        const SpotGang gang = gang_of(hazard, without_notice);
        const double stepped = stepped_waste(gang, save, begins);
        EXPECT_NEAR(expected_waste(gang, save, begins).fraction(), stepped, 1e-3 * stepped);
      }
    }
  }
}

// Every feasible subset of the grid.
double brute_force(const SpotGang& gang, const SaveCost& save, const std::vector<Seconds>& grid) {
  double best = std::numeric_limits<double>::infinity();
  for (unsigned subset = 0; subset < 1U << grid.size(); ++subset) {
    std::vector<Seconds> begins;
    bool possible = true;
    for (std::size_t i = 0; i < grid.size(); ++i) {
      if ((subset >> i & 1U) == 0) continue;
      possible = possible && (begins.empty() || grid[i] >= begins.back() + save.until_safe());
      begins.push_back(grid[i]);
    }
    possible = possible && (begins.empty() || begins.back() + save.until_safe() <= gang.horizon);
    if (possible) best = std::min(best, expected_waste(gang, save, begins).fraction());
  }
  return best;
}

TEST(BestBegins, EqualBruteForceOverAllSchedulesOfAGrid) {
  std::vector<Seconds> grid;
  for (int i = 1; i <= 12; ++i) grid.push_back(i * 0.6 * kHour);
  for (const SaveCost& save : {kBlocking, kBeside}) {
    for (const double without_notice : {0.1, 1.0}) {
      for (const Hazard& hazard : {bathtub(), Hazard::constant(per_hour(0.4))}) {
        const SpotGang gang = gang_of(hazard, without_notice);
        const double best = brute_force(gang, save, grid);
        const auto begins = best_begins(gang, save, grid);
        EXPECT_NEAR(expected_waste(gang, save, begins).fraction(), best, 1e-12);
        // The plan chooses among finer ages.
        const auto plan = plan_saves(gang, save);
        ASSERT_TRUE(plan.ok());
        EXPECT_LE(plan->waste.fraction(), 1.0001 * best);
      }
    }
  }
}

// Random nudges of single saves find nothing that is better by more than a hundredth.
TEST(PlanSaves, CannotBeImprovedByMovingSaves) {
  const unsigned seed = 5;
  SCOPED_TRACE(seed);
  Random random(seed);
  for (const SaveCost& save : {kBlocking, kBeside}) {
    const SpotGang gang = gang_of(bathtub());
    const auto plan = plan_saves(gang, save);
    ASSERT_TRUE(plan.ok());
    std::vector<Seconds> begins = plan->begins;
    double best = plan->waste.fraction();
    for (int i = 0; i < 20000; ++i) {
      std::vector<Seconds> tried = begins;
      const auto at = static_cast<std::size_t>(random.below(static_cast<int>(tried.size())));
      tried[at] += random.normal() * 2 * kMinute;
      const Seconds before = at == 0 ? Seconds() : tried[at - 1] + save.until_safe();
      const Seconds after = at + 1 == tried.size() ? gang.horizon : tried[at + 1];
      if (tried[at] < before || tried[at] + save.until_safe() > after) continue;
      const double waste = expected_waste(gang, save, tried).fraction();
      if (waste < best) {
        best = waste;
        begins = tried;
      }
    }
    EXPECT_GT(best, 0.99 * plan->waste.fraction());
  }
}

TEST(PlanSaves, BeatsEveryConstantIntervalUnderABathtub) {
  const SpotGang gang = gang_of(bathtub());
  const auto plan = plan_saves(gang, kBlocking);
  ASSERT_TRUE(plan.ok());
  EXPECT_LT(plan->waste.fraction(), 0.95 * plan->constant.waste);
  EXPECT_LE(plan->constant.waste, plan->young.waste);
  EXPECT_LE(plan->constant.waste, plan->daly.waste);
  double best = 1;
  for (Seconds interval = 2 * kMinute; interval < gang.horizon; interval += 10 * kSecond) {
    std::vector<Seconds> begins;
    for (Seconds age = interval; age + kBlocking.stall <= gang.horizon;
         age += interval + kBlocking.stall) {
      begins.push_back(age);
    }
    best = std::min(best, expected_waste(gang, kBlocking, begins).fraction());
  }
  EXPECT_NEAR(plan->constant.waste, best, 0.01 * best);
  // While few machines are lost, checkpoints lie further apart than at the end.
  ASSERT_GT(plan->begins.size(), 3U);
  Seconds widest;
  for (std::size_t i = 1; i < plan->begins.size(); ++i) {
    widest = std::max(widest, plan->begins[i] - plan->begins[i - 1]);
  }
  EXPECT_GT(widest, 2 * (plan->begins.back() - plan->begins[plan->begins.size() - 2]));
}

// Twenty-five losses long, the ends of the run hardly matter.
TEST(PlanSaves, EqualsTheExponentialFormulaAtAConstantHazard) {
  const PerSecond rate = per_hour(0.25);
  const SpotGang gang{
      .hazard = Hazard::constant(rate), .without_notice = 1, .horizon = 100 * kHour};
  for (const SaveCost& save : {kBlocking, kBeside}) {
    const auto plan = plan_saves(gang, save);
    ASSERT_TRUE(plan.ok());
    const Seconds interval = exponential_interval(rate, 1, save);
    const double waste = exponential_waste(rate, 1, save, interval);
    EXPECT_NEAR(plan->waste.fraction(), waste, 0.01 * waste);
    EXPECT_NEAR(plan->constant.waste, waste, 0.01 * waste);
  }
}

TEST(PlanSaves, TreatsAnAsynchronousSaveWithoutTransferAsABlockingOne) {
  const SaveSetup setup{.bytes = kGB,
                        .sender_nic = kGB / kSecond,
                        .place = CheckpointPlace::kAnchor,
                        .receiver_nic = kGB / kSecond,
                        .asynchronous = false,
                        .copy = 30 * kSecond};
  const SaveCost blocking = save_cost(setup);
  const SaveCost beside{.stall = blocking.stall, .transfer = {}, .restore = blocking.restore};
  const SpotGang gang = gang_of(bathtub());
  const auto one = plan_saves(gang, blocking);
  const auto other = plan_saves(gang, beside);
  ASSERT_TRUE(one.ok() && other.ok());
  EXPECT_EQ(one->begins, other->begins);
  EXPECT_EQ(one->waste.fraction(), other->waste.fraction());
}

TEST(PlanSaves, SavesNeverWhereEveryLossIsAnnounced) {
  const auto plan = plan_saves(gang_of(bathtub(), 0), kBlocking);
  ASSERT_TRUE(plan.ok());
  EXPECT_TRUE(plan->begins.empty());
  EXPECT_EQ(plan->waste.fraction(), 0);
  EXPECT_EQ(plan->young.interval, 8 * kHour);
}

TEST(PlanSaves, RefusesSpotWithoutCheckpoints) {
  const auto plan = plan_saves(gang_of(bathtub()), std::nullopt);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().kind, ErrorKind::kBadInput);
  EXPECT_NE(plan.error().message.find("without checkpoints"), std::string::npos);
}

// A checkpoint takes an hour and a loss occurs every ten minutes: e^−6 of the checkpoints are safe.
TEST(PlanSaves, RefusesSavesThatAreHardlyEverSafe) {
  const SaveCost slow{.stall = 1 * kMinute, .transfer = 1 * kHour, .restore = {}};
  const auto plan = plan_saves(gang_of(Hazard::constant(per_hour(6))), slow);
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(plan.error().message.find("3660 s"), std::string::npos) << plan.error().message;
  EXPECT_NE(plan.error().message.find("every 600 s"), std::string::npos) << plan.error().message;
}

TEST(GangHazard, IsSoManyTimesThatOfOne) {
  const Hazard gang = gang_hazard(bathtub(), 2.5);
  EXPECT_NEAR(gang.cumulative(7 * kHour), 2.5 * bathtub().cumulative(7 * kHour), 1e-12);
}

// 6 min stall, a loss every 4 h: the exact optimum solves λτ = 1 − e^(−λ(τ + δ)).
TEST(ExponentialInterval, SolvesItsEquation) {
  const PerSecond rate = per_hour(0.25);
  const Seconds exact = exponential_interval(rate, 1, kBlocking);
  EXPECT_NEAR(rate * exact, 1 - std::exp(-(rate * (exact + kBlocking.stall))), 1e-6);
  EXPECT_GT(exponential_interval(rate, 0.2, kBlocking), exact);
  // A transfer longer than the interval delays the next checkpoint.
  const SaveCost slow{.stall = 6 * kMinute, .transfer = 3 * kHour, .restore = {}};
  EXPECT_NEAR(exponential_interval(rate, 1, slow).in(kHour), 3, 1e-6);
  EXPECT_TRUE(std::isinf(exponential_interval(rate, 0, kBlocking).in(kSecond)));
}

// √(2 · 360 s · 14400 s) = 3219.9 s. Daly: δ/2M = 0.0125, so 3219.9 · (1 + 0.11180/3 + 0.0125/9)
// − 360 = 2984.4 s; the exact optimum is 2984.6 s.
TEST(ExponentialInterval, IsExpandedByYoungAndDaly) {
  const Seconds young = young_interval(6 * kMinute, 4 * kHour);
  const Seconds daly = daly_interval(6 * kMinute, 4 * kHour);
  EXPECT_NEAR(young.in(kSecond), 3219.938, 1e-3);
  EXPECT_NEAR(daly.in(kSecond), 2984.40, 0.02);
  EXPECT_NEAR(exponential_interval(per_hour(0.25), 1, kBlocking).in(kSecond), 2984.4, 1);
  EXPECT_EQ(daly_interval(3 * kHour, 1 * kHour), 1 * kHour);
}

// By hand at λP = 1, w = 1, no transfer: τ = 3000 s, δ = 600 s, λ = 1/3600 s: useful
// (3000/3600) / (e − 1) = 0.48498.
TEST(ExponentialWaste, MatchesAHandComputedCase) {
  const SaveCost save{.stall = 600 * kSecond, .transfer = {}, .restore = {}};
  EXPECT_NEAR(exponential_waste(per_hour(1), 1, save, 3000 * kSecond), 1 - 0.484981, 1e-6);
}

// Nobody waits for the end of a horizon that no machine lives to see, however short the intervals.
TEST(PlanSaves, AHorizonBeyondAllLivesTakesNoLonger) {
  const SaveCost quick{.stall = 1e-9 * kSecond, .transfer = 1e-9 * kSecond, .restore = {}};
  for (const SaveCost& save : {kBlocking, kBeside, quick}) {
    SpotGang gang = gang_of(Hazard::constant(per_hour(0.1)));
    gang.horizon = 1000 * kHour;
    const auto usual = plan_saves(gang, save);
    gang.horizon = 1e300 * kHour;
    const auto endless = plan_saves(gang, save);
    ASSERT_TRUE(usual.ok() && endless.ok());
    EXPECT_NEAR(endless->waste.fraction(), usual->waste.fraction(), 0.02);
    EXPECT_NEAR(endless->young.waste, usual->young.waste, 1e-3);
    EXPECT_NEAR(endless->daly.waste, usual->daly.waste, 1e-3);
  }
}

}  // namespace
}  // namespace stint
