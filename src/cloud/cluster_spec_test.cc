#include "cloud/cluster_spec.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

VmType type_of(const char* provider, const char* name, double mbit) {
  VmType type{.provider = provider, .name = name};
  if (mbit > 0) type.network = Network{.baseline = mbit * kMbit / kSecond};
  type.offers = {{.region = "local",
                  .on_demand = Price{.rate = 0.10 * kDollar / kHour, .source = "s"},
                  .spot = Price{.rate = 0.03 * kDollar / kHour, .source = "s"}}};
  return type;
}

Catalog sample() {
  return {.types = {type_of("local", "local.small", 100), type_of("local", "local.fast", 1000),
                    type_of("local", "local.dark", 0), type_of("aws", "p3.2xlarge", 10000)}};
}

Result<ClusterSpec> spec_of(const char* text, const char* name = "a") {
  const auto cluster = parse_cluster(text);
  EXPECT_TRUE(cluster.ok());
  return cluster_spec(*cluster, sample(), name);
}

TEST(ClusterSpec, NumbersTheVmsInTheOrderOfTheText) {
  const auto spec = spec_of("2x local.small + 1x local.fast:spot");
  ASSERT_TRUE(spec.ok());
  ASSERT_EQ(spec->vms.size(), 3U);
  EXPECT_EQ(spec->vms[2].name, "vm3");
  EXPECT_EQ(spec->vms[2].type, "local.fast");
  EXPECT_EQ(spec->vms[2].market, Market::kSpot);
  EXPECT_NEAR(spec->vms[2].price.in(kDollar / kHour), 0.03, 1e-12);
  EXPECT_NEAR(spec->vms[0].network.in(kMbit / kSecond), 100, 1e-9);
}

TEST(ClusterSpec, RefusesWhatCannotBeEmulated) {
  for (const char* text : {"2x local.huge", "p3.2xlarge", "local.dark", "65x local.small"}) {
    const auto spec = spec_of(text);
    ASSERT_FALSE(spec.ok()) << text;
    EXPECT_EQ(spec.error().kind, ErrorKind::kUsage);
  }
  EXPECT_NE(spec_of("p3.2xlarge").error().message.find("machine of aws"), std::string::npos);
}

TEST(ClusterSpec, RefusesNamesThatAreNoFolder) {
  for (const char* name : {"", "..", "a/b", "-x", "a b", "123456789012345678901234567890123"}) {
    EXPECT_FALSE(check_cluster_name(name).ok()) << name;
  }
  EXPECT_TRUE(check_cluster_name("my-cluster_2").ok());
}

// 4 × 1 Gbit/s is the limit; 5 are outside it, and 17 beyond the 16 that are refused.
TEST(ClusterSpec, WarnsOutsideTheHonestLimitAndRefusesFarOutside) {
  EXPECT_EQ(*traffic_warning(*spec_of("4x local.fast")), "");
  EXPECT_NE(traffic_warning(*spec_of("5x local.fast"))->find("add up to 5 Gbit/s"),
            std::string::npos);
  EXPECT_FALSE(traffic_warning(*spec_of("17x local.fast")).ok());
}

}  // namespace
}  // namespace stint
