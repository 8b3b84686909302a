#include "cli/render/render_catalog.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "base/text.h"
#include "base/units.h"
#include "load/catalog_cases.h"

namespace stint::cli {
namespace {

using Strings = std::vector<std::string>;

constexpr Terminal kWide{.width = 0};

Price price(double usd_per_hour, const char* date) {
  return {.rate = usd_per_hour * kDollar / kHour, .date = *parse_date(date), .source = "us"};
}

Offer offer(const char* region, double on_demand, double spot) {
  return {.region = region,
          .on_demand = price(on_demand, "2026-07-20"),
          .spot = price(spot, "2026-08")};
}

/// Two T4s for 4, 3 and 5 dollars on demand and 1, 2 and 0.5 on the spot market.
Catalog sample() {
  VmType type{.provider = "aws",
              .name = "box.large",
              .accelerator = Accelerator{.name = "T4", .count = 2, .memory = 16 * kGB},
              .vcpus = 8,
              .memory = 32 * kGiB,
              .network = Network{.baseline = 25 * kGbit / kSecond, .note = "baseline"},
              .offers = {offer("east", 4, 1), offer("north", 3, 2), offer("west", 5, 0.5)}};
  return {.sources = {{.id = "us", .name = "our list", .url = "https://example.org"}},
          .types = {std::move(type)}};
}

Catalog sample_with_figures() {
  Catalog catalog = sample();
  catalog.types[0].accelerator->gpu = "T4";
  catalog.gpus = {{.name = "T4",
                   .architecture = "Turing",
                   .memory = 16 * kGB,
                   .fp16 = 65 * kTeraflop / kSecond,
                   .pcie = "3.0 x16",
                   .unverified = {"pcie"}}};
  return catalog;
}

/// The first line that begins with `start`.
std::string line_of(const std::string& text, const std::string& start) {
  for (const std::string& line : split(text, '\n')) {
    if (line.starts_with(start)) return line;
  }
  return "no line of " + start;
}

/// The cells of a line, which are at least two spaces apart.
Strings cells_of(const std::string& line) {
  Strings cells;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = std::min(line.find("  ", at), line.size());
    cells.push_back(line.substr(at, end - at));
    at = std::min(line.find_first_not_of(' ', end), line.size());
  }
  return cells;
}

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void expect_fits(const std::string& text, int width) {
  for (const std::string& line : split(text, '\n')) {
    if (line.starts_with("Hidden columns: ")) continue;
    EXPECT_LE(display_width(line), width) << line;
  }
}

TEST(CatalogTable, IsNeverWiderThanTheTerminal) {
  const Catalog catalog = bundled_catalog();
  for (int width = 40; width <= 160; ++width) {
    expect_fits(catalog_table(catalog, {}, {.width = width}), width);
  }
}

TEST(CatalogTable, KeepsNamesAndPricesWhereItIsNarrow) {
  const std::string text = catalog_table(sample(), {}, {.width = 60});
  EXPECT_TRUE(mentions(line_of(text, "VM"), "on-demand")) << text;
  EXPECT_TRUE(mentions(text, "Hidden columns: ")) << text;
  EXPECT_TRUE(mentions(text, "region")) << text;  // What is left out is said.
}

TEST(CatalogTable, ShowsTheCheapestRegionAndHowManyMoreThereAre) {
  const std::string text = catalog_table(sample_with_figures(), {}, kWide);
  EXPECT_EQ(cells_of(line_of(text, "VM")),
            (Strings{"VM", "GPUs", "memory", "vCPUs", "Gbit/s", "region", "on-demand", "of", "spot",
                     "of", "per GPU"}));
  EXPECT_EQ(cells_of(line_of(text, "box.large")),
            (Strings{"box.large", "2x T4", "16 GB", "8", "25", "west +2", "$5", "2026-07-20",
                     "$0.5", "2026-08", "$0.25"}));
}

TEST(CatalogTable, TheCheapestRegionIsThatOfTheWantedMarket) {
  const std::string text = catalog_table(sample(), {.markets = {Market::kOnDemand}}, kWide);
  EXPECT_TRUE(mentions(text, "north +2")) << text;
  EXPECT_EQ(cells_of(line_of(text, "box.large")).back(), "$1.5");  // 3 dollars for two GPUs.
}

TEST(CatalogTable, ASingleRegionStandsWithoutACount) {
  Catalog catalog = sample();
  catalog.types[0].offers.resize(1);
  const std::string text = catalog_table(catalog, {}, kWide);
  EXPECT_TRUE(mentions(text, " east ")) << text;
  EXPECT_FALSE(mentions(text, "+")) << text;
}

TEST(CatalogTable, CanHaveARowPerRegion) {
  Catalog catalog = sample();
  catalog.types[0].offers[0].zone = "a";
  const std::string text = catalog_table(catalog, {.all_regions = true}, kWide);
  EXPECT_EQ(split(text, '\n').size(), 5U);  // Title, three rows, and what follows the last newline.
  EXPECT_TRUE(mentions(text, " east/a "));
  EXPECT_TRUE(mentions(text, " north "));
  EXPECT_FALSE(mentions(text, "+"));
}

TEST(CatalogTable, AnOfferWithAPriceGoesBeforeOneWithout) {
  Catalog catalog = sample();
  catalog.types[0].offers[0].on_demand.reset();
  catalog.types[0].offers[0].spot.reset();
  catalog.types[0].offers.resize(2);
  EXPECT_TRUE(mentions(catalog_table(catalog, {}, kWide), "north +1"));
}

TEST(CatalogTable, WhatIsNotKnownIsADash) {
  const Catalog catalog{
      .types = {{.provider = "lab", .name = "bare", .offers = {{.region = "here"}}}}};
  const std::string row = line_of(catalog_table(catalog, {}, kWide), "bare");
  EXPECT_EQ(std::count(row.begin(), row.end(), '-'), 9) << row;
}

TEST(CatalogTable, ATypeWithoutOffersHasNoPrices) {
  Catalog catalog = sample();
  catalog.types[0].offers.clear();
  EXPECT_TRUE(mentions(catalog_table(catalog, {}, kWide), "box.large"));
}

TEST(CatalogTable, MarksComputedPrices) {
  Catalog catalog = sample();
  EXPECT_FALSE(shows_derived_price(catalog));
  catalog.types[0].offers[2].spot->derived = "from the other";
  EXPECT_TRUE(shows_derived_price(catalog));
  EXPECT_TRUE(mentions(catalog_table(catalog, {}, kWide), " ~$0.5 "));
  catalog.types[0].offers[2].spot->derived.reset();
  catalog.types[0].offers[0].on_demand->derived = "from the other";
  EXPECT_TRUE(shows_derived_price(catalog));
}

TEST(CatalogTable, MarksAcceleratorsWithoutFigures) {
  EXPECT_TRUE(shows_unplannable(sample()));
  EXPECT_TRUE(mentions(catalog_table(sample(), {}, kWide), " *2x T4 "));
  EXPECT_FALSE(shows_unplannable(sample_with_figures()));
  EXPECT_FALSE(mentions(catalog_table(sample_with_figures(), {}, kWide), "*"));
  Catalog bare = sample();
  bare.types[0].accelerator.reset();
  EXPECT_FALSE(shows_unplannable(bare));
}

TEST(VmSheet, ShowsPartsFiguresPricesAndSources) {
  Catalog catalog = sample_with_figures();
  catalog.types[0].offers[0].interruption = Interruption{.monthly_min = 0.05, .monthly_max = 0.1};
  catalog.types[0].offers[1].interruption = Interruption{.monthly_min = 0.2};
  EXPECT_EQ(vm_sheet(catalog, kWide),
            "box.large  (aws)\n  accelerators      2x T4\n  memory of each    16 GB\n  vCPUs       "
            "      8\n  memory            32 GiB\n  network           25 Gbit/s (baseline)\n"
            "  transport         unknown\n\nT4  "
            "(Turing)\n  memory            16 GB\n  fp16              65 TFLOP/s\n  PCIe           "
            "   3.0 x16  (unverified)\n\nregion  on-demand  of          spot  of       "
            "interruptions\neast           $4  2026-07-20    $1  2026-08  5-10 % a month\nnorth    "
            "      $3  2026-07-20    $2  2026-08  over 20 % a month\nwest           $5  2026-07-20 "
            " $0.5  2026-08  -\n\nSources\n  our list, https://example.org\n");
}

TEST(VmSheet, ShowsTheTransportWithItsLimits) {
  Catalog catalog = sample();
  Network& network = *catalog.types[0].network;
  network.transport = Transport::kInfiniBand;
  network.rdma = 3200 * kGbit / kSecond;
  network.gpu_direct = true;
  EXPECT_TRUE(mentions(vm_sheet(catalog, kWide),
                       "  transport         infiniband 3200 Gbit/s, direct to GPU memory\n"));
  network = Network{.transport = Transport::kEfa,
                    .gpu_direct = false,
                    .flow = 5 * kGbit / kSecond,
                    .flow_placed = 10 * kGbit / kSecond};
  EXPECT_TRUE(
      mentions(vm_sheet(catalog, kWide), "efa, through host memory; one TCP flow 5 Gbit/s"));
  EXPECT_TRUE(mentions(vm_sheet(catalog, kWide), "10 Gbit/s in a placement group"));
  catalog.types[0].network.reset();
  EXPECT_FALSE(mentions(vm_sheet(catalog, kWide), "transport"));
}

TEST(VmSheet, SaysWhenAnAcceleratorHasNoFigures) {
  const std::string phrase = "There are no figures for this accelerator";
  EXPECT_TRUE(mentions(vm_sheet(sample(), kWide), phrase));
  EXPECT_FALSE(mentions(vm_sheet(sample_with_figures(), kWide), phrase));
  Catalog catalog = sample();
  catalog.types[0].accelerator.reset();
  EXPECT_FALSE(mentions(vm_sheet(catalog, kWide), phrase));
}

TEST(VmSheet, ItsPricesAreNeverWiderThanTheTerminal) {
  Catalog catalog = sample();
  catalog.sources.clear();
  catalog.types[0].accelerator.reset();
  for (int width = 40; width <= 160; ++width) {
    expect_fits(vm_sheet(catalog, {.width = width}), width);
  }
}

TEST(VmSheet, EveryBundledTypeHasOne) {
  Catalog catalog = bundled_catalog();
  const std::vector<VmType> types = std::move(catalog.types);
  for (const VmType& type : types) {
    catalog.types = {type};
    EXPECT_TRUE(vm_sheet(catalog, kWide).starts_with(type.name + "  (" + type.provider + ")\n"));
  }
}

std::vector<Difference> differences() {
  return {{Difference::Kind::kChanged, "aws/east/box on-demand", "1 USD/h (2026-07)",
           "2 USD/h (2026-08)"},
          {Difference::Kind::kRemoved, "aws/old", "listed", ""},
          {Difference::Kind::kAdded, "aws/fresh", "", "listed"}};
}

TEST(DifferenceTable, ShowsBeforeAndAfter) {
  EXPECT_EQ(difference_table(differences(), kWide),
            "change   what                    before             after\n"
            "changed  aws/east/box on-demand  1 USD/h (2026-07)  2 USD/h (2026-08)\n"
            "removed  aws/old                 listed             -\n"
            "added    aws/fresh               -                  listed\n");
}

TEST(DifferenceTable, IsNeverWiderThanTheTerminal) {
  for (int width = 40; width <= 160; ++width) {
    expect_fits(difference_table(differences(), {.width = width}), width);
  }
}

}  // namespace
}  // namespace stint::cli
