#include "calibrate/collectives/fabric_baselines.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

/// 10 µs and the payload at 50 GB/s between two VMs, or at `rate` of them.
CollectiveCase make(const std::string& system, int vms, Bytes payload,
                    std::optional<double> value = std::nullopt) {
  return {.system = system,
          .collective = "all_reduce",
          .fabric = {.inside_rate = 300 * kGB / kSecond,
                     .workers_per_vm = 1,
                     .vms = vms,
                     .line_rate = 50 * kGB / kSecond},
          .payload = payload,
          .stated = payload,
          .value = value};
}

// 100 MB take 2 ms at the line rate and 4 ms here, 200 MB 7 ms.
std::vector<CollectiveCase> rows() {
  return {make("a", 2, 100 * kMB, 0.004), make("a", 2, 200 * kMB, 0.007),
          make("a", 8, 100 * kMB, 0.009), make("b", 2, 100 * kMB, 0.5)};
}

TEST(FabricBaselines, FindTheNearestCurve) {
  const auto train = rows();
  EXPECT_EQ(nearest_curve(train, make("a", 3, 1 * kMB)).size(), 2U);
  EXPECT_EQ(nearest_curve(train, make("a", 16, 1 * kMB)).front()->fabric.vms, 8);
  EXPECT_EQ(nearest_curve(train, make("c", 2, 1 * kMB)).front()->fabric.vms, 2);
  EXPECT_TRUE(nearest_curve({}, make("a", 2, 1 * kMB)).empty());
}

// The line through both rows is 1 ms + 3 ms per 100 MB: 10 ms for 300 MB. Four VMs send 1.5 times
// as much: 450 MB of the line.
TEST(FabricBaselines, AlphaBetaIsALineOverTheBytesSent) {
  const auto train = rows();
  EXPECT_NEAR(alpha_beta_time(train, make("a", 2, 300 * kMB))->in(kMillisecond), 10, 1e-9);
  EXPECT_NEAR(alpha_beta_time(train, make("a", 3, 225 * kMB))->in(kMillisecond), 10, 1e-9);
  EXPECT_FALSE(alpha_beta_time({}, make("a", 2, 300 * kMB)).has_value());
  EXPECT_FALSE(alpha_beta_time(train, make("a", 8, 300 * kMB)).has_value());
}

// 100 MB reach half the line rate, so that 110 MB take 4.4 ms.
TEST(FabricBaselines, NearestSizeKeepsItsShareOfTheLineRate) {
  const auto train = rows();
  EXPECT_NEAR(nearest_size_time(train, make("a", 2, 110 * kMB))->in(kMillisecond), 4.4, 1e-9);
  EXPECT_FALSE(nearest_size_time({}, make("a", 2, 110 * kMB)).has_value());
}

}  // namespace
}  // namespace stint
