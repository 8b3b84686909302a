#include "calibrate/device/carried_row.h"

#include <cmath>
#include <gtest/gtest.h>

namespace stint {
namespace {

CarriedRow row(const char* job, double teraflops, double gigabytes, double batch, double seconds) {
  return {.job = job,
          .peak = teraflops * kTeraflop / kSecond,
          .bandwidth = gigabytes * kGB / kSecond,
          .batch = batch,
          .log_time = std::log(seconds)};
}

TEST(CarriedRow, ScalesTheNearestGpuByItsFigure) {
  const std::vector<CarriedRow> known{row("a", 10, 1000, 8, 6), row("a", 40, 1500, 8, 2)};
  const CarriedRow wanted = row("a", 20, 750, 8, 1);
  // By peak both are a factor of 2 away; the first that is not farther counts, and ties add up:
  // 6 s · 10/20 = 3 s and 2 s · 40/20 = 4 s, whose geometric mean is √12.
  EXPECT_NEAR(std::exp(*carried_log_time(known, wanted, CarriedBy::kPeak)), std::sqrt(12), 1e-9);
  // By bandwidth the first is nearest: 6 s · 1000/750 = 8 s.
  EXPECT_NEAR(std::exp(*carried_log_time(known, wanted, CarriedBy::kBandwidth)), 8, 1e-9);
}

TEST(CarriedRow, PrefersTheNearestBatch) {
  const std::vector<CarriedRow> known{row("a", 10, 1000, 8, 6), row("a", 10, 1000, 64, 3)};
  const CarriedRow wanted = row("a", 20, 1000, 32, 1);
  EXPECT_NEAR(std::exp(*carried_log_time(known, wanted, CarriedBy::kNothing)), 3, 1e-9);
}

TEST(CarriedRow, KnowsNothingOfOtherJobs) {
  EXPECT_FALSE(carried_log_time(std::vector{row("a", 10, 1, 1, 1)}, row("b", 10, 1, 1, 1),
                                CarriedBy::kPeak));
}

TEST(CarriedRow, HasANameForEachBaseline) {
  for (const std::string& name : carried_baselines()) carried_by(name);
  EXPECT_EQ(carried_by("same-time"), CarriedBy::kNothing);
}

}  // namespace
}  // namespace stint
