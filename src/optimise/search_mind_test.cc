#include "optimise/search_mind.h"

#include <cmath>
#include <gtest/gtest.h>

namespace stint {
namespace {

std::vector<PredictedSetup> four_setups() {
  return {{.time = 1 * kSecond, .deviation = 0.2, .types = {1, 0}, .workers = 1, .batch = 32},
          {.time = 2 * kSecond, .deviation = 0.2, .types = {1, 0}, .workers = 2, .batch = 32},
          {.time = 3 * kSecond, .deviation = 0.2, .types = {0, 1}, .workers = 1, .batch = 32},
          {.time = 4 * kSecond, .deviation = 0.0, .types = {0, 1}, .workers = 1, .batch = 64}};
}

TEST(PredictedTimes, BeginsWithThePredictionsAndTheirDeviations) {
  const PredictedTimes times(four_setups());
  EXPECT_DOUBLE_EQ(times.belief().mean[1], std::log(2.0));
  EXPECT_NEAR(times.belief().variance(0), 0.04, 1e-12);
  EXPECT_NEAR(times.belief().variance(3), 0.0025, 1e-12);  // Not surer than kDeviationMin.
  // Of one type, twice the machines: 0.04 (0.4 + 0.3 + 0.3 / 2) = 0.034; of two: 0.04 x 0.4.
  EXPECT_NEAR(times.belief().between(0, 1), 0.034, 1e-12);
  EXPECT_NEAR(times.belief().between(0, 2), 0.016, 1e-12);
}

// 1.5 s instead of 1: ln 1.5 = 0.4055. The second follows with 0.034/(0.04 + 0.0001) = 0.848 of
// that, the third with 0.016/0.0401 = 0.399.
TEST(PredictedTimes, HowFarOneIsOffTellsOfTheOthers) {
  PredictedTimes times(four_setups());
  ASSERT_TRUE(times.learn(0, 1.5 * kSecond).ok());
  EXPECT_NEAR(times.belief().mean[0], std::log(1.5), 0.002);
  EXPECT_NEAR(times.belief().mean[1], std::log(2.0) + 0.848 * 0.4055, 0.001);
  EXPECT_NEAR(times.belief().mean[2], std::log(3.0) + 0.399 * 0.4055, 0.001);
  EXPECT_LT(times.belief().variance(0), 0.0002);
  EXPECT_NEAR(times.belief().variance(1), 0.04 - 0.034 * 0.034 / 0.0401, 1e-6);
}

TEST(PredictedTimes, ASetupThatIsTimedAgainIsAsItWasTimedLast) {
  PredictedTimes times(four_setups());
  ASSERT_TRUE(times.learn(0, 1.5 * kSecond).ok());
  ASSERT_TRUE(times.learn(0, 1 * kSecond).ok());
  EXPECT_NEAR(times.belief().mean[1], std::log(2.0), 1e-9);
}

/// Noise that no batch comes near to: a step is worth as many reference steps as it has samples
/// more.
NoisePrior loud() {
  NoisePrior prior;
  prior.mean.fill(std::log(1e6));
  prior.level_deviation = prior.shape_deviation = 0.01;
  return prior;
}

constexpr DollarsPerSecond kPrice = 0.001 * kDollar / kSecond;

/// One, two and four machines with the job's own batch, and four with twice that. Steps of 4, 2.2,
/// 1.5 and 2 s; a move takes 5 s.
SearchTerms four_places(SearchObjective objective) {
  SearchTerms terms{.objective = objective, .places = {}, .steps = 100, .noise = loud()};
  terms.reference_batch = 32;
  for (const int vms : {1, 2, 4, 4}) {
    const DollarsPerSecond rate = static_cast<double>(vms) * kPrice;
    terms.places.push_back(
        {.batch = 32, .rate = rate, .move_time = 5 * kSecond, .move_cost = rate * (5 * kSecond)});
  }
  terms.places.back().batch = 64;
  return terms;
}

std::unique_ptr<SetupTimes> four_times(double deviation = 0.1) {
  std::vector<PredictedSetup> setups;
  const double times[] = {4, 2.2, 1.5, 2};
  const int vms[] = {1, 2, 4, 4};
  for (int i = 0; i < 4; ++i) {
    setups.push_back({.time = times[i] * kSecond,
                      .deviation = deviation,
                      .workers = vms[i],
                      .batch = i == 3 ? 64 : 32});
  }
  return std::make_unique<PredictedTimes>(setups);
}

// 400 s with one machine; with four and twice the batch 50 steps of 2 s, 100 s.
TEST(SearchMind, TellsWhatEachSetupTakes) {
  const SearchMind mind(four_places(SearchObjective::kTime), four_times());
  const auto outlooks = mind.outlooks({});
  EXPECT_NEAR(outlooks[0].time.in(kSecond), 400, 8);  // A mean lies above the middle.
  EXPECT_NEAR(outlooks[0].cost.in(kDollar), 0.4, 0.008);
  EXPECT_NEAR(outlooks[3].steps, 50, 1);
  EXPECT_NEAR(outlooks[3].time.in(kSecond), 100, 3);
  EXPECT_NEAR(mind.outlooks({.way = 0.5})[0].time.in(kSecond), 200, 4);
}

TEST(SearchMind, GoesWhereItIsFastestOrCheapest) {
  const SearchMind fast(four_places(SearchObjective::kTime), four_times());
  EXPECT_EQ(fast.best({}), 3U);
  // 0.4, 0.44, 0.6 and 0.4 USD: the first or the last.
  const SearchMind cheap(four_places(SearchObjective::kCost), four_times());
  EXPECT_TRUE(cheap.best({}) == 0 || cheap.best({}) == 3) << cheap.best({});
  const SearchMove move = fast.next({});
  EXPECT_EQ(move.to, 3U);
  EXPECT_LT(move.rest, move.stay);
}

// What is left at the end does not pay for a move.
TEST(SearchMind, StaysNearTheEnd) {
  const SearchMind mind(four_places(SearchObjective::kTime), four_times(0.01));
  EXPECT_EQ(mind.next({.now = 1, .way = 0.95}).to, 1U);
}

TEST(SearchMind, LimitsRuleSetupsOut) {
  SearchTerms terms = four_places(SearchObjective::kCost);
  terms.time_max = 180 * kSecond;
  const SearchMind mind(std::move(terms), four_times(0.01));
  EXPECT_EQ(mind.best({}), 3U);  // Of the last two, which take 150 and 100 s, the cheaper.
  EXPECT_EQ(mind.next({}).to, 3U);
  // What nobody keeps rules nobody out.
  SearchTerms hopeless = four_places(SearchObjective::kCost);
  hopeless.time_max = 1 * kSecond;
  EXPECT_LT(SearchMind(std::move(hopeless), four_times()).best({}), 4U);
}

// The second is the cheapest and takes 220 s; to go there, the move and a tenth more must fit too:
// 247 s.
TEST(SearchMind, AMoveMustStayBelowLimitsByAMargin) {
  SearchTerms terms = four_places(SearchObjective::kCost);
  terms.places[1].rate = kPrice / 10;
  terms.time_max = 230 * kSecond;
  const SearchMind close(terms, four_times(0.01));
  EXPECT_EQ(close.best({}), 3U);
  EXPECT_EQ(close.best({.now = 1}), 1U);
  terms.time_max = 255 * kSecond;
  EXPECT_EQ(SearchMind(terms, four_times(0.01)).best({}), 1U);
}

TEST(SearchMind, WhatDoesNotFitIsLeftAndNotGoneTo) {
  SearchMind mind(four_places(SearchObjective::kTime), four_times());
  mind.rule_out(3);
  EXPECT_EQ(mind.best({}), 2U);
  EXPECT_EQ(mind.next({.now = 3}).to, 2U);
}

// The third may be twice as fast as the second or half as fast: worth a look, if one may.
TEST(SearchMind, ProbesWhatItMayPayForOnly) {
  SearchTerms terms{.objective = SearchObjective::kTime,
                    .places = {{.batch = 32, .rate = kPrice, .move_time = 2 * kSecond},
                               {.batch = 32, .rate = kPrice, .move_time = 2 * kSecond}},
                    .reference_batch = 32,
                    .steps = 1000,
                    .noise = loud(),
                    .probe_steps = 10};
  const auto times = [] {
    return std::make_unique<PredictedTimes>(
        std::vector<PredictedSetup>{{.time = 1 * kSecond, .deviation = 0.5, .types = {1, 0}},
                                    {.time = 1 * kSecond, .deviation = 0.5, .types = {0, 1}}});
  };
  const auto to = [&](SearchTerms asked) {
    SearchMind mind(std::move(asked), times());
    EXPECT_TRUE(mind.timed(0, 1 * kSecond).ok());
    return mind.next({}).to;
  };
  EXPECT_EQ(to(terms), 1U);
  terms.budget = 0.05;  // 14 s and more of 1000 s are a few percent.
  EXPECT_EQ(to(terms), 1U);
  terms.budget = 0.005;
  EXPECT_EQ(to(terms), 0U);
  terms.budget.reset();
  terms.probes = false;
  EXPECT_EQ(to(terms), 0U);
}

// Between the fastest (100 s, 1 USD) and the cheapest (400 s, 0.1 USD) lies one that is nearly as
// fast and nearly as cheap: (150 s, 0.2 USD): 50/300 + 0.1/0.9 = 0.28 against 1 at either end.
TEST(SearchMind, TheKneeLiesBetween) {
  SearchTerms terms{.objective = SearchObjective::kKnee,
                    .places = {{.batch = 32, .rate = 0.01 * kDollar / kSecond},
                               {.batch = 32, .rate = 0.2 / 150 * kDollar / kSecond},
                               {.batch = 32, .rate = 0.1 / 400 * kDollar / kSecond}},
                    .reference_batch = 32,
                    .steps = 100,
                    .noise = loud()};
  const SearchMind mind(
      std::move(terms),
      std::make_unique<PredictedTimes>(std::vector<PredictedSetup>{
          {.time = 1 * kSecond}, {.time = 1.5 * kSecond}, {.time = 4 * kSecond}}));
  EXPECT_EQ(mind.best({}), 1U);
}

TEST(SearchMind, NoiseMakesLargeBatchesWorthLess) {
  SearchMind mind(four_places(SearchObjective::kTime), four_times());
  const double before = mind.outlooks({})[3].steps;
  SearchTerms quiet = four_places(SearchObjective::kTime);
  quiet.noise.mean.fill(std::log(0.1));  // Φ is a tenth of the batch.
  const SearchMind other(std::move(quiet), four_times());
  EXPECT_NEAR(before, 50, 1);
  EXPECT_GT(other.outlooks({})[3].steps, 90);
}

}  // namespace

}  // namespace stint
