#include "plan/layout.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace stint {
namespace {

std::string error_of(std::string_view text) {
  const auto cluster = parse_cluster(text);
  return cluster.ok() ? "" : cluster.error().message;
}

TEST(ClusterText, ReadsTheDocumentedForms) {
  const auto plain = parse_cluster("4x g4dn.12xlarge");
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->groups, (std::vector<VmGroup>{{.vm = {.name = "g4dn.12xlarge"}, .count = 4}}));

  const auto mixed = parse_cluster("2x p3.2xlarge:spot + 1x p3.2xlarge");
  ASSERT_EQ(mixed->groups.size(), 2U);
  EXPECT_EQ(mixed->groups[0].market, Market::kSpot);
  EXPECT_EQ(mixed->groups[1].market, Market::kOnDemand);

  const auto far = parse_cluster("3x gcp/us-central1/n1-standard-8+1xT4:spot");
  ASSERT_EQ(far->groups.size(), 1U);
  EXPECT_EQ(far->groups[0].vm.name, "n1-standard-8+1xT4");
  EXPECT_EQ(far->groups[0].vm.region, "us-central1");
}

TEST(ClusterText, IsLenientAboutSpacesAndCounts) {
  EXPECT_EQ(to_text(*parse_cluster("g4dn.xlarge")), "1x g4dn.xlarge");
  EXPECT_EQ(to_text(*parse_cluster(" 4X  a :on-demand+ 2x b ")), "4x a + 2x b");
}

TEST(ClusterText, QuotesWhatIsWrong) {
  EXPECT_NE(error_of("").find("it is empty"), std::string::npos);
  EXPECT_NE(error_of("2x a + ").find("it is empty"), std::string::npos);
  EXPECT_NE(error_of("0x a").find("'0x a' is not a group of VMs: the count must be 1"),
            std::string::npos);
  EXPECT_NE(error_of("9999999x a").find("the count must be"), std::string::npos);
  EXPECT_NE(error_of("2x a:cheap").find("the market after ':' must be spot or on-demand"),
            std::string::npos);
  EXPECT_NE(error_of("2x a b").find("has no space"), std::string::npos);
  EXPECT_NE(error_of("2x a/b/c/d").find("is not a VM type"), std::string::npos);
}

TEST(ClusterText, RoundTrips) {
  constexpr int kSeed = 9;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  const char* const names[] = {"g4dn.xlarge", "n1-standard-8+1xT4", "Standard_NC4as_T4_v3",
                               "4xlarge"};
  for (int i = 0; i < 500; ++i) {
    Cluster cluster;
    for (int groups = 1 + random.below(3); groups > 0; --groups) {
      VmGroup group{.vm = {.name = names[random.below(4)]}, .count = 1 + random.below(64)};
      if (random.below(2) == 0) group.vm.provider = "aws";
      if (group.vm.provider && random.below(2) == 0) group.vm.region = "us-east-1";
      if (random.below(2) == 0) group.market = Market::kSpot;
      cluster.groups.push_back(group);
    }
    ASSERT_EQ(*parse_cluster(to_text(cluster)), cluster) << to_text(cluster);
  }
}

// (2 VMs × 4 workers × 32 + 1 VM × 1 worker × 64) × 2 micro-steps = (256 + 64) × 2 = 640.
TEST(Layout, GlobalBatchMatchesHandComputedCase) {
  Layout layout{.cluster = *parse_cluster("2x a + 1x b"), .accumulation = 2};
  layout.setups = {{.workers_per_vm = 4, .batch_per_worker = 32},
                   {.workers_per_vm = 1, .batch_per_worker = 64}};
  EXPECT_EQ(global_batch(layout), 640);
  EXPECT_TRUE(validate(layout).ok());
}

TEST(Layout, NeedsASetupForEachGroup) {
  const Layout layout{.cluster = *parse_cluster("2x a + 1x b"), .setups = {{}}};
  EXPECT_EQ(validate(layout).error().message,
            "layout: the cluster has 2 groups but the layout has 1");
  const Layout empty;
  EXPECT_FALSE(validate(empty).ok());
}

TEST(Layout, RefusesABatchBeyondReason) {
  Layout layout{.cluster = *parse_cluster("65536x a"), .setups = {{}}};
  layout.setups[0] = {.workers_per_vm = 2000000000, .batch_per_worker = 2000000000};
  EXPECT_EQ(validate(layout).error().message,
            "layout: /groups/0/workers_per_vm: must be from 1 to 1024, not 2000000000");
  layout.setups[0] = {.workers_per_vm = 1024, .batch_per_worker = 16'777'216};
  EXPECT_EQ(validate(layout).error().message,
            "layout: the global batch is 1125899906842624 samples; the maximum is 16777216");
}

TEST(Layout, WritesItsClusterAsText) {
  const Layout layout{.cluster = *parse_cluster("2x a:spot"), .setups = {{}}};
  EXPECT_EQ(to_text(to_json(layout), JsonStyle::kLine),
            R"({"cluster":"2x a:spot","groups":[{"workers_per_vm":1,"batch_per_worker":1}],)"
            R"("collective":"ring","accumulation":1})");
}

TEST(Cluster, HasAtMost65536Vms) {
  EXPECT_TRUE(parse_cluster("65536x a").ok());
  EXPECT_FALSE(parse_cluster("65537x a").ok());
  EXPECT_FALSE(parse_cluster("2147483647x a").ok());
  EXPECT_EQ(parse_cluster("65536x a + 1x b").error().message,
            "a cluster has at most 65536 VMs, not 65537");
}

}  // namespace
}  // namespace stint
