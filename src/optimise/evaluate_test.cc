#include "optimise/evaluate.h"

#include <cmath>
#include <gtest/gtest.h>
#include <utility>
#include <vector>

#include "optimise/optimise_fixture.h"
#include "optimise/search_fixture.h"
#include "predict/predictor.h"

namespace stint {
namespace {

// Two T4s with 32 samples each: 32 · 3 + 2 = 98 ms, 36,000 times: 0.98 h, at 2 · 1 USD/h.
TEST(Evaluator, MatchesHandComputedCase) {
  const PolicyFixture fixture;
  const SearchFixture search(fixture.question);
  const Config config{.parts = {Part{search.rental("slow.1"), 2, 1}}};
  const Outcome outcome = search.found(config).outcome;
  EXPECT_NEAR(outcome.iteration.in(kMillisecond), 98, 1e-2);
  EXPECT_NEAR(outcome.time.in(kHour), 0.98, 1e-4);
  EXPECT_NEAR(outcome.cost.in(kDollar), 1.96, 2e-4);
  EXPECT_DOUBLE_EQ(search.evaluator.rate(config).in(kDollar / kHour), 2);
}

TEST(Evaluator, SaysWhatThePredictorSays) {
  PolicyFixture fixture;
  fixture.predict.job.gradient_bytes = 100 * kMB;  // Communication shows.
  fixture.question.work.choices[0].deviation = 0.3;
  const SearchFixture search(fixture.question);
  const int slow = search.rental("slow.1");
  const int four = search.rental("slow.4");
  const int fast = search.rental("fast.1");
  const std::vector<std::pair<const char*, Config>> cases = {
      {"1x slow.1", {.parts = {Part{slow, 1, 1}}, .accumulation = 2}},
      {"3x slow.4", {.parts = {Part{four, 3, 2}}}},
      {"3x slow.4", {.parts = {Part{four, 3, 4}}, .collective = Collective::kHierarchical}},
      {"2x slow.1 + 1x fast.1", {.parts = {Part{slow, 2, 1}, Part{fast, 1, 1}}, .kinds = 2}},
      {"1x fast.1 + 2x slow.4",
       {.parts = {Part{fast, 1, 1}, Part{four, 2, 4}}, .kinds = 2, .accumulation = 4}}};
  for (const auto& [cluster, config] : cases) {
    SCOPED_TRACE(cluster);
    PredictOptions options{
        .global_batch = 64, .accumulation = config.accumulation, .collective = config.collective};
    for (const Part& part : config.used()) {
      options.group_workers_per_vm.push_back(part.workers_per_vm);
    }
    const auto resolved = fixture.predict.resolved(cluster, options);
    ASSERT_TRUE(resolved.ok()) << resolved.error().message;
    const auto predicted = predict(fixture.predict.context(), *resolved, step_parts);
    const IterationTime& iteration = predicted.prediction.iteration;
    const Found found = search.found(config);
    EXPECT_NEAR(found.outcome.iteration / iteration.mean, 1, 1e-12);
    const double own = std::log(iteration.p90 / iteration.mean) / kEightInTen;
    EXPECT_NEAR(search.evaluator.deviation(config, found.outcome), std::hypot(own, 0.3), 1e-9);
    const auto same = search.evaluator.iteration(config, fixture.predict.law.fabric, JobLaw{});
    EXPECT_NEAR(same / iteration.mean, 1, 1e-12);
  }
}

// 64 samples in 16 micro-steps are 4 for each step, and 5 workers want at least 5.
TEST(Evaluator, HasNothingWhereAWorkerHasNoSample) {
  PolicyFixture fixture;
  fixture.question.constraints.vms_max = 5;
  const SearchFixture search(fixture.question);
  Config config{.parts = {Part{search.rental("slow.1"), 4, 1}}, .accumulation = 16};
  EXPECT_TRUE(search.evaluator.outcome(config));
  config.parts[0].vms = 5;
  EXPECT_FALSE(search.evaluator.outcome(config));
}

// 4 GB of memory hold 21 samples (see space_test.cc): 32 are too many, 16 in each of two steps fit.
TEST(Evaluator, HasNothingWhereMemoryIsTooSmall) {
  PolicyFixture fixture;
  fixture.predict.catalog.gpus[0].memory = 4 * kGB;
  fixture.question.work.choices.push_back({.global_batch = 68});
  const SearchFixture search(fixture.question);
  Config config{.parts = {Part{search.rental("slow.1"), 2, 1}}};
  EXPECT_FALSE(search.evaluator.outcome(config));
  config.accumulation = 2;
  EXPECT_TRUE(search.evaluator.outcome(config));
  // Beside fast.1, which takes two thirds of the 64 samples, slow.1 has 21. One more is too many.
  config = {.parts = {Part{search.rental("fast.1"), 1, 1}, Part{search.rental("slow.1"), 1, 1}},
            .kinds = 2};
  EXPECT_TRUE(search.evaluator.outcome(config));
  config.choice = 1;
  EXPECT_FALSE(search.evaluator.outcome(config));
}

// 64 samples on two T4s are 32 for each; 16 and 64 were measured, in proportion.
TEST(Evaluator, MicroStepsNeedAReason) {
  PolicyFixture fixture;
  const auto right = [&](int vms, int accumulation) {
    const SearchFixture search(fixture.question);
    return search.evaluator.accumulates_rightly(
        {.parts = {Part{search.rental("slow.1"), vms, 1}}, .accumulation = accumulation});
  };
  EXPECT_TRUE(right(2, 1));
  EXPECT_FALSE(right(2, 2));
  // 4 GB of memory hold 21 samples: two micro-steps are needed, four are not.
  fixture.predict.catalog.gpus[0].memory = 4 * kGB;
  EXPECT_TRUE(right(2, 2));
  EXPECT_FALSE(right(2, 4));
  fixture.predict.catalog.gpus[0].memory = 16 * kGB;
  // 600 ms at 64 but 48 ms at 16: two times 32 take 2 · (48 + 552/3) = 464 ms, four times 16 take
  // 192 ms, and eight times 8 were not measured.
  fixture.predict.job.compute[1].backward.median = 536 * kMillisecond;
  EXPECT_TRUE(right(1, 2));
  EXPECT_TRUE(right(1, 4));
  EXPECT_FALSE(right(1, 8));
}

TEST(Evaluator, AccumulatesInDivisorsOfTheBatch) {
  PolicyFixture fixture;
  fixture.question.work.choices = {{.global_batch = 12}, {.global_batch = 134}};
  const SearchFixture search(fixture.question);
  EXPECT_EQ(search.evaluator.accumulations(0), (std::vector<int>{1, 2, 3, 4, 6, 12}));
  EXPECT_EQ(search.evaluator.accumulations(1), (std::vector<int>{1, 2}));  // 67 is above 64.
}

TEST(Evaluator, IsNeverSurerThanItsLeastDeviation) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    const RandomCase random(seed);
    const PlanQuestion question = random.question();
    const SearchFixture search(question);
    for (std::size_t i = 0; i < search.space.rentals.size(); ++i) {
      const auto rental = static_cast<int>(i);
      for (int vms = 1; vms <= search.space.machine_of(rental).vms_max; ++vms) {
        const Config config{.parts = {Part{rental, vms, 1}}};
        const auto outcome = search.evaluator.outcome(config);
        if (!outcome) continue;
        EXPECT_LE(search.evaluator.deviation_min(0), search.evaluator.deviation(config, *outcome));
      }
    }
  }
}

// A floor of 0.03, three times as high for a noisy job, and 0.12 of the iterations: √(0.09² +
// 0.12²) = 0.15.
TEST(Evaluator, LeastDeviationIsThatOfNoiseAndIterations) {
  PolicyFixture fixture;
  fixture.question.work.choices[0].deviation = 0.12;
  fixture.predict.law.jobs["small"] = {.noise = 3, .gradients = 1 * kKB};
  const SearchFixture search(fixture.question);
  EXPECT_NEAR(search.evaluator.deviation_min(0), 0.15, 1e-12);
}

// On demand 1 and 3 USD/h are shares of 1/4 and 3/4: 0.3 √(1/16 + 9/16) = 0.237171.
TEST(Evaluator, PricesOfDifferentTypesMoveByThemselves) {
  PolicyFixture fixture;
  fixture.age_prices(0.5, 0.3);
  const SearchFixture search(fixture.question);
  const Config both{
      .parts = {Part{search.rental("slow.1"), 1, 1}, Part{search.rental("fast.1"), 1, 1}},
      .kinds = 2};
  EXPECT_NEAR(search.evaluator.price_deviation(search.found(both)), 0.237171, 1e-6);
  const Config one{.parts = {Part{search.rental("slow.1"), 3, 1}}};
  EXPECT_NEAR(search.evaluator.price_deviation(search.found(one)), 0.3, 1e-9);
}

// √(0.4² + 0.3²) = 0.5, and e^(1.2815516 · 0.5) = 1.89796; the time itself has e^(1.2815516 · 0.4)
// = 1.66966.
TEST(Evaluator, CostsAreAsUncertainAsTimeAndPrices) {
  PolicyFixture fixture;
  fixture.age_prices(0.5, 0.3);
  const SearchFixture search(fixture.question);
  const Found found = search.found({.parts = {Part{search.rental("slow.1"), 1, 1}}});
  const Dollars cost = search.evaluator.cost_at(found, 0.9, 0.4);
  EXPECT_NEAR(cost / found.outcome.cost, 1.89796, 1e-4);
  EXPECT_NEAR(search.evaluator.p_within(found, cost, 0.4), 0.9, 1e-6);
  EXPECT_NEAR(search.evaluator.time_at(found, 0.9, 0.4) / found.outcome.time, 1.66966, 1e-4);
}

// Half of the time is start-up, which work does not change but prices do: the time to 90 % is 1 +
// e^(1.2815516 · 2 · 0.1) = 2.29217 of work, where 2 e^(0.12815516) = 2.27346 is exact.
TEST(Evaluator, PricesCountForStartUpToo) {
  PolicyFixture fixture;
  fixture.age_prices(0, 0.1);
  const Seconds work =
      SearchFixture(fixture.question)
          .found({.parts = {Part{SearchFixture(fixture.question).rental("slow.1"), 1, 1}}})
          .outcome.work;
  fixture.question.outlook.on_demand_start_up = {.mean = work, .deviation = {}};
  const SearchFixture search(fixture.question);
  const Found found = search.found({.parts = {Part{search.rental("slow.1"), 1, 1}}});
  EXPECT_NEAR(search.evaluator.cost_at(found, 0.9, 0) / found.outcome.cost, 2.29217 / 2, 1e-4);
}

TEST(Evaluator, PricesOfTheEmulatedCloudAreKnown) {
  PolicyFixture fixture;
  fixture.age_prices(0.5, 0.3);
  for (VmType& type : fixture.predict.catalog.types) type.provider = "local";
  fixture.question.constraints.providers = {"local"};
  const SearchFixture search(fixture.question);
  const Found found = search.found({.parts = {Part{search.rental("slow.1"), 1, 1}}});
  EXPECT_EQ(search.evaluator.price_deviation(found), 0);
}

// The mean itself is kept half of the time, one deviation above it 84 % of the time.
TEST(ProbabilityWithin, IsThatOfALogNormal) {
  EXPECT_DOUBLE_EQ(probability_within(1, 0.2), 0.5);
  EXPECT_NEAR(probability_within(std::exp(0.2), 0.2), 0.841345, 1e-6);
  EXPECT_NEAR(probability_within(std::exp(-0.2), 0.2), 0.158655, 1e-6);
  EXPECT_EQ(probability_within(0, 0.2), 0);
  EXPECT_EQ(probability_within(1, 0), 1);
  EXPECT_EQ(probability_within(0.999, 0), 0);
}

}  // namespace
}  // namespace stint
