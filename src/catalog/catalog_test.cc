#include "catalog/catalog.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

Price price(double usd_per_hour) {
  return {
      .rate = usd_per_hour * kDollar / kHour, .date = {.year = 2026, .month = 7}, .source = "s"};
}

Catalog sample() {
  VmType type{.provider = "aws",
              .name = "g4dn.12xlarge",
              .accelerator = Accelerator{.name = "T4", .count = 4, .memory = 15 * kGB, .gpu = "T4"},
              .network = Network{.peak = 50 * kGbit / kSecond},
              .deepvm = DeepVmFigures{.a = 0.13388, .b = 12.874, .c = 6.1767, .flops = 377},
              .source = "s"};
  type.offers = {{.region = "us-east-1", .on_demand = price(3.912), .spot = price(1.2)}};
  return {.sources = {{.id = "s", .name = "a list"}},
          .gpus = {{.name = "T4", .memory = 16 * kGB}},
          .types = {type}};
}

std::string error_of(const Catalog& catalog) {
  const Status status = validate(catalog);
  return status.ok() ? "" : status.error().message;
}

TEST(Catalog, ReadsWhatItWrites) {
  const std::string text = write_catalog(sample());
  const auto loaded = read_catalog(text, "a.json");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_TRUE(loaded->warnings.empty());
  EXPECT_EQ(write_catalog(loaded->noun), text);
  EXPECT_EQ(loaded->noun.types[0].offers[0].on_demand->rate,
            sample().types[0].offers[0].on_demand->rate);
  EXPECT_FALSE(loaded->noun.types[0].vcpus.has_value());
}

TEST(Catalog, RefusesWhatContradictsItself) {
  EXPECT_EQ(error_of(sample()), "");

  Catalog twice = sample();
  twice.types.push_back(twice.types[0]);
  EXPECT_EQ(
      error_of(twice),
      "catalogue: /types/1: the type aws/g4dn.12xlarge appears twice; put all its offers into one");

  Catalog flat = sample();
  flat.types[0].deepvm->a = 0;
  EXPECT_NE(error_of(flat).find("/types/0/deepvm/a"), std::string::npos);

  Catalog same_place = sample();
  same_place.types[0].offers.push_back({.region = "us-east-1"});
  EXPECT_EQ(error_of(same_place),
            "catalogue: /types/0: g4dn.12xlarge is offered twice in us-east-1; keep one");

  Catalog nameless = sample();
  nameless.sources.clear();
  EXPECT_EQ(
      error_of(nameless),
      "catalogue: /types/0: g4dn.12xlarge refers to the source 's', which is not in sources; add "
      "it there");

  Catalog negative = sample();
  negative.types[0].offers[0].spot = price(-1);
  EXPECT_NE(error_of(negative).find("/types/0/offers/0/spot/price: must be above zero"),
            std::string::npos);

  Catalog turned = sample();
  turned.types[0].offers[0].spot->low = 2 * kDollar / kHour;
  EXPECT_NE(error_of(turned).find("low must not be more than price"), std::string::npos);

  Catalog two_sources = sample();
  two_sources.sources.push_back(two_sources.sources[0]);
  EXPECT_EQ(error_of(two_sources),
            "catalogue: /sources/1: the source 's' appears twice; rename one");

  Catalog two_gpus = sample();
  two_gpus.gpus.push_back(two_gpus.gpus[0]);
  EXPECT_EQ(error_of(two_gpus), "catalogue: /gpus/1: the gpu 'T4' appears twice; keep one");

  Catalog band = sample();
  band.types[0].offers[0].interruption =
      Interruption{.monthly_min = 0.2, .monthly_max = 0.1, .source = "s"};
  EXPECT_NE(error_of(band).find("monthly_max must not be less"), std::string::npos);
}

TEST(Catalog, RefusesANetworkThatContradictsItself) {
  Catalog catalog = sample();
  catalog.types[0].network->rdma = 100 * kGbit / kSecond;
  EXPECT_NE(error_of(catalog).find("/types/0/network: rdma needs a transport other than tcp"),
            std::string::npos)
      << error_of(catalog);
  catalog.types[0].network->transport = Transport::kEfa;
  EXPECT_EQ(error_of(catalog), "");
  catalog.types[0].network->flow_placed = 1 * kGbit / kSecond;
  EXPECT_NE(error_of(catalog).find("flow_placed needs flow"), std::string::npos);
  catalog.types[0].network->flow = 5 * kGbit / kSecond;
  EXPECT_NE(error_of(catalog).find("flow_placed must not be below flow"), std::string::npos);
  catalog.types[0].network->flow_placed = 10 * kGbit / kSecond;
  catalog.types[0].network->source = "nobody";
  EXPECT_NE(error_of(catalog).find("refers to the source 'nobody'"), std::string::npos);
}

TEST(Catalog, RefusesNamesThatCannotBeWritten) {
  for (const char* name : {"a/b", "a:spot", "a b", "a\x1b[31m", "+a", "a,b"}) {
    Catalog catalog = sample();
    catalog.types[0].name = name;
    EXPECT_NE(error_of(catalog), "") << name;
    catalog = sample();
    catalog.types[0].offers[0].region = name;
    EXPECT_NE(error_of(catalog), "") << name;
  }
}

TEST(Catalog, PointsAtTheLineOfAProblemInside) {
  std::string text = write_catalog(sample());
  text.replace(text.find("\"id\": \"s\""), 9, "\"id\": \"t\"");
  const auto loaded = read_catalog(text, "a.json");
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().message.find("a.json:10: /types/0: g4dn.12xlarge refers to"), 0U)
      << loaded.error().message;
}

TEST(Catalog, FindsTheOnlyGpuThatFits) {
  Catalog catalog{.gpus = {{.name = "A100-40GB-SXM", .memory = 40 * kGB},
                           {.name = "A100-80GB-SXM", .memory = 80 * kGB},
                           {.name = "T4G", .memory = 16 * kGB}}};
  VmType type{.provider = "lab", .name = "box"};
  type.accelerator = Accelerator{.name = "A100", .count = 8, .memory = 40 * kGiB};
  EXPECT_EQ(gpu_of(catalog, type), &catalog.gpus[0]);
  type.accelerator->memory.reset();
  EXPECT_EQ(gpu_of(catalog, type), nullptr);
  EXPECT_EQ(gpu_candidates(catalog, *type.accelerator).size(), 2U);
  type.accelerator->name = "T4";
  EXPECT_EQ(gpu_of(catalog, type), nullptr);
}

TEST(Catalog, PrefersTheDataSheetsMemory) {
  Catalog catalog = sample();
  EXPECT_DOUBLE_EQ(accelerator_memory(catalog, catalog.types[0])->in(kGB), 16);
  catalog.gpus.clear();
  EXPECT_EQ(gpu_of(catalog, catalog.types[0]), nullptr);
  EXPECT_DOUBLE_EQ(accelerator_memory(catalog, catalog.types[0])->in(kGB), 15);
  catalog.types[0].accelerator.reset();
  EXPECT_FALSE(accelerator_memory(catalog, catalog.types[0]).has_value());
}

TEST(Catalog, PrefersTheSustainedRate) {
  VmType type = sample().types[0];
  EXPECT_DOUBLE_EQ(network_rate(type)->in(kGbit / kSecond), 50);
  type.network->baseline = 20 * kGbit / kSecond;
  EXPECT_DOUBLE_EQ(network_rate(type)->in(kGbit / kSecond), 20);
  type.network.reset();
  EXPECT_FALSE(network_rate(type).has_value());
}

}  // namespace
}  // namespace stint
