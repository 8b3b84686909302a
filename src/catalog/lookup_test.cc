#include "catalog/lookup.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

struct Row {
  const char* provider;
  const char* name;
  const char* gpu;
  int count;
  double memory_gb;
  double network_gbit;
  double on_demand;
  double spot;
};

VmType make(const Row& row) {
  const auto price = [](double usd) {
    return usd == 0 ? std::nullopt
                    : std::optional(Price{.rate = usd * kDollar / kHour, .source = "s"});
  };
  VmType type{.provider = row.provider, .name = row.name};
  if (row.count > 0) {
    type.accelerator =
        Accelerator{.name = row.gpu, .count = row.count, .memory = row.memory_gb * kGB};
  }
  if (row.network_gbit > 0) {
    type.network = Network{.baseline = row.network_gbit * kGbit / kSecond};
  }
  const char* region = row.provider == std::string("aws") ? "us-east-1" : "us-central1";
  type.offers = {{.region = region, .on_demand = price(row.on_demand), .spot = price(row.spot)}};
  return type;
}

Catalog sample() {
  Catalog catalog{.sources = {{.id = "s", .name = "a"}, {.id = "unused", .name = "b"}}};
  for (const Row& row : {Row{"aws", "g4dn.12xlarge", "T4", 4, 16, 50, 4.0, 1.2},
                         Row{"aws", "g5g.xlarge", "T4G", 1, 16, 1.25, 0.42, 0},
                         Row{"gcp", "a2-highgpu-1g", "A100", 1, 40, 24, 3.6, 1.1},
                         Row{"gcp", "a2-ultragpu-1g", "A100-80GB", 1, 80, 24, 5.0, 0},
                         Row{"azure", "Standard_NC4as_T4_v3", "T4", 1, 16, 0, 0.53, 0},
                         Row{"aws", "c5n.large", "", 0, 0, 3, 0.1, 0.05}}) {
    catalog.types.push_back(make(row));
  }
  return catalog;
}

std::vector<std::string> names(const Result<Catalog>& catalog) {
  std::vector<std::string> all;
  if (!catalog.ok()) return {catalog.error().message};
  for (const VmType& type : catalog->types) all.push_back(type.name);
  return all;
}

using Names = std::vector<std::string>;

TEST(Lookup, TheEmulatedProviderIsMeantOnlyWhereItIsNamed) {
  EXPECT_FALSE(means_provider({}, "local"));
  EXPECT_TRUE(means_provider({}, "aws"));
  EXPECT_TRUE(means_provider({"aws", "Local"}, "local"));
  EXPECT_FALSE(means_provider({"local"}, "aws"));
}

TEST(VmName, ReadsQualifiers) {
  EXPECT_EQ(*parse_vm_name("g4dn.xlarge"), (VmName{.name = "g4dn.xlarge"}));
  EXPECT_EQ(*parse_vm_name("AWS/g4dn.xlarge"), (VmName{.provider = "aws", .name = "g4dn.xlarge"}));
  const auto whole = parse_vm_name("gcp/us-central1/a2-highgpu-1g");
  EXPECT_EQ(whole->region, "us-central1");
  EXPECT_EQ(to_text(*whole), "gcp/us-central1/a2-highgpu-1g");
  EXPECT_FALSE(parse_vm_name("a/b/c/d").ok());
  EXPECT_FALSE(parse_vm_name("a//c").ok());
  EXPECT_FALSE(parse_vm_name("").ok());
}

TEST(FindType, IgnoresCaseAndAzuresPrefix) {
  const Catalog catalog = sample();
  EXPECT_EQ((*find_type(catalog, {.name = "G4DN.12XLARGE"}))->name, "g4dn.12xlarge");
  EXPECT_EQ((*find_type(catalog, {.name = "nc4as_t4_v3"}))->name, "Standard_NC4as_T4_v3");
}

TEST(FindType, IgnoresTheCaseOfProvidersAndRegions) {
  Catalog catalog = sample();
  catalog.types.push_back(make({"Lab", "box", "T4", 1, 16, 1, 1, 0}));
  EXPECT_TRUE(find_type(catalog, *parse_vm_name("LAB/US-central1/box")).ok());
  EXPECT_EQ(names(select(catalog, {.providers = {"lab"}}, SortKey::kName)), (Names{"box"}));
}

TEST(FindType, SuggestsTheNearest) {
  const auto result = find_type(sample(), {.name = "g4dn.12xlrage"});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message,
            "the catalogue has no VM type 'g4dn.12xlrage'. Did you mean 'g4dn.12xlarge'?");
  EXPECT_EQ(result.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(find_type(sample(), {.name = "quantum"}).error().message,
            "the catalogue has no VM type 'quantum'. It has g4dn.12xlarge, g5g.xlarge, "
            "a2-highgpu-1g, a2-ultragpu-1g, Standard_NC4as_T4_v3, c5n.large.");
}

TEST(FindType, ListsTheChoicesOfAnAmbiguousName) {
  Catalog catalog = sample();
  catalog.types.push_back(make({"lab", "g4dn.12xlarge", "T4", 1, 16, 1, 1, 0}));
  EXPECT_EQ(find_type(catalog, {.name = "g4dn.12xlarge"}).error().message,
            "'g4dn.12xlarge' is ambiguous: choose one of aws/g4dn.12xlarge, lab/g4dn.12xlarge");
  EXPECT_TRUE(find_type(catalog, {.provider = "lab", .name = "g4dn.12xlarge"}).ok());
}

TEST(FindType, ChecksProviderAndRegion) {
  EXPECT_EQ(find_type(sample(), {.provider = "gpc", .name = "a2-highgpu-1g"}).error().message,
            "the catalogue has no provider 'gpc'. Did you mean 'gcp'?");
  EXPECT_EQ(find_type(sample(), {.provider = "gcp", .region = "mars", .name = "a2-highgpu-1g"})
                .error()
                .message,
            "a2-highgpu-1g is not offered in 'mars', only in us-central1");
}

TEST(HasGpu, MatchesFamiliesButNotPrefixes) {
  const Catalog catalog = sample();
  EXPECT_TRUE(has_gpu(catalog.types[0], "t4"));
  EXPECT_FALSE(has_gpu(catalog.types[1], "T4"));
  EXPECT_TRUE(has_gpu(catalog.types[3], "A100"));
  EXPECT_TRUE(has_gpu(catalog.types[3], "a100-80gb"));
  EXPECT_FALSE(has_gpu(catalog.types[2], "A100-80GB"));
  EXPECT_FALSE(has_gpu(catalog.types[5], "T4"));
}

// Lowest price per GPU: 1.2/4 = 0.30, 0.42, 0.53, 1.10, 5.00.
TEST(Select, SortsByPricePerGpuAndLeavesOutCpuMachines) {
  EXPECT_EQ(names(select(sample(), {}, SortKey::kPricePerGpu)),
            (Names{"g4dn.12xlarge", "g5g.xlarge", "Standard_NC4as_T4_v3", "a2-highgpu-1g",
                   "a2-ultragpu-1g"}));
}

TEST(Select, SortsByEveryKeyWithTheUnknownLast) {
  EXPECT_EQ(names(select(sample(), {.machines = {.gpus = {"T4"}}}, SortKey::kPrice)),
            (Names{"Standard_NC4as_T4_v3", "g4dn.12xlarge"}));
  EXPECT_EQ(names(select(sample(), {}, SortKey::kGpuMemory)).front(), "a2-ultragpu-1g");
  EXPECT_EQ(names(select(sample(), {}, SortKey::kNetwork)).back(), "Standard_NC4as_T4_v3");
  EXPECT_EQ(names(select(sample(), {}, SortKey::kName)).front(), "Standard_NC4as_T4_v3");
}

TEST(Select, FiltersByMarketMemoryPriceAndPlace) {
  EXPECT_EQ(names(select(sample(), {.markets = {Market::kSpot}}, SortKey::kName)),
            (Names{"a2-highgpu-1g", "g4dn.12xlarge"}));
  EXPECT_EQ(names(select(sample(), {.gpu_memory_min = 40 * kGB}, SortKey::kName)),
            (Names{"a2-highgpu-1g", "a2-ultragpu-1g"}));
  EXPECT_EQ(names(select(sample(), {.price_max = 0.5 * kDollar / kHour}, SortKey::kName)),
            (Names{"g5g.xlarge"}));
  EXPECT_EQ(names(select(sample(), {.providers = {"azure"}}, SortKey::kName)),
            (Names{"Standard_NC4as_T4_v3"}));
  EXPECT_EQ(names(select(sample(), {.machines = {.gpus = {"none"}}}, SortKey::kName)),
            (Names{"c5n.large"}));
  EXPECT_EQ(names(select(sample(), {.regions = {"us-central1"}, .machines = {.gpus = {"A100"}}},
                         SortKey::kName)),
            (Names{"a2-highgpu-1g", "a2-ultragpu-1g"}));
}

TEST(Select, DropsWhatNothingRefersTo) {
  const auto selected = select(sample(), {}, SortKey::kName);
  ASSERT_EQ(selected->sources.size(), 1U);
  EXPECT_EQ(selected->sources[0].id, "s");
}

TEST(Select, KeepsMachinesWithoutOffersUnlessAFilterNeedsOne) {
  Catalog catalog = sample();
  catalog.types[0].offers.clear();
  EXPECT_EQ(names(select(catalog, {.machines = {.gpus = {"T4"}}}, SortKey::kPrice)).size(), 2U);
  EXPECT_EQ(names(select(catalog, {.regions = {"us-central1"}, .machines = {.gpus = {"T4"}}},
                         SortKey::kPrice)),
            (Names{"Standard_NC4as_T4_v3"}));
}

TEST(Select, RefusesFiltersThatContradictEachOther) {
  EXPECT_FALSE(
      select(sample(), {.machines = {.gpus = {"none"}}, .gpu_memory_min = kGB}, SortKey::kName)
          .ok());
  EXPECT_TRUE(select(sample(), {.machines = {.gpus = {"NONE"}}}, SortKey::kName).ok());
}

TEST(Select, RefusesNamesTheCatalogueDoesNotKnow) {
  EXPECT_EQ(names(select(sample(), {.machines = {.gpus = {"A10O"}}}, SortKey::kName))[0],
            "the catalogue has no accelerator 'A10O'. Did you mean 'A100'?");
  EXPECT_EQ(
      names(select(sample(), {.regions = {"eu-east-1"}}, SortKey::kName))[0],
      "the catalogue has no region 'eu-east-1'. Of aws it has us-east-1 only; add others with: "
      "stint catalog import FILE --provider aws");
  EXPECT_EQ(
      names(select(sample(), {.regions = {"us-east-2"}}, SortKey::kName))[0],
      "the catalogue has no region 'us-east-2'. Of aws it has us-east-1 only; add others with: "
      "stint catalog import FILE --provider aws");
}

TEST(Select, SuggestsRegionsThatTheSameProviderWouldName) {
  Catalog catalog = sample();
  const auto message = [&](const char* region) {
    return names(select(catalog, {.regions = {region}}, SortKey::kName))[0];
  };
  // Two regions each of names with the number apart and attached, and of plain ones.
  catalog.types[0].offers.push_back({.region = "us-west-2"});
  catalog.types[2].offers.push_back({.region = "us-west1"});
  catalog.types[4].offers = {{.region = "westeurope"}, {.region = "westus2"}};
  EXPECT_EQ(message("us-west-1"),
            "the catalogue has no region 'us-west-1'. Did you mean 'us-west-2' or 'us-east-1'?");
  EXPECT_EQ(message("us-west2"),
            "the catalogue has no region 'us-west2'. Did you mean 'us-west1'?");
  EXPECT_EQ(message("westeurop"),
            "the catalogue has no region 'westeurop'. Did you mean 'westeurope'?");
  catalog.types[5].offers.push_back({.region = "Bulgaria-BG-EU"});
  EXPECT_EQ(message("Bulgaria"),
            "the catalogue has no region 'Bulgaria'. Did you mean 'Bulgaria-BG-EU'?");
  EXPECT_EQ(message("eu-west-1"),
            "the catalogue has no region 'eu-west-1'. 'stint catalog import FILE' adds prices of "
            "other regions.");
}

TEST(Select, NeverAddsWhatAFilterTakesAway) {
  const auto all = names(select(sample(), {}, SortKey::kName));
  for (const char* gpu : {"T4", "A100", "T4G"}) {
    for (const std::string& name :
         names(select(sample(), {.machines = {.gpus = {gpu}}}, SortKey::kPrice))) {
      EXPECT_NE(std::find(all.begin(), all.end(), name), all.end()) << name;
    }
  }
}

}  // namespace
}  // namespace stint
