#include "calibrate/device/named_effects.h"

#include <cmath>
#include <gtest/gtest.h>

namespace stint {
namespace {

TEST(NamedEffects, RecoversASlopeAndAnEffect) {
  NamedEffects effects({100, 1, 0.1}, 1e-4);
  for (int i = 0; i < 20; ++i) {
    const double x = 0.1 * i;
    const bool odd = i % 2 == 1;
    effects.add({{0, "level"}, {1, "slope", x}, {2, odd ? "odd" : "even"}},
                3 + 0.7 * x + (odd ? 0.2 : -0.2));
  }
  effects.fit();
  EXPECT_NEAR(effects.estimate({{0, "level"}, {1, "slope", 3}, {2, "odd"}}).mean, 3 + 2.1 + 0.2,
              0.02);
}

TEST(NamedEffects, AnUnseenNameIsZeroWithTheVarianceOfItsKind) {
  NamedEffects effects({100, 0.25}, 1e-4);
  for (int i = 0; i < 50; ++i) effects.add({{0, "level"}}, 2);
  effects.fit();
  const LogEstimate seen = effects.estimate({{0, "level"}});
  const LogEstimate unseen = effects.estimate({{0, "level"}, {1, "new", 2}});
  EXPECT_NEAR(unseen.mean, 2, 1e-3);
  // Twice an unknown of variance 0.25 adds a variance of 1.
  EXPECT_NEAR(unseen.deviation * unseen.deviation - seen.deviation * seen.deviation, 1, 1e-9);
}

}  // namespace
}  // namespace stint
