#include "optimise/question.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

TEST(Quota, NamesAFamilyAMarketAndVcpus) {
  const auto quotas = parse_quotas("g5=32,p4d:spot=96");
  ASSERT_TRUE(quotas.ok());
  ASSERT_EQ(quotas->size(), 2U);
  EXPECT_EQ((*quotas)[0], (Quota{.name = "g5", .market = std::nullopt, .vcpus = 32}));
  EXPECT_EQ((*quotas)[1], (Quota{.name = "p4d", .market = Market::kSpot, .vcpus = 96}));
  EXPECT_EQ(to_text((*quotas)[1]), "p4d:spot=96");
}

TEST(Quota, SaysWhatIsWrong) {
  EXPECT_EQ(parse_quotas("g5").error().message,
            "--quota: 'g5' has no number of vCPUs; write for example g5=32 or p4d:spot=96");
  EXPECT_FALSE(parse_quotas("g5=-1").ok());
  EXPECT_FALSE(parse_quotas("g5=1x").ok());
  EXPECT_FALSE(parse_quotas("g5:sport=1").ok());
  EXPECT_FALSE(parse_quotas("=1").ok());
}

TEST(Quota, CountsATypeItsFamilyOrItsClass) {
  const VmType type{.provider = "aws", .name = "g5.xlarge", .quota_class = "G"};
  for (const char* name : {"g5", "G5.xlarge", "g"}) {
    EXPECT_TRUE(counts({.name = name, .market = {}, .vcpus = 1}, type, Market::kSpot)) << name;
  }
  const VmType google{.provider = "gcp", .name = "a2-highgpu-1g"};
  EXPECT_TRUE(counts({.name = "a2", .market = {}, .vcpus = 1}, google, Market::kSpot));
  const VmType azure{.provider = "azure", .name = "Standard_NC24ads_A100_v4"};
  EXPECT_TRUE(counts({.name = "nc", .market = {}, .vcpus = 1}, azure, Market::kSpot));
  EXPECT_FALSE(counts({.name = "g5g", .market = {}, .vcpus = 1}, type, Market::kSpot));
  EXPECT_FALSE(
      counts({.name = "g5", .market = Market::kOnDemand, .vcpus = 1}, type, Market::kSpot));
}

}  // namespace
}  // namespace stint
