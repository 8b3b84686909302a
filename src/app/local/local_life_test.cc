#include "app/local/local_life.h"

#include <cstdio>
#include <gtest/gtest.h>

#include "base/file.h"

namespace stint {
namespace {

ClusterSpec sample() {
  ClusterSpec spec{.name = "a", .vms = {}};
  for (const Market market : {Market::kOnDemand, Market::kSpot, Market::kSpot, Market::kSpot}) {
    spec.vms.push_back({.name = "vm", .type = "local.small", .market = market});
  }
  return spec;
}

TEST(LocalLife, WithoutOneNothingIsTakenBack) {
  ClusterSpec spec = sample();
  ASSERT_TRUE(set_lives(spec, "until-down", 1).ok());
  for (const VmSpec& vm : spec.vms) EXPECT_FALSE(vm.life.has_value());
}

TEST(LocalLife, AHazardIsTheSameForTheSameSeedAndSparesOnDemand) {
  ClusterSpec spec = sample();
  ClusterSpec again = sample();
  ClusterSpec other = sample();
  ASSERT_TRUE(set_lives(spec, "hazard:30m", 7).ok());
  ASSERT_TRUE(set_lives(again, "hazard:30m", 7).ok());
  ASSERT_TRUE(set_lives(other, "hazard:30m", 8).ok());
  EXPECT_FALSE(spec.vms[0].life.has_value());
  EXPECT_EQ(*spec.vms[1].life, *again.vms[1].life);
  EXPECT_NE(*spec.vms[1].life, *other.vms[1].life);
}

// The trace has 3 machines in its first tick of 60 s, then 1, then 2: the last two of the three go
// after 60 s, and the one that is left stays.
TEST(LocalLife, ATraceTakesTheLastOnesFirst) {
  const std::string file = testing::TempDir() + "/local_life_test.json";
  ASSERT_TRUE(write_file(file, R"({"metadata": {"gap_seconds": 60}, "data": [3, 1, 2]})").ok());
  ClusterSpec spec = sample();
  const Status status = set_lives(spec, "trace:" + file, 1);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_FALSE(spec.vms[1].life.has_value());
  EXPECT_EQ(*spec.vms[2].life, 60 * kSecond);
  EXPECT_EQ(*spec.vms[3].life, 60 * kSecond);
  std::remove(file.c_str());
}

TEST(LocalLife, RefusesWhatMakesNoSense) {
  ClusterSpec spec = sample();
  EXPECT_EQ(set_lives(spec, "forever", 1).error().kind, ErrorKind::kUsage);
  EXPECT_EQ(set_lives(spec, "hazard:30", 1).error().kind, ErrorKind::kUsage);
  EXPECT_EQ(set_lives(spec, "hazard:0s", 1).error().kind, ErrorKind::kUsage);
  EXPECT_EQ(set_lives(spec, "trace:/nowhere", 1).error().kind, ErrorKind::kBadInput);
  spec.vms.resize(1);
  EXPECT_EQ(set_lives(spec, "hazard:30m", 1).error().kind, ErrorKind::kUsage);
}

}  // namespace
}  // namespace stint
