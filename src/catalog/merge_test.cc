#include "catalog/merge.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

Catalog one(double usd_per_hour, const char* region, const char* source_name) {
  VmType type{.provider = "aws",
              .name = "g4dn.xlarge",
              .accelerator = Accelerator{.name = "T4", .count = 1, .gpu = "T4"},
              .vcpus = 4,
              .source = "s"};
  type.offers = {{.region = region,
                  .on_demand = Price{.rate = usd_per_hour * kDollar / kHour,
                                     .date = {.year = 2026, .month = 7},
                                     .source = "s"}}};
  return {.sources = {{.id = "s", .name = source_name}}, .types = {type}};
}

TEST(Merge, LaysOffersOverOffers) {
  const Catalog merged = merge(one(0.5, "east", "a"), one(0.6, "east", "a"));
  ASSERT_EQ(merged.types.size(), 1U);
  ASSERT_EQ(merged.types[0].offers.size(), 1U);
  EXPECT_DOUBLE_EQ(merged.types[0].offers[0].on_demand->rate.in(kDollar / kHour), 0.6);
  EXPECT_TRUE(validate(merged).ok());
}

TEST(Merge, AddsNewPlacesAndTypes) {
  Catalog other = one(0.6, "west", "a");
  other.types.push_back({.provider = "lab", .name = "box"});
  const Catalog merged = merge(one(0.5, "east", "a"), other);
  EXPECT_EQ(merged.types.size(), 2U);
  EXPECT_EQ(merged.types[0].offers.size(), 2U);
}

TEST(Merge, KeepsFiguresTheNewerOneDoesNotHave) {
  Catalog bare = one(0.6, "east", "a");
  bare.types[0].vcpus.reset();
  bare.types[0].accelerator->gpu.reset();
  const Catalog merged = merge(one(0.5, "east", "a"), bare);
  EXPECT_EQ(merged.types[0].vcpus, 4);
  EXPECT_EQ(merged.types[0].accelerator->gpu, "T4");
}

TEST(Merge, TakesOverTheFiguresOfDeepVm) {
  Catalog over = one(0.5, "east", "a");
  over.types[0].deepvm = DeepVmFigures{.a = 0.1, .b = 12, .c = 6, .flops = 377};
  const Catalog merged = merge(one(0.5, "east", "a"), over);
  EXPECT_EQ(merged.types[0].deepvm->flops, 377);
  const auto differences = diff(one(0.5, "east", "a"), merged);
  ASSERT_EQ(differences.size(), 1U);
  EXPECT_EQ(differences[0].what, "aws/g4dn.xlarge deepvm figures");
  EXPECT_EQ(differences[0].after, "a 0.1, b 12, c 6, flops 377");
}

TEST(Merge, RenamesSourcesThatOnlyShareAnId) {
  const Catalog merged = merge(one(0.5, "east", "a"), one(0.6, "west", "b"));
  ASSERT_EQ(merged.sources.size(), 2U);
  EXPECT_EQ(merged.sources[1].id, "s-2");
  EXPECT_EQ(merged.types[0].offers[1].on_demand->source, "s-2");
  EXPECT_TRUE(validate(merged).ok());
}

TEST(Merge, ReplacesGpus) {
  const Catalog before{.gpus = {{.name = "T4", .memory = 15 * kGB}}};
  const Catalog after{.gpus = {{.name = "T4", .memory = 16 * kGB}, {.name = "L4"}}};
  const Catalog merged = merge(before, after);
  ASSERT_EQ(merged.gpus.size(), 2U);
  EXPECT_DOUBLE_EQ(merged.gpus[0].memory->in(kGB), 16);
}

TEST(Merge, KeepsFiguresOfAGpuTheNewerOneDoesNotName) {
  const Catalog before{.gpus = {{.name = "T4",
                                 .memory = 16 * kGB,
                                 .pcie = "3.0 x16",
                                 .multiprocessors = 40,
                                 .board_power_watts = 70}}};
  const Catalog merged =
      merge(before, {.gpus = {{.name = "T4", .memory = 15 * kGB, .board_power_watts = 75}}});
  EXPECT_DOUBLE_EQ(merged.gpus[0].memory->in(kGB), 15);
  EXPECT_EQ(merged.gpus[0].pcie, "3.0 x16");
  EXPECT_EQ(merged.gpus[0].multiprocessors, 40);
  EXPECT_EQ(merged.gpus[0].board_power_watts, 75);
}

TEST(Merge, KeepsTheBaselineWhenOnlyAPeakIsSaid) {
  Catalog before = one(0.5, "east", "a");
  before.types[0].network = Network{.baseline = 5 * kGbit / kSecond};
  Catalog after = one(0.5, "east", "a");
  after.types[0].network = Network{.peak = 25 * kGbit / kSecond};
  EXPECT_DOUBLE_EQ(network_rate(merge(before, after).types[0])->in(kGbit / kSecond), 5);
}

TEST(Merge, AnotherTransportDropsTheLinksOfTheOldOne) {
  Catalog before = one(0.5, "east", "a");
  before.types[0].network = Network{.peak = 80 * kGbit / kSecond,
                                    .transport = Transport::kInfiniBand,
                                    .rdma = 3200 * kGbit / kSecond,
                                    .gpu_direct = true};
  Catalog after = one(0.5, "east", "a");
  after.types[0].network = Network{.transport = Transport::kTcp};
  const Catalog merged = merge(before, after);
  EXPECT_EQ(merged.types[0].network->transport, Transport::kTcp);
  EXPECT_FALSE(merged.types[0].network->rdma.has_value());
  EXPECT_FALSE(merged.types[0].network->gpu_direct.has_value());
  EXPECT_TRUE(validate(merged).ok());
  EXPECT_EQ(diff(before, merged).size(), 3U);  // Transport changed, rdma and gpu_direct removed.
}

TEST(Merge, PricesOfZonesReplaceTheOneOfTheirRegion) {
  Catalog before = one(0.5, "east", "a");
  before.types[0].offers[0].interruption = Interruption{.monthly_min = 0.2, .source = "s"};
  Catalog after = one(9.99, "east", "a");
  after.types[0].offers[0].zone = "east-a";
  after.types[0].offers.push_back(after.types[0].offers[0]);
  after.types[0].offers[1].zone = "east-b";
  const Catalog merged = merge(before, after);
  ASSERT_EQ(merged.types[0].offers.size(), 2U);
  for (const Offer& offer : merged.types[0].offers) {
    EXPECT_DOUBLE_EQ(offer.on_demand->rate.in(kDollar / kHour), 9.99);
    EXPECT_DOUBLE_EQ(offer.interruption->monthly_min, 0.2);
  }
}

TEST(Merge, AnotherNameOfTheFamilyKeepsTheFigures) {
  Catalog before = one(0.5, "east", "a");
  before.types[0].accelerator = Accelerator{.name = "A100", .count = 8, .gpu = "A100-80GB-SXM"};
  Catalog after = one(0.5, "east", "a");
  after.types[0].accelerator = Accelerator{.name = "A100-80GB", .count = 8};
  EXPECT_EQ(merge(before, after).types[0].accelerator->gpu, "A100-80GB-SXM");
}

TEST(Merge, IgnoresTheCaseOfNames) {
  Catalog after = one(0.6, "east", "a");
  after.types[0].provider = "AWS";
  EXPECT_EQ(merge(one(0.5, "east", "a"), after).types.size(), 1U);
}

TEST(Merge, KeepsUnknownFields) {
  Catalog after = one(0.6, "east", "a");
  after.types[0].unknown.emplace_back("mine", Json(1));
  EXPECT_EQ(merge(one(0.5, "east", "a"), after).types[0].unknown.size(), 1U);
}

TEST(Merge, WithItselfChangesNothing) {
  const Catalog catalog = one(0.5, "east", "a");
  EXPECT_EQ(write_catalog(merge(catalog, catalog)), write_catalog(catalog));
}

TEST(Diff, SaysWhatChanged) {
  Catalog after = one(0.6, "east", "a");
  after.types[0].vcpus = 8;
  after.types.push_back({.provider = "lab", .name = "box"});
  const auto differences = diff(one(0.5, "east", "a"), after);
  ASSERT_EQ(differences.size(), 3U);
  EXPECT_EQ(differences[0].what, "aws/g4dn.xlarge vCPUs");
  EXPECT_EQ(differences[1].what, "aws/east/g4dn.xlarge on-demand");
  EXPECT_EQ(differences[1].before, "0.5 USD/h (2026-07)");
  EXPECT_EQ(differences[1].after, "0.6 USD/h (2026-07)");
  EXPECT_EQ(differences[2].kind, Difference::Kind::kAdded);
  EXPECT_EQ(differences[2].what, "lab/box");
}

TEST(Diff, SeesGpusAndDerivedPrices) {
  Catalog before = one(0.5, "east", "a");
  before.gpus = {{.name = "T4", .fp16 = 65 * kTeraflop / kSecond}};
  Catalog after = before;
  after.gpus[0].fp16 = 64 * kTeraflop / kSecond;
  after.types[0].offers[0].on_demand->derived = "a guess";
  const auto differences = diff(before, after);
  ASSERT_EQ(differences.size(), 2U);
  EXPECT_EQ(differences[0].what, "gpu T4 fp16");
  EXPECT_EQ(differences[1].after, "0.5 USD/h, computed (2026-07)");
}

TEST(Diff, TurnedAroundSwapsAddedAndRemoved) {
  const Catalog a = one(0.5, "east", "a");
  const Catalog b = one(0.5, "west", "a");
  const auto there = diff(a, b);
  const auto back = diff(b, a);
  EXPECT_EQ(there.size(), back.size());
  EXPECT_EQ(there[0].kind, Difference::Kind::kRemoved);
  EXPECT_EQ(back[0].what, there.back().what.substr(0, back[0].what.size()));
  EXPECT_TRUE(diff(a, a).empty());
}

}  // namespace
}  // namespace stint
