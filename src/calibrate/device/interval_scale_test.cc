#include "calibrate/device/interval_scale.h"

#include <cmath>
#include <gtest/gtest.h>

namespace stint {
namespace {

/// Adds ten errors of 0.5 to 5 deviations, of which eight do not exceed 4.
void add_ten(IntervalScales& scales, const std::string& unit, const std::string& job) {
  for (int i = 1; i <= 10; ++i) scales.add(unit, job, (i % 2 == 0 ? 0.5 : -0.5) * i);
}

TEST(IntervalScales, WithoutUnitsDeviationsAreBelieved) {
  EXPECT_EQ(IntervalScales().of("bert"), 1);
}

// Four units ask for 4 / 1.28155 = 3.1212; they count as much as the belief in 1, so rows of a job
// that was not held out get the square root, 1.7667.
TEST(IntervalScales, FewUnitsDecideLittle) {
  IntervalScales scales;
  for (const char* unit : {"A100", "L4", "L40", "A30"}) add_ten(scales, unit, "bert");
  EXPECT_NEAR(scales.of("resnet"), 1.7667, 1e-4);
}

// For the job itself the same four count again, half of what is left: 3.1212^(1/2 + 1/4).
TEST(IntervalScales, RowsOfTheJobTellMore) {
  IntervalScales scales;
  for (const char* unit : {"A100", "L4", "L40", "A30"}) add_ten(scales, unit, "bert");
  EXPECT_NEAR(scales.of("bert"), std::pow(3.1212, 0.75), 1e-3);
}

// A hundred rows of a unit without errors count as much as one with an error of 9: eight in ten of
// the two units' weight need the 9. Two units have the weight 2 / 6.
TEST(IntervalScales, EveryUnitCountsTheSame) {
  IntervalScales scales;
  for (int i = 0; i < 100; ++i) scales.add("A100", "bert", 0);
  scales.add("L4", "ssd", 9);
  EXPECT_NEAR(scales.of("resnet"), std::pow(9 / kInterval80, 2.0 / 6), 1e-9);
}

TEST(IntervalScales, AnIntervalNeverVanishes) {
  IntervalScales scales;
  for (int i = 0; i < 1000; ++i) scales.add(std::to_string(i), "bert", 0);
  EXPECT_GE(scales.of("bert"), 0.25);
}

}  // namespace
}  // namespace stint
