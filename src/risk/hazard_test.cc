#include "risk/hazard.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace stint {
namespace {

PerSecond per_hour(double losses) { return losses / kHour; }

// A tenth of the machines an hour at first, none from the second hour to the third, then two.
Hazard bathtub() {
  return Hazard({{Seconds(), per_hour(0.1)}, {2 * kHour, per_hour(0)}, {3 * kHour, per_hour(2)}});
}

TEST(Hazard, IntegratesItsSteps) {
  EXPECT_DOUBLE_EQ(bathtub().cumulative(Seconds()), 0);
  EXPECT_DOUBLE_EQ(bathtub().cumulative(1 * kHour), 0.1);
  EXPECT_DOUBLE_EQ(bathtub().cumulative(2.5 * kHour), 0.2);
  EXPECT_DOUBLE_EQ(bathtub().cumulative(4 * kHour), 2.2);
  EXPECT_DOUBLE_EQ(bathtub().survival(4 * kHour), std::exp(-2.2));
  EXPECT_DOUBLE_EQ(bathtub().survival_from(1 * kHour, 1 * kHour), std::exp(-0.1));
  EXPECT_DOUBLE_EQ(bathtub().rate(2 * kHour).in(1 / kHour), 0);
  EXPECT_DOUBLE_EQ(bathtub().rate(9 * kHour).in(1 / kHour), 2);
}

TEST(Hazard, TellsTheAgeAtWhichSoMuchRateHasGathered) {
  for (const double amount : {0.0, 0.05, 0.2, 0.7, 2.2}) {
    EXPECT_NEAR(bathtub().cumulative(bathtub().age_at(amount)), amount, 1e-12) << amount;
  }
  EXPECT_EQ(Hazard::constant(PerSecond()).age_at(0.1),
            std::numeric_limits<double>::infinity() * kSecond);
}

// A constant rate r lives (1 − e^(−rt))/r until t.
TEST(Hazard, KnowsTheMeanLifetime) {
  EXPECT_NEAR(Hazard::constant(per_hour(0.5)).mean_until(4 * kHour).in(kHour),
              2 * (1 - std::exp(-2)), 1e-12);
  EXPECT_DOUBLE_EQ(Hazard::constant(PerSecond()).mean_until(4 * kHour).in(kHour), 4);
  const double first = (1 - std::exp(-0.2)) / 0.1;
  const double rest = std::exp(-0.2) * (1 + (1 - std::exp(-2)) / 2);
  EXPECT_NEAR(bathtub().mean_until(4 * kHour).in(kHour), first + rest, 1e-12);
}

// A constant rate is its own; a machine that dies at once half of the time, and never else, is lost
// once in two lives of ten hours: half a loss in five hours and a bit.
TEST(Hazard, KnowsHowOftenMachinesThatAreReplacedAreLost) {
  EXPECT_NEAR(Hazard::constant(per_hour(0.5)).renewal_rate(9 * kHour).in(1 / kHour), 0.5, 1e-12);
  const Hazard early({{Seconds(), per_hour(100 * std::log(2))}, {0.01 * kHour, per_hour(0)}});
  EXPECT_NEAR(early.renewal_rate(10 * kHour).in(1 / kHour), 0.5 / 5, 1e-3);
}

}  // namespace
}  // namespace stint
