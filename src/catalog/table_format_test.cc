#include "catalog/table_format.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

const TableOrigin kOrigin{
    .provider = "aws", .name = "vms.csv", .date = {.year = 2026, .month = 11, .day = 1}};

constexpr const char* kHeader =
    "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,"
    "AvailabilityZone\n";

std::string skypilot(const std::string& rows) { return kHeader + rows; }

std::string error_of(const std::string& text) {
  const auto catalog = read_catalog_table(text, "vms.csv", kOrigin);
  return catalog.ok() ? "" : catalog.error().message;
}

TEST(SkyPilotTable, GathersTypesAndZones) {
  const auto catalog = read_catalog_table(
      skypilot("g4dn.xlarge,T4,1.0,4.0,16.0,\"{'Gpus': [{'Name': 'T4', 'MemoryInfo': {'SizeInMiB': "
               "16384}}]}\",0.526,0.1578,us-east-1,us-east-1a\n"
               "g4dn.xlarge,T4,1.0,4.0,16.0,,0.526,,us-east-1,us-east-1b\n"
               "m5.large,,,2.0,8.0,,0.096,0.03,us-east-1,us-east-1a\n"),
      "vms.csv", kOrigin);
  ASSERT_TRUE(catalog.ok()) << catalog.error().message;
  ASSERT_EQ(catalog->noun.types.size(), 2U);
  const VmType& gpu = catalog->noun.types[0];
  EXPECT_EQ(gpu.provider, "aws");
  EXPECT_DOUBLE_EQ(gpu.accelerator->memory->in(kGiB), 16);
  EXPECT_EQ(gpu.vcpus, 4);
  ASSERT_EQ(gpu.offers.size(), 2U);
  EXPECT_EQ(gpu.offers[0].zone, "us-east-1a");
  EXPECT_DOUBLE_EQ(gpu.offers[0].spot->rate.in(kDollar / kHour), 0.1578);
  EXPECT_FALSE(gpu.offers[1].spot.has_value());
  EXPECT_EQ(to_text(gpu.offers[0].on_demand->date), "2026-11-01");
  EXPECT_FALSE(catalog->noun.types[1].accelerator.has_value());
}

TEST(SkyPilotTable, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(error_of("InstanceType,Price\nx,1\n"),
            "vms.csv:1: the header lacks the columns AcceleratorName, AcceleratorCount, vCPUs, "
            "MemoryGiB, SpotPrice, Region; it has InstanceType, Price");
  EXPECT_EQ(error_of(skypilot("x,T4,1,4,16,,-0.5,,us-east-1,\n")),
            "vms.csv:2: column Price: must be zero or more, not -0.5");
  EXPECT_EQ(
      error_of(skypilot("x,T4,1,4,16,,cheap,,us-east-1,\n")),
      "vms.csv:2: column Price: 'cheap' is not a number; leave the cell empty if it is unknown");
  EXPECT_EQ(error_of(skypilot("x,T4,,4,16,,1,,r,\n")),
            "vms.csv:2: column AcceleratorCount: the number of T4 is missing");
  EXPECT_EQ(error_of(skypilot("x,,2,4,16,,1,,r,\n")),
            "vms.csv:2: column AcceleratorName: must not be empty beside a count");
  EXPECT_EQ(error_of(skypilot("x,T4,1,4,16,,1,,,\n")),
            "vms.csv:2: column Region: must not be empty");
  EXPECT_EQ(error_of(skypilot("")), "vms.csv: the table has no rows of machines");
  EXPECT_EQ(error_of(skypilot("x,T4,1,4,16,,1,,r,\nx,H100,8,4,16,,2,,s,\n")),
            "vms.csv:3: column InstanceType: 'x' has other parts in an earlier row");
}

TEST(SkyPilotTable, LeavesOutWhatIsNoWholeMachineAndSaysSo) {
  const auto catalog = read_catalog_table(skypilot(",T4,1.0,,,,0.35,0.1,us-central1,\n"
                                                   "nv6,A10,0.167,6,55,,0.45,,eastus,\n"
                                                   "micro,,,0.25,1,,0.005,0,eastus,\n"
                                                   "x,T4,1,4,16,,1,,r,\n"
                                                   "x,T4,1,4,16,,1,,r,\n"),
                                          "vms.csv", kOrigin);
  ASSERT_TRUE(catalog.ok()) << catalog.error().message;
  ASSERT_EQ(catalog->noun.types.size(), 2U);
  EXPECT_FALSE(catalog->noun.types[0].vcpus.has_value());
  EXPECT_FALSE(catalog->noun.types[0].offers[0].spot.has_value());
  EXPECT_EQ(catalog->noun.types[1].offers.size(), 1U);
  EXPECT_EQ(
      catalog->warnings,
      (std::vector<std::string>{"vms.csv: merged 1 row that repeats a machine and zone; the row "
                                "that knows more counts",
                                "vms.csv: skipped 1 row: a part of an accelerator",
                                "vms.csv: skipped 1 row: no InstanceType, so no whole machine"}));
}

TEST(SkyPilotTable, NeedsToKnowWhoseMachinesTheyAre) {
  const auto catalog = read_catalog_table(skypilot("x,T4,1,4,16,,1,,r,\n"), "vms.csv",
                                          {.provider = "", .name = "vms.csv", .date = {}});
  ASSERT_FALSE(catalog.ok());
  EXPECT_EQ(catalog.error().kind, ErrorKind::kUsage);
  EXPECT_NE(catalog.error().message.find("--provider"), std::string::npos);
}

TEST(OwnTable, ReadsWhatItWrites) {
  Catalog catalog{.sources = {{.id = "vms.csv", .name = "imported from vms.csv"}}};
  VmType type{
      .provider = "lab",
      .name = "box-\"the_big_one\"",
      .accelerator =
          Accelerator{.name = "A100", .count = 8, .memory = 40 * kGB, .gpu = "A100-40GB-SXM"},
      .vcpus = 96,
      .memory = 1152 * kGiB,
      .network = Network{.baseline = 400 * kGbit / kSecond,
                         .transport = Transport::kInfiniBand,
                         .rdma = 1600 * kGbit / kSecond,
                         .gpu_direct = true,
                         .flow = 5 * kGbit / kSecond,
                         .flow_placed = 10 * kGbit / kSecond,
                         .source = "fabric page"},
      .quota_class = "P"};
  const Date date{.year = 2026, .month = 7};
  type.offers = {
      {.region = "here",
       .zone = "a",
       .on_demand = Price{.rate = 32.77 * kDollar / kHour, .date = date, .source = "vms.csv"},
       .spot = Price{.rate = 9.831 * kDollar / kHour,
                     .date = date,
                     .source = "vms.csv",
                     .derived = "a guess"},
       .interruption = Interruption{.monthly_min = 0.2, .date = date, .source = "vms.csv"}}};
  catalog.types = {type, {.provider = "lab", .name = "bare", .offers = {{.region = "there"}}}};
  const std::string table = write_catalog_table(catalog);
  const auto back = read_catalog_table(table, "vms.csv", kOrigin);
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(write_catalog_table(back->noun), table);
  EXPECT_EQ(back->noun.types[0].offers[0].on_demand->rate, type.offers[0].on_demand->rate);
  EXPECT_EQ(back->noun.types[0].offers[0].interruption->monthly_max, std::nullopt);
  EXPECT_EQ(back->noun.types[0].offers[0].spot->derived, "a guess");
  EXPECT_FALSE(back->noun.types[1].accelerator.has_value());
  EXPECT_EQ(back->noun.types[0].network->transport, Transport::kInfiniBand);
  EXPECT_EQ(back->noun.types[0].network->gpu_direct, true);
  EXPECT_EQ(back->noun.types[0].network->source, "fabric page");
  EXPECT_FALSE(back->noun.types[1].network.has_value());
}

TEST(OwnTable, RefusesTransportsThatDoNotExist) {
  EXPECT_EQ(error_of("provider,region,name,network_transport\nlab,r,x,token-ring\n"),
            "vms.csv:2: column network_transport: 'token-ring' is none of tcp, gpudirect-tcpx, "
            "gpudirect-tcpxo, efa, infiniband, roce");
  EXPECT_EQ(error_of("provider,region,name,network_transport,network_gpu_direct\n"
                     "lab,r,x,efa,maybe\n"),
            "vms.csv:2: column network_gpu_direct: must be yes or no, not 'maybe'");
}

TEST(OwnTable, NeedsOnlyProviderRegionAndName) {
  const auto catalog = read_catalog_table("name,region,provider,spot_usd_per_h\nbox,here,lab,0.5\n",
                                          "a.csv", kOrigin);
  ASSERT_TRUE(catalog.ok()) << catalog.error().message;
  EXPECT_DOUBLE_EQ(catalog->noun.types[0].offers[0].spot->rate.in(kDollar / kHour), 0.5);
}

TEST(OwnTable, RefusesHalfABand) {
  EXPECT_EQ(error_of("provider,region,name,interruption_monthly_max\nlab,r,x,0.1\n"),
            "vms.csv:2: column interruption_monthly_min: must not be empty beside a maximum");
}

TEST(OwnTable, ChecksDates) {
  std::string table = write_catalog_table({});
  table += "lab,r,,x,,,,,,,,,,,,,,,1,yesterday,,,,,,,,,,,,\n";
  EXPECT_NE(error_of(table).find("vms.csv:2: column on_demand_date: 'yesterday' is not a date"),
            std::string::npos);
}

TEST(ProviderOfPath, ReadsFolderAndFileNames) {
  EXPECT_EQ(provider_of_path("catalogs/v6/aws/vms.csv"), "aws");
  EXPECT_EQ(provider_of_path("GCP.csv"), "gcp");
  EXPECT_EQ(provider_of_path("lambda_vms.csv"), "lambda");
  EXPECT_EQ(provider_of_path("prices/vms.csv"), "");
  EXPECT_EQ(provider_of_path("/home/aws/azure/vms.csv"), "azure");
}

}  // namespace
}  // namespace stint
