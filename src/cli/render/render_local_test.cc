#include "cli/render/render_local.h"

#include <gtest/gtest.h>

namespace stint::cli {
namespace {

ClusterStatus sample() {
  return {.name = "a",
          .since = "2026-11-16T08:50:00Z",
          .vms = {{.name = "vm1",
                   .type = "local.small",
                   .market = Market::kSpot,
                   .address = "10.77.0.1",
                   .network = 100 * kMbit / kSecond,
                   .phase = VmPhase::kNoticed,
                   .age = 90 * kSecond,
                   .cost = 0.00075 * kDollar,
                   .takes_at = "2026-11-16T08:53:00Z"}},
          .cost_spot = 0.00075 * kDollar};
}

TEST(RenderLocal, AClusterIsATableWithItsBill) {
  const std::string text = text_of(sample(), {.width = 0});
  EXPECT_EQ(text.substr(0, text.find('\n')),
            "a since 2026-11-16T08:50:00Z: on-demand $0.0000, spot $0.0008");
  EXPECT_NE(text.find("noticed"), std::string::npos);
  EXPECT_NE(text.find("2026-11-16T08:53:00Z"), std::string::npos);
}

TEST(RenderLocal, ProgramsGetAllClustersAndTheDeadOnes) {
  const Json json = json_of({sample()}, {"b"});
  ASSERT_NE(json.find("clusters"), nullptr);
  EXPECT_EQ(json.find("clusters")->as<Json::Array>()->size(), 1U);
  EXPECT_EQ(json.find("dead")->as<Json::Array>()->size(), 1U);
}

TEST(RenderLocal, CleaningSaysWhatBecameOfEach) {
  const Json json = json_of(Cleaning{.removed = {"x"}, .alive = {"y", "z"}, .kept = {}});
  EXPECT_EQ(json.find("alive")->as<Json::Array>()->size(), 2U);
  EXPECT_TRUE(json.find("kept")->as<Json::Array>()->empty());
}

}  // namespace
}  // namespace stint::cli
