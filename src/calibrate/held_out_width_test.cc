#include "calibrate/held_out_width.h"

#include <cmath>
#include <gtest/gtest.h>

namespace stint {
namespace {

constexpr LogSpread kSpread{.below = 0.1, .above = 0.2};

// Errors of -1 to 1 in steps of 0.1: one in ten of the 21 lies beyond 0.9 on each side, as two of
// them are not more than a tenth and three are: the third from the end is 0.8. Over the reaches of
// 0.1 · 1.2816 and 0.2 · 1.2816 that is 6.242 and 3.121. One group counts as much as the prior, so
// the factors are the square roots.
TEST(HeldOutErrors, LeaveOneInTenRowsBeyondEachSide) {
  HeldOutErrors errors;
  for (int i = -10; i <= 10; ++i) errors.add(0.1 * i, kSpread, 21);
  const LogSpread factors = errors.factors(1);
  EXPECT_NEAR(factors.below, std::sqrt(0.8 / 0.12815515655), 1e-6);
  EXPECT_NEAR(factors.above, std::sqrt(0.8 / 0.2563103131), 1e-6);
}

// A group of a single row that is far off counts as much as one of a hundred that are not: half of
// the weight lies beyond.
TEST(HeldOutErrors, EveryGroupCountsTheSame) {
  HeldOutErrors errors;
  for (int i = 0; i < 100; ++i) errors.add(0.01, kSpread, 100);
  errors.add(1, kSpread, 1);
  EXPECT_NEAR(errors.factors(1000000).above, 1 / 0.2563103131, 1e-3);
}

// All rows are an upward 0.5 of the reach: alone, one group weighs 1/2, and to narrow with the
// weight of four of belief 1/5: 0.5^0.2 = 0.871. Twice the reach widens by √2 either way.
TEST(HeldOutErrors, AFewGroupsHardlyNarrow) {
  const auto above_of = [](double reach, double narrowing) {
    HeldOutErrors errors;
    errors.add(reach * kEightInTen * kSpread.above, kSpread, 1);
    return errors.factors(1, 1, narrowing).above;
  };
  EXPECT_NEAR(above_of(0.5, 1), std::sqrt(0.5), 1e-9);
  EXPECT_NEAR(above_of(0.5, 4), 0.8706, 1e-4);
  EXPECT_NEAR(above_of(2, 1), std::sqrt(2.0), 1e-9);
  EXPECT_NEAR(above_of(2, 4), std::sqrt(2.0), 1e-9);
}

TEST(HeldOutErrors, NothingHeldOutChangesNothing) {
  EXPECT_EQ(HeldOutErrors().factors(3).above, 1);
  EXPECT_EQ(HeldOutErrors().factors(0, 0.9).below, 0.9);
}

TEST(HeldOutErrors, AnIntervalNeverVanishes) {
  HeldOutErrors errors;
  errors.add(0, kSpread, 1);
  EXPECT_GE(errors.factors(100).below, 0.05);
}

}  // namespace
}  // namespace stint
