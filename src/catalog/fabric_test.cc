#include "catalog/fabric.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

TEST(Fabric, TakesTheRdmaLinksBeforeTheNic) {
  VmType type{.provider = "azure", .name = "nd"};
  EXPECT_FALSE(fabric_rate(type).has_value());
  EXPECT_FALSE(transport_of(type).has_value());
  type.network = Network{.peak = 80 * kGbit / kSecond};
  EXPECT_DOUBLE_EQ(fabric_rate(type)->in(kGbit / kSecond), 80);
  EXPECT_FALSE(transport_of(type).has_value());
  type.network->rdma = 3200 * kGbit / kSecond;
  type.network->transport = Transport::kInfiniBand;
  EXPECT_DOUBLE_EQ(fabric_rate(type)->in(kGbit / kSecond), 3200);
  EXPECT_DOUBLE_EQ(network_rate(type)->in(kGbit / kSecond), 80);
  EXPECT_EQ(transport_of(type), Transport::kInfiniBand);
}

TEST(Fabric, HasOneFlowLimitWhereAPlacementGroupChangesNothing) {
  VmType type{.provider = "aws", .name = "p3.16xlarge"};
  EXPECT_FALSE(flow_limit(type).has_value());
  type.network = Network{.baseline = 25 * kGbit / kSecond, .flow = 5 * kGbit / kSecond};
  EXPECT_DOUBLE_EQ(flow_limit(type)->apart.in(kGbit / kSecond), 5);
  EXPECT_DOUBLE_EQ(flow_limit(type)->placed.in(kGbit / kSecond), 5);
  type.network->flow_placed = 10 * kGbit / kSecond;
  EXPECT_DOUBLE_EQ(flow_limit(type)->placed.in(kGbit / kSecond), 10);
}

TEST(Transport, OnlyPlainTcpIsCopiedByTheProcessor) {
  for (const auto& [transport, name] : names_of(Transport{})) {
    const bool tcp = transport == Transport::kTcp;
    EXPECT_EQ(family_of(transport), tcp ? TransportFamily::kTcp : TransportFamily::kRdma) << name;
  }
}

// V100: NVLink 2, 300 GB/s in both directions, so 150 GB/s in one. T4: PCIe 3.0, 16 lanes of
// 8 Gbit/s, so 16 GB/s. A10G: PCIe 4.0, twice that.
TEST(InsideLink, IsOneDirectionOfTheDataSheet) {
  const auto nvlink =
      inside_link(Gpu{.name = "V100", .link = "NVLink 2", .link_bandwidth = 300 * kGB / kSecond});
  ASSERT_TRUE(nvlink.has_value());
  EXPECT_EQ(nvlink->kind, InsideLinkKind::kNvlink);
  EXPECT_DOUBLE_EQ(nvlink->one_way.in(kGB / kSecond), 150);

  const auto pcie = inside_link(Gpu{.name = "T4", .pcie = "3.0 x16"});
  ASSERT_TRUE(pcie.has_value());
  EXPECT_EQ(pcie->kind, InsideLinkKind::kPcie);
  EXPECT_DOUBLE_EQ(pcie->one_way.in(kGB / kSecond), 16);
  EXPECT_DOUBLE_EQ(inside_link(Gpu{.name = "A10G", .pcie = "4.0 x16"})->one_way.in(kGB / kSecond),
                   32);
  EXPECT_DOUBLE_EQ(inside_link(Gpu{.name = "slim", .pcie = "4.0 x8"})->one_way.in(kGB / kSecond),
                   16);
  const auto amd = inside_link(
      Gpu{.name = "MI300X", .link = "Infinity Fabric", .link_bandwidth = 896 * kGB / kSecond});
  EXPECT_EQ(amd->kind, InsideLinkKind::kOther);
}

TEST(InsideLink, IsAbsentWithoutAFigure) {
  EXPECT_FALSE(inside_link(Gpu{.name = "x"}).has_value());
  EXPECT_FALSE(inside_link(Gpu{.name = "GH200", .pcie = "NVLink-C2C"}).has_value());
  EXPECT_FALSE(inside_link(Gpu{.name = "trn", .link = "NeuronLink", .pcie = "5.0 x16"}));
  EXPECT_FALSE(inside_link(Gpu{.name = "odd", .pcie = "0.0 x16"}));
  EXPECT_FALSE(inside_link(Gpu{.name = "odd", .pcie = "3.0 x0"}));
  EXPECT_FALSE(inside_link(Gpu{.name = "odd", .pcie = "3.0 16"}));
}

// 16 lanes of 8 Gbit/s are 16 GB/s, and each generation doubles them; NVLink is not in the way.
TEST(HostLinkRate, IsThatOfPcie) {
  const Gpu fourth{
      .name = "A100", .link = "NVLink 3", .link_bandwidth = 600 * kGB / kSecond, .pcie = "4.0 x16"};
  EXPECT_NEAR(host_link_rate(fourth)->in(kGB / kSecond), 32, 1e-9);
  EXPECT_NEAR(host_link_rate({.name = "T4", .pcie = "3.0 x16"})->in(kGB / kSecond), 16, 1e-9);
  EXPECT_FALSE(host_link_rate({.name = "GH200", .pcie = "NVLink-C2C"}));
  EXPECT_FALSE(host_link_rate({.name = "X"}));
}

TEST(InsideLink, FollowsTheGpuOfTheVm) {
  const Catalog catalog{.gpus = {{.name = "T4", .pcie = "3.0 x16"}}};
  VmType type{.provider = "aws", .name = "g4dn.12xlarge"};
  EXPECT_FALSE(inside_link(catalog, type).has_value());
  type.accelerator = Accelerator{.name = "T4", .count = 4, .gpu = "T4"};
  EXPECT_DOUBLE_EQ(inside_link(catalog, type)->one_way.in(kGB / kSecond), 16);
}

}  // namespace
}  // namespace stint
