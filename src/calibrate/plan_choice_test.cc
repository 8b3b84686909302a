#include "calibrate/plan_choice.h"

#include <cmath>
#include <gtest/gtest.h>
#include <string>
#include <utility>

#include "base/random.h"
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

constexpr DollarsPerSecond kRate = 1 * kDollar / kHour;

/// Two, three and four VMs that take 400, 200 and 100 hours.
std::vector<PlanCandidate> three() {
  return {{.price = 2 * kRate, .workers = 8, .measured = 400 * kHour},
          {.price = 3 * kRate, .workers = 8, .measured = 200 * kHour},
          {.price = 4 * kRate, .workers = 16, .measured = 100 * kHour}};
}

/// Guesses of these hours, late by `factor`.
PlanGuesses guesses(const std::vector<double>& hours, double factor) {
  PlanGuesses all;
  for (const double it : hours) all.push_back(PlanGuess{it * kHour, factor * it * kHour});
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

// Guessed right, they cost 800, 600 and 400 dollars.
TEST(ChooseByGuess, TakesTheCheapestThatKeepsTheDeadline) {
  EXPECT_EQ(choose_by_guess(three(), guesses({400, 200, 100}, 1), 500 * kHour), 2U);
  EXPECT_EQ(choose_by_guess(three(), guesses({100, 200, 100}, 1), 500 * kHour), 0U);
}

// Late by a fifth they take 120, 108 and 96 hours, and cost 200, 270 and 320 dollars as guessed.
TEST(ChooseByGuess, AsksTheLateGuessForTheDeadlineAndTheTimeForTheCost) {
  EXPECT_EQ(choose_by_guess(three(), guesses({100, 90, 80}, 1.2), 110 * kHour), 1U);
  EXPECT_EQ(choose_by_guess(three(), guesses({100, 90, 80}, 1.2), 100 * kHour), 2U);
}

TEST(ChooseByGuess, TakesTheFastestGuessWhenNoneKeepsTheDeadline) {
  EXPECT_EQ(choose_by_guess(three(), guesses({400, 90, 100}, 1), 50 * kHour), 1U);
}

TEST(ChooseByGuess, LeavesOutWhatCannotBeGuessed) {
  PlanGuesses some = guesses({100, 200, 100}, 1);
  some[0].reset();
  EXPECT_EQ(choose_by_guess(three(), some, 500 * kHour), 2U);
  EXPECT_EQ(choose_by_guess(three(), PlanGuesses(3), 500 * kHour), 2U);
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
      const std::size_t chosen = choose_by_guess(candidates, guesses(hours, 1), deadline);
      const PlanTrial trial = try_plan(candidates, chosen, deadline);
      EXPECT_TRUE(trial.met);
      EXPECT_NEAR(trial.regret, 0, 1e-12);
    }
  }
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
