#include "catalog/skypilot_table.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace stint {
namespace {

const Date kDay1{.year = 2026, .month = 11, .day = 1};

Result<Loaded<Catalog>> read(const std::string& provider, const std::string& text) {
  return read_catalog_table(text, "vms.csv",
                            {.provider = provider, .name = "vms.csv", .date = kDay1});
}

const VmType* type_named(const Catalog& catalog, const std::string& name) {
  const auto found = std::find_if(catalog.types.begin(), catalog.types.end(),
                                  [&](const VmType& type) { return type.name == name; });
  return found == catalog.types.end() ? nullptr : &*found;
}

double hourly(const std::optional<Price>& price) {
  return price ? price->rate.in(kDollar / kHour) : -1;
}

constexpr const char* kAws =
    "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,"
    "AvailabilityZone\n";

TEST(SkyPilotTable, MergesRowsThatRepeatAMachineAndZone) {
  const std::string info =
      "\"{'Gpus': [{'Name': 'A100', 'MemoryInfo': {'SizeInMiB': 81920}}], "
      "'TotalGpuMemoryInMiB': 655360}\"";
  const std::string without =
      "p4de.24xlarge,A100-80GB,8.0,96.0,1152.0," + info + ",27.45,,us-east-1,use1-az4\n";
  const std::string with =
      "p4de.24xlarge,A100-80GB,8.0,96.0,1152.0," + info + ",27.45,24.29,us-east-1,use1-az4\n";
  const std::string bare = "p4de.24xlarge,A100,8.0,96.0,1152.0,,40.97,,us-east-1,use1-az4\n";
  for (const std::string& rows : {without + with + bare, bare + with + without}) {
    const auto table = read("aws", kAws + rows);
    ASSERT_TRUE(table.ok()) << table.error().message;
    ASSERT_EQ(table->noun.types.size(), 1U);
    const VmType& type = table->noun.types[0];
    EXPECT_EQ(type.accelerator->name, "A100-80GB");
    EXPECT_DOUBLE_EQ(type.accelerator->memory->in(kGiB), 80);
    ASSERT_EQ(type.offers.size(), 1U);
    EXPECT_DOUBLE_EQ(hourly(type.offers[0].on_demand), 27.45);
    EXPECT_DOUBLE_EQ(hourly(type.offers[0].spot), 24.29);
    EXPECT_EQ(table->warnings, (std::vector<std::string>{
                                   "vms.csv: merged 2 rows that repeat a machine and zone; the "
                                   "row that knows more counts"}));
  }
}

TEST(SkyPilotTable, ReadsTheProcessorWhereTheTableSaysIt) {
  const auto table = read("aws",
                          "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,"
                          "Price,SpotPrice,Region,AvailabilityZone,Arch\n"
                          "g5g.xlarge,T4g,1,4,8,,0.42,,us-east-1,,arm64\n"
                          "g5.xlarge,A10G,1,4,16,,1.0,,us-east-1,,x86_64\n"
                          "g6.xlarge,L4,1,4,16,,0.8,,us-east-1,,\n");
  ASSERT_TRUE(table.ok()) << table.error().message;
  EXPECT_EQ(table->noun.types[0].architecture, "arm64");
  EXPECT_EQ(table->noun.types[1].architecture, "amd64");
  EXPECT_FALSE(table->noun.types[2].architecture);
}

TEST(SkyPilotTable, TakesTheHigherOfPricesThatAreKnownEquallyWell) {
  const std::string low = "x,T4,1,4,16,,1,,r,\n";
  const std::string high = "x,T4,1,4,16,,2,,r,\n";
  for (const std::string& rows : {low + high, high + low}) {
    const auto table = read("aws", kAws + rows);
    ASSERT_TRUE(table.ok()) << table.error().message;
    EXPECT_DOUBLE_EQ(hourly(table->noun.types[0].offers[0].on_demand), 2);
  }
}

// Lambda has SpotPrice last, Azure has a Generation and no zones.
TEST(SkyPilotTable, ReadsColumnsByName) {
  const auto lambda =
      read("lambda",
           "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,Region,GpuInfo,"
           "SpotPrice\ngpu_8x_h100_sxm5,H100-SXM,8.0,208.0,1800.0,23.92,us-east-1,,\n");
  ASSERT_TRUE(lambda.ok()) << lambda.error().message;
  EXPECT_DOUBLE_EQ(hourly(lambda->noun.types[0].offers[0].on_demand), 23.92);
  const auto azure =
      read("azure",
           "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,"
           "Region,Generation\n"
           "Standard_NC24ads_A100_v4,A100-80GB,1.0,24.0,220.0,,3.673,0.679,eastus,V2\n"
           "Standard_NC24ads_A100_v4,A100-80GB,1.0,24.0,220.0,,3.673,,eastus,V1\n");
  ASSERT_TRUE(azure.ok()) << azure.error().message;
  EXPECT_DOUBLE_EQ(hourly(azure->noun.types[0].offers[0].spot), 0.679);
  EXPECT_EQ(azure->noun.types[0].offers.size(), 1U);
}

constexpr const char* kGcp =
    "InstanceType,vCPUs,MemoryGiB,AcceleratorName,AcceleratorCount,GpuInfo,Region,AvailabilityZone,"
    "Price,SpotPrice\n";

// Host 9.46 and 8 accelerators at 79.03: 88.49; on spot 5.68 and 30.00: 35.68. In zone b the
// accelerators have no spot price, in zone c none at all; in zone d only one is priced: 8 × 10.
TEST(SkyPilotTable, AddsTheAcceleratorsOfTheZoneToGcpHosts) {
  const auto table =
      read("gcp", std::string(kGcp) +
                      "a3-highgpu-8g,208.0,1872.0,,,,us-central1,us-central1-a,9.46,5.68\n"
                      "a3-highgpu-8g,208.0,1872.0,,,,us-central1,us-central1-b,9.46,5.68\n"
                      "a3-highgpu-8g,208.0,1872.0,,,,us-central1,us-central1-c,9.46,5.68\n"
                      "a3-highgpu-8g,208.0,1872.0,,,,us-central1,us-central1-d,9.46,\n"
                      "n2-standard-4,4.0,16.0,,,,us-central1,us-central1-a,0.19,0.05\n"
                      ",,,H100,8,{'Gpus': []},us-central1,us-central1-a,79.03,30.0\n"
                      ",,,H100,1,,us-central1,us-central1-a,9.99,3.75\n"
                      ",,,H100,8,,us-central1,us-central1-b,79.03,\n"
                      ",,,H100,1,,us-central1,us-central1-d,10,\n"
                      ",,,T4,1,,us-central1,us-central1-a,0.35,0.11\n");
  ASSERT_TRUE(table.ok()) << table.error().message;
  const VmType* type = type_named(table->noun, "a3-highgpu-8g");
  ASSERT_NE(type, nullptr);
  EXPECT_EQ(type->accelerator->name, "H100");
  EXPECT_EQ(type->accelerator->count, 8);
  ASSERT_EQ(type->offers.size(), 3U);
  EXPECT_NEAR(hourly(type->offers[0].on_demand), 88.49, 1e-9);
  EXPECT_NEAR(hourly(type->offers[0].spot), 35.68, 1e-9);
  EXPECT_NEAR(hourly(type->offers[1].on_demand), 88.49, 1e-9);
  EXPECT_FALSE(type->offers[1].spot.has_value());
  EXPECT_NEAR(hourly(type->offers[2].on_demand), 89.46, 1e-9);
  EXPECT_NEAR(hourly(type_named(table->noun, "n2-standard-4")->offers[0].on_demand), 0.19, 1e-9);
  EXPECT_EQ(table->warnings,
            (std::vector<std::string>{
                "vms.csv: skipped 1 row: a host without a price of its accelerators in its zone",
                "vms.csv: skipped 1 row: accelerators without a machine that has them built in"}));
}

TEST(SkyPilotTable, RenamesRegionsThatFlagsCannotName) {
  const auto table = read("vast", std::string(kAws) +
                                      "1x-RTX_4090-32,RTX4090,1.0,32.0,64.0,,0.4,0.2,"
                                      "\"Bulgaria, BG, EU\",\n"
                                      "1x-RTX_4090-32,RTX4090,1.0,32.0,64.0,,0.4,0.2,\", US\",\n");
  ASSERT_TRUE(table.ok()) << table.error().message;
  EXPECT_EQ(table->noun.types[0].offers[0].region, "Bulgaria-BG-EU");
  EXPECT_EQ(table->noun.types[0].offers[1].region, "US");
  EXPECT_EQ(table->warnings[0], "vms.csv: renamed 2 regions: ', US' is US");
}

TEST(GcpAccelerators, FollowFromTheName) {
  const auto text = [](const char* name) {
    const auto found = gcp_accelerators(name);
    return found ? std::to_string(found->count) + " " + found->name : "none";
  };
  EXPECT_EQ(text("a2-highgpu-4g"), "4 A100");
  EXPECT_EQ(text("a2-megagpu-16g"), "16 A100");
  EXPECT_EQ(text("a2-ultragpu-8g"), "8 A100-80GB");
  EXPECT_EQ(text("a3-highgpu-8g"), "8 H100");
  EXPECT_EQ(text("a3-megagpu-8g"), "8 H100-MEGA");
  EXPECT_EQ(text("a3-ultragpu-8g"), "8 H200");
  EXPECT_EQ(text("a4-highgpu-8g"), "8 B200");
  EXPECT_EQ(text("g2-standard-4"), "1 L4");
  EXPECT_EQ(text("g2-standard-24"), "2 L4");
  EXPECT_EQ(text("g2-standard-32"), "1 L4");
  EXPECT_EQ(text("g2-standard-48"), "4 L4");
  EXPECT_EQ(text("g2-standard-96"), "8 L4");
  EXPECT_EQ(text("n1-standard-8"), "none");
  EXPECT_EQ(text("a2-highgpu-xg"), "none");
}

}  // namespace
}  // namespace stint
