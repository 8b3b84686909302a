#include "solver/random_effects.h"

#include <array>
#include <cmath>
#include <gtest/gtest.h>

#include "base/random.h"

namespace stint {
namespace {

// Two observations of 1 with variance 0.5 and a prior of variance 1: precision 2/0.5 + 1 = 5, mean
// (2/0.5) / 5 = 0.8. Worked by hand.
TEST(RandomEffects, MatchesHandComputedCase) {
  const Observation one{.shares = {{.unknown = 0}}, .value = 1};
  const auto fitted = fit_random_effects({.kind_of = {0},
                                          .observations = {one, one},
                                          .believed = {.kinds = {1}, .noises = {0.5}},
                                          .held = true});
  const std::array<EffectShare, 1> share{{{.unknown = 0}}};
  EXPECT_NEAR(fitted.mean(share), 0.8, 1e-12);
  EXPECT_NEAR(fitted.variance(share), 0.2, 1e-12);
}

// y = a + 2b = 3 with variance 1, a and b of variance 1 and 4: the sum's prior variance is
// 1 + 16 = 17, the gain 17/18, a = 3 · 1/18, b = 3 · 8/18, and what is left of the sum 17/18.
TEST(RandomEffects, SharesASumOutByVariance) {
  const auto fitted =
      fit_random_effects({.kind_of = {0, 1},
                          .observations = {{.shares = {{0, 1}, {1, 2}}, .value = 3}},
                          .believed = {.kinds = {1, 4}, .noises = {1}},
                          .held = true});
  EXPECT_NEAR(fitted.mean(std::array<EffectShare, 1>{{{0, 1}}}), 3.0 / 18, 1e-12);
  EXPECT_NEAR(fitted.mean(std::array<EffectShare, 1>{{{1, 1}}}), 24.0 / 18, 1e-12);
  EXPECT_NEAR(fitted.variance(std::array<EffectShare, 2>{{{0, 1}, {1, 2}}}), 17.0 / 18, 1e-12);
}

// With one round of learning: V = 0.2, m = 0.8, so that v = (0.64 + 0.2 + 2 · 1) / 3, and
// s = (2 · (0.2² + 0.2) + 2 · 0.5) / 4.
TEST(RandomEffects, LearnsVariancesByExpectationMaximisation) {
  const Observation one{.shares = {{.unknown = 0}}, .value = 1};
  const auto fitted = fit_random_effects({.kind_of = {0},
                                          .observations = {one, one},
                                          .believed = {.kinds = {1}, .noises = {0.5}},
                                          .rounds = 1});
  EXPECT_NEAR(fitted.variances().kinds[0], 2.84 / 3, 1e-12);
  EXPECT_NEAR(fitted.variances().noises[0], 1.48 / 4, 1e-12);
}

TEST(RandomEffects, AnUnknownThatNothingObservesKeepsItsPrior) {
  const auto fitted = fit_random_effects({.kind_of = {0, 0},
                                          .observations = {{.shares = {{0, 1}}, .value = 1}},
                                          .believed = {.kinds = {0.3}, .noises = {0.1}},
                                          .held = true});
  const std::array<EffectShare, 1> other{{{1, 2}}};
  EXPECT_EQ(fitted.mean(other), 0);
  EXPECT_NEAR(fitted.variance(other), 4 * 0.3, 1e-12);
}

TEST(RandomEffects, AnObservationFarOffCountsLittle) {
  RandomEffects problem{.kind_of = {0}, .believed = {.kinds = {1000}, .noises = {0.01}}};
  for (int i = 0; i < 9; ++i) {
    problem.observations.push_back({.shares = {{0, 1}}, .value = 1 + 0.01 * (i - 4)});
  }
  problem.observations.push_back({.shares = {{0, 1}}, .value = 5});
  const std::array<EffectShare, 1> share{{{0, 1}}};
  EXPECT_NEAR(fit_random_effects(problem).mean(share), 1.4, 0.01);
  problem.freedom = 4;
  EXPECT_NEAR(fit_random_effects(problem).mean(share), 1.0, 0.05);
}

TEST(RandomEffects, ALowerBoundPullsUpOnly) {
  RandomEffects problem{.kind_of = {0}, .believed = {.kinds = {1}, .noises = {0.01}}, .held = true};
  for (int i = 0; i < 4; ++i) problem.observations.push_back({.shares = {{0, 1}}, .value = 1});
  const std::array<EffectShare, 1> share{{{0, 1}}};
  const double without = fit_random_effects(problem).mean(share);
  problem.observations.push_back({.shares = {{0, 1}}, .value = 0.5, .at_least = true});
  EXPECT_NEAR(fit_random_effects(problem).mean(share), without, 0.01);
  problem.observations.back().value = 2;
  EXPECT_GT(fit_random_effects(problem).mean(share), without + 0.1);
}

// 40 groups of spread 0.5 seen 5 times each with noise 0.2, beside a kind that has no effect.
TEST(RandomEffects, FindsWhichKindMatters) {
  Random random(7);
  RandomEffects problem{.believed = {.kinds = {0.1, 0.1}, .noises = {0.1}}, .rounds = 40};
  for (std::size_t group = 0; group < 40; ++group) {
    problem.kind_of.push_back(0);
    problem.kind_of.push_back(1);
    const double effect = 0.5 * random.normal();
    for (int i = 0; i < 5; ++i) {
      problem.observations.push_back(
          {.shares = {{2 * group, 1}, {2 * ((group + static_cast<std::size_t>(i)) % 40) + 1, 1}},
           .value = effect + 0.2 * random.normal()});
    }
  }
  const EffectVariances variances = fit_random_effects(problem).variances();
  EXPECT_NEAR(std::sqrt(variances.kinds[0]), 0.5, 0.15);
  EXPECT_LT(std::sqrt(variances.kinds[1]), 0.15);
  EXPECT_NEAR(std::sqrt(variances.noises[0]), 0.2, 0.05);
}

}  // namespace
}  // namespace stint
