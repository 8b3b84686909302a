#include "optimise/bounds.h"

#include <gtest/gtest.h>

#include "optimise/optimise_fixture.h"

namespace stint {
namespace {

/// Times of batches 1, 2, ….
std::vector<BatchTime> seconds(const std::vector<double>& values) {
  std::vector<BatchTime> points;
  for (const double value : values) {
    points.push_back({static_cast<double>(points.size() + 1), value * kSecond});
  }
  return points;
}

// 3 + 2b is its own support.
TEST(SupportBelow, IsTheLineItself) {
  const Support support = support_below(seconds({5, 7, 9, 11}));
  EXPECT_DOUBLE_EQ(support.fixed.in(kSecond), 3);
  EXPECT_DOUBLE_EQ(support.per_sample.in(kSecond), 2);
}

// 1, 4, 9: the edge from 1 to 4 has slope 3 and would start at −2, so the line through the origin
// and (1, 1) it is.
TEST(SupportBelow, NeverStartsBelowZero) {
  const Support support = support_below(seconds({1, 4, 9}));
  EXPECT_DOUBLE_EQ(support.fixed.in(kSecond), 0);
  EXPECT_DOUBLE_EQ(support.per_sample.in(kSecond), 1);
}

TEST(SupportBelow, OfAFlatCurveIsFlat) {
  const Support support = support_below(seconds({2, 2, 2}));
  EXPECT_DOUBLE_EQ(support.fixed.in(kSecond), 2);
  EXPECT_NEAR(support.per_sample.in(kSecond), 0, 1e-100);
}

// Three workers at 1 s + 2 s a sample and two at 1 s a sample: by 3 s the three have 1 sample each
// and the two have 3 each, 9 in all; by 4 s 3 + 8 = 11; by 5 s 6 + 10 = 16.
TEST(WholeSamplesTime, MatchesHandComputedCase) {
  const std::vector<Pacing> kinds = {{.workers = 3, .start = 1, .per_sample = 2},
                                     {.workers = 2, .start = 0, .per_sample = 1}};
  EXPECT_DOUBLE_EQ(whole_samples_time(kinds, 9, 2.5), 3);
  EXPECT_DOUBLE_EQ(whole_samples_time(kinds, 10, 2.5), 4);
  EXPECT_DOUBLE_EQ(whole_samples_time(kinds, 11, 2.5), 4);
  EXPECT_DOUBLE_EQ(whole_samples_time(kinds, 12, 2.5), 5);
}

// What is enough already takes no longer; rounding of a whole number is no step.
TEST(WholeSamplesTime, StaysWhereEnoughIsDone) {
  const std::vector<Pacing> kinds = {{.workers = 4, .start = 0, .per_sample = 0.1}};
  EXPECT_DOUBLE_EQ(whole_samples_time(kinds, 12, 0.3 * (1 - 1e-12)), 0.3 * (1 - 1e-12));
  EXPECT_DOUBLE_EQ(whole_samples_time(kinds, 12, 0.35), 0.35);
}

// (3² + 4²)^(1/2) = 5.
TEST(SoftMaximum, IsFromBelow) {
  const SoftMaximum soft(2);
  EXPECT_LE(soft(3, 4), 5);
  EXPECT_GT(soft(3, 4), 0.999 * 5);
  EXPECT_EQ(soft(4, 3), soft(3, 4));
  EXPECT_EQ(soft(0, 4), 4);
  EXPECT_EQ(soft(0, 0), 0);
}

/// Every configuration of at most two VMs of each rental.
template <class Visit>
void for_each_config(const Evaluator& evaluator, Visit visit) {
  const Space& space = evaluator.space();
  const auto rentals = static_cast<int>(space.rentals.size());
  for (int a = 0; a < rentals; ++a) {
    for (int b = a; b < rentals; ++b) {
      const bool two = b > a;
      const int most = two ? 2 : space.machine_of(a).vms_max;
      if (two && (space.machine_of(a).vms_max < 4 || space.machine_of(b).vms_max < 4)) continue;
      for (int n = 1; n <= most; ++n) {
        for (const int w : space.machine_of(a).worker_choices) {
          for (const int v : space.machine_of(b).worker_choices) {
            Config config{.parts = {Part{a, n, w}, Part{b, 3 - n, v}}, .kinds = two ? 2 : 1};
            const auto choices = static_cast<int>(evaluator.question().work.choices.size());
            for (config.choice = 0; config.choice < choices; ++config.choice) {
              for (const int m : evaluator.accumulations(config.choice)) {
                config.accumulation = m;
                visit(config);
              }
            }
          }
        }
      }
    }
  }
}

TEST(Bounds, AreNeverAboveWhatIsPredicted) {
  std::int64_t compared = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const RandomCase random(seed);
    const PlanQuestion question = random.question();
    const auto space = plan_space(question);
    ASSERT_TRUE(space.ok());
    const Evaluator evaluator(question, *space);
    const Bounds bounds(evaluator);
    for_each_config(evaluator, [&](const Config& config) {
      const auto outcome = evaluator.outcome(config);
      if (!outcome) return;
      const int batch = evaluator.choice_of(config).global_batch;
      ASSERT_LE(bounds.iteration(bounds.of_cluster(config.used(), batch, config.accumulation)),
                outcome->iteration);
      ++compared;
      if (config.kinds == 2) {
        Bounds::Parts least = bounds.of_cluster(config.used(), batch, config.accumulation);
        EXPECT_LE(least.synchronisation, bounds.synchronisation(config.used()));
        least.synchronisation = bounds.synchronisation(config.used());
        ASSERT_LE(bounds.iteration(least), outcome->iteration);
        return;
      }
      const Part& part = config.parts[0];
      const int workers = part.vms * part.workers_per_vm;
      const int per_worker = (batch / config.accumulation + workers - 1) / workers;
      ASSERT_LE(bounds.iteration(bounds.of_equal(part, per_worker, config.accumulation,
                                                 bounds.synchronisation(part))),
                outcome->iteration);
    });
  }
  EXPECT_GT(compared, 1000);
}

}  // namespace
}  // namespace stint
