#include "calibrate/plan_choice.h"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

#include "base/random.h"

namespace stint {
namespace {

constexpr DollarsPerSecond kRate = 1 * kDollar / kHour;

/// Two, three and four VMs that take 400, 200 and 100 hours.
std::vector<PlanCandidate> three() {
  return {{.price = 2 * kRate, .workers = 8, .measured = 400 * kHour},
          {.price = 3 * kRate, .workers = 8, .measured = 200 * kHour},
          {.price = 4 * kRate, .workers = 16, .measured = 100 * kHour}};
}

/// Guesses of these hours, with a deviation of log time on both sides.
PlanGuesses guesses(const std::vector<double>& hours, double deviation) {
  PlanGuesses all;
  for (const double it : hours) all.push_back(PlanGuess{it * kHour, {deviation, deviation}});
  return all;
}

// From 100 h to 1600 h is a factor of 16: 5 % of it is 16^0.05 = 1.1487, half of it 4.
TEST(PlanDeadlines, AreEvenInLogarithms) {
  const std::vector<PlanCandidate> two{{.price = kRate, .measured = 1600 * kHour},
                                       {.price = kRate, .measured = 100 * kHour}};
  const auto deadlines = plan_deadlines(two);
  ASSERT_EQ(deadlines.size(), 7U);
  EXPECT_NEAR(deadlines[0].in(kHour), 114.87, 0.01);
  EXPECT_NEAR(deadlines[3].in(kHour), 400, 1e-9);
  EXPECT_NEAR(deadlines[6].in(kHour), 1600 / 1.1487, 0.1);
}

// A deviation above of 0.1 and 1.05 = e^{0.0488} of the time: Φ(0.488) = 0.6872. Below, of 0.2:
// Φ(−0.0513 / 0.2) = 0.3988 for 0.95 of it. From tables of the normal distribution.
TEST(ProbabilityKept, HasADeviationOnEachSide) {
  const PlanGuess guess{.time = 100 * kHour, .spread = {.below = 0.2, .above = 0.1}};
  EXPECT_NEAR(probability_kept(guess, 100 * kHour), 0.5, 1e-12);
  EXPECT_NEAR(probability_kept(guess, 105 * kHour), 0.6872, 1e-3);
  EXPECT_NEAR(probability_kept(guess, 95 * kHour), 0.3988, 1e-3);
}

TEST(ProbabilityKept, IsCertainWithoutASpread) {
  const PlanGuess guess{.time = 100 * kHour};
  EXPECT_EQ(probability_kept(guess, 100 * kHour), 1);
  EXPECT_EQ(probability_kept(guess, 99 * kHour), 0);
}

// Guessed right, they cost 800, 600 and 400 dollars.
TEST(ChooseSure, TakesTheCheapestThatKeepsTheDeadline) {
  EXPECT_EQ(choose_sure(three(), guesses({400, 200, 100}, 0), 500 * kHour, 0.95), 2U);
  EXPECT_EQ(choose_sure(three(), guesses({100, 200, 100}, 0), 500 * kHour, 0.95), 0U);
}

// 1.645 deviations of 0.11 are a fifth: late by it they take 120, 108 and 96 hours, and cost 200,
// 270 and 320 dollars as guessed.
TEST(ChooseSure, AsksTheIntervalForTheDeadlineAndTheTimeForTheCost) {
  EXPECT_EQ(choose_sure(three(), guesses({100, 90, 80}, 0.11), 110 * kHour, 0.95), 1U);
  EXPECT_EQ(choose_sure(three(), guesses({100, 90, 80}, 0.11), 100 * kHour, 0.95), 2U);
}

TEST(ChooseSure, TakesTheMostProbableWhenNoneKeepsTheDeadline) {
  EXPECT_EQ(choose_sure(three(), guesses({400, 90, 100}, 0), 50 * kHour, 0.95), 1U);
  PlanGuesses unsure = guesses({400, 90, 100}, 0.05);
  unsure[2]->spread = {.below = 0.5, .above = 0.5};  // ln 2 are 1.4 deviations, not 12.
  EXPECT_EQ(choose_sure(three(), unsure, 50 * kHour, 0.95), 2U);
}

TEST(ChooseSure, LeavesOutWhatCannotBeGuessed) {
  PlanGuesses some = guesses({100, 200, 100}, 0);
  some[0].reset();
  EXPECT_EQ(choose_sure(three(), some, 500 * kHour, 0.95), 2U);
  EXPECT_EQ(choose_sure(three(), PlanGuesses(3), 500 * kHour, 0.95), 2U);
  EXPECT_EQ(choose_by_risk(three(), PlanGuesses(3), 500 * kHour, miss_charge(0.95)), 2U);
}

// 100, 90 and 80 hours cost 200, 270 and 320 dollars. Within 110 hours P is Φ(0.0953 / 0.11) =
// 0.807, 0.966 and 0.998; with ln 19 = 2.94 bills for a miss they are worth 200 · 1.568 = 314,
// 270 · 1.100 = 297 and 320 · 1.006 = 322: nine hours to spare are worth 70 dollars, another ten
// are not worth 50. With ln 1.5 = 0.405 bills they are worth 216, 274 and 320.
TEST(ChooseByRisk, BuysCertaintyOnlyWhereItIsWorthItsPrice) {
  EXPECT_EQ(choose_by_risk(three(), guesses({100, 90, 80}, 0.11), 110 * kHour, miss_charge(0.95)),
            1U);
  EXPECT_EQ(choose_by_risk(three(), guesses({100, 90, 80}, 0.11), 110 * kHour, miss_charge(0.60)),
            0U);
}

// 98 hours within 97 are rather missed, though they would be cheapest at any charge of 60 %.
TEST(ChooseByRisk, TakesNothingThatRatherMissesWhereSomethingKeeps) {
  EXPECT_EQ(choose_by_risk(three(), guesses({98, 90, 80}, 0.5), 97 * kHour, miss_charge(0.60)), 1U);
  EXPECT_EQ(choose_by_risk(three(), guesses({400, 90, 80}, 0.1), 50 * kHour, miss_charge(0.95)),
            2U);
}

TEST(Clusters, OfEqualPriceTheLargestAndOfEqualSizeTheCheapest) {
  std::vector<PlanCandidate> all = three();
  EXPECT_EQ(cheapest_cluster(all), 0U);
  EXPECT_EQ(largest_cluster(all), 2U);
  all[1].price = all[0].price;
  all[1].workers = 16;
  EXPECT_EQ(cheapest_cluster(all), 1U);
  EXPECT_EQ(largest_cluster(all), 1U);
}

// 400 hours where 300 were allowed count as 500, at 2 dollars an hour.
TEST(ChargedCost, ChargesTimePastTheDeadlineTwice) {
  EXPECT_NEAR(charged_cost(three()[0], 300 * kHour).in(kDollar), 1000, 1e-9);
  EXPECT_NEAR(charged_cost(three()[0], 400 * kHour).in(kDollar), 800, 1e-9);
}

// Within 200 hours the best costs 400 dollars. Three VMs take all of it and cost 600; two VMs take
// 400 hours, are charged 600 of them, and cost 1200.
TEST(TryPlan, ComparesWithTheBestThatReallyKeepsTheDeadline) {
  const auto kept = try_plan(three(), 1, 200 * kHour);
  EXPECT_TRUE(kept.met);
  EXPECT_NEAR(kept.regret, 0.5, 1e-12);
  const auto missed = try_plan(three(), 0, 200 * kHour);
  EXPECT_FALSE(missed.met);
  EXPECT_NEAR(missed.regret, 2, 1e-12);
  EXPECT_NEAR(try_plan(three(), 2, 200 * kHour).regret, 0, 1e-12);
}

// One VM takes 101 hours where 100 are allowed: 102 dollars, against 200 of two VMs that keep it.
TEST(TryPlan, MayRegretLessThanNothing) {
  const std::vector<PlanCandidate> two{{.price = kRate, .measured = 101 * kHour},
                                       {.price = 2 * kRate, .measured = 100 * kHour}};
  const auto trial = try_plan(two, 0, 100 * kHour);
  EXPECT_FALSE(trial.met);
  EXPECT_NEAR(trial.regret, -0.49, 1e-12);
}

// Known times have no regret and keep every deadline.
TEST(TryPlan, ASeerHasNoRegret) {
  constexpr int kSeed = 7;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  for (int round = 0; round < 50; ++round) {
    std::vector<PlanCandidate> candidates;
    std::vector<double> hours;
    for (int i = 0; i < 8; ++i) {
      hours.push_back(1 + random.below(1000));
      candidates.push_back({.price = (1 + random.below(8)) * kRate,
                            .workers = 1 + random.below(32),
                            .measured = hours.back() * kHour});
    }
    for (const Seconds deadline : plan_deadlines(candidates)) {
      const PlanGuesses known = guesses(hours, 0);
      for (const std::size_t chosen :
           {choose_sure(candidates, known, deadline, 0.95),
            choose_by_risk(candidates, known, deadline, miss_charge(0.95))}) {
        const PlanTrial trial = try_plan(candidates, chosen, deadline);
        EXPECT_TRUE(trial.met);
        EXPECT_NEAR(trial.regret, 0, 1e-12);
      }
    }
  }
}

// Of 0.9 and 0.94 one is kept; 1 belongs to the last bin, 0.99 begins it.
TEST(Reliability, ComparesPromisesWithWhatHappened) {
  const std::vector<Promise> promises{{0.9, true}, {0.94, false}, {1, true}, {0.99, true}};
  const auto bins = reliability(promises);
  ASSERT_EQ(bins.size(), 2U);
  EXPECT_EQ(bins[0].from, 0.9);
  EXPECT_EQ(bins[0].to, 0.95);
  EXPECT_EQ(bins[0].n, 2);
  EXPECT_NEAR(bins[0].promised, 0.92, 1e-12);
  EXPECT_NEAR(bins[0].kept, 0.5, 1e-12);
  EXPECT_EQ(bins[1].to, 1);
  EXPECT_EQ(bins[1].n, 2);
  EXPECT_NEAR(bins[1].promised, 0.995, 1e-12);
  EXPECT_EQ(bins[1].kept, 1);
  EXPECT_TRUE(reliability({}).empty());
}

// Regrets 0, 0.1 and 0.5: mean 0.2; the 0.9 quantile lies at position 1.8: 0.1 + 0.8 · 0.4.
TEST(ScorePlans, AveragesByJobAndOverAll) {
  const std::vector<PlanTrial> trials{
      {.job = "a", .regret = 0.5, .met = true}, {.job = "b"}, {.job = "a", .regret = 0.1}};
  const PolicyScores scores = score_policy(trials);
  EXPECT_EQ(scores.overall.n, 3);
  EXPECT_NEAR(scores.overall.mean_regret, 0.2, 1e-12);
  EXPECT_NEAR(scores.overall.p90_regret, 0.42, 1e-12);
  EXPECT_NEAR(scores.overall.deadlines_met, 1.0 / 3, 1e-12);
  ASSERT_EQ(scores.jobs.size(), 2U);
  EXPECT_NEAR(scores.jobs.at("a").mean_regret, 0.3, 1e-12);
  EXPECT_NEAR(scores.jobs.at("a").deadlines_met, 0.5, 1e-12);
  EXPECT_EQ(score_plans({}).n, 0);
}

}  // namespace
}  // namespace stint
