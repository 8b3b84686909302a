#include "load/catalog_cases.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>

#include "base/file.h"
#include "base/text.h"
#include "catalog/table_format.h"

namespace stint {
namespace {

constexpr const char* kHeader =
    "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,SpotPrice,Region\n";

/// An own folder for a test, with the data folder and the files to import inside.
class Place {
 public:
  explicit Place(const char* name)
      : folder_(std::filesystem::path(testing::TempDir()) / "stint_catalog_cases_test" / name) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }

  /// It is 2026-11-15 there, which is day 20772.
  Environment environment() const {
    return {.data_folder = (folder_ / "data").string(),
            .home = folder_.string(),
            .clock = std::make_shared<FixedClock>(20772 * kDay)};
  }

  std::string file(const std::string& name, std::string_view bytes) const {
    std::string path = (folder_ / name).string();
    EXPECT_TRUE(write_file(path, bytes).ok());
    return path;
  }

  std::string table(const std::string& name, const std::string& rows) const {
    return file(name, kHeader + rows);
  }

  /// Puts a file among the user's catalogues without a check.
  std::string kept(const std::string& name, std::string_view bytes) const {
    return file("data/catalogs/" + name, bytes);
  }

 private:
  std::filesystem::path folder_;
};

std::string error_of(const auto& result) { return result.ok() ? "" : result.error().message; }

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const VmType* type_named(const Catalog& catalog, const std::string& name) {
  const auto found = std::find_if(catalog.types.begin(), catalog.types.end(),
                                  [&](const VmType& type) { return type.name == name; });
  return found == catalog.types.end() ? nullptr : &*found;
}

/// The g4dn.xlarge of us-east-1 at `price`, as a document.
std::string document_with_price(const std::string& price) {
  return R"({"schema": "stint.catalog/1", "sources": [{"id": "us", "name": "our contract"}],
             "types": [{"provider": "aws", "name": "g4dn.xlarge", "offers": [
               {"region": "us-east-1", "on_demand":
                 {"price": ")" +
         price + R"(", "date": "2026-11-01", "source": "us"}}]}]})";
}

double price_of(const Catalog& catalog, const std::string& name) {
  return type_named(catalog, name)->offers[0].on_demand->rate.in(kDollar / kHour);
}

/// Read once, for all tests.
const Catalog& bundled() {
  static const Catalog kCatalog = bundled_catalog();
  return kCatalog;
}

TEST(BundledCatalog, IsValidAndListsTheThreeProvidersAndTheEmulatedOne) {
  const Catalog& catalog = bundled();
  const Status valid = validate(catalog);
  EXPECT_TRUE(valid.ok()) << valid.error().message;
  EXPECT_GT(catalog.types.size(), 450U);
  std::map<std::string, int> types;
  for (const VmType& type : catalog.types) ++types[type.provider];
  EXPECT_EQ(types.size(), 4U);
  EXPECT_GT(types["local"], 0);
  for (const char* provider : {"aws", "gcp", "azure"}) EXPECT_GT(types[provider], 50) << provider;
}

TEST(BundledCatalog, EveryPriceHasADate) {
  std::size_t prices = 0;
  for (const VmType& type : bundled().types) {
    for (const Offer& offer : type.offers) {
      for (const auto* price : {&offer.on_demand, &offer.spot}) {
        if (!*price) continue;
        ++prices;
        EXPECT_GE((*price)->date.year, 2025) << type.name << " in " << offer.region;
      }
    }
  }
  EXPECT_GT(prices, 1000U);
}

TEST(BundledCatalog, EveryAcceleratorThatClaimsFiguresHasThem) {
  const Catalog& catalog = bundled();
  for (const VmType& type : catalog.types) {
    if (!type.accelerator || !type.accelerator->gpu) continue;
    EXPECT_NE(gpu_of(catalog, type), nullptr) << type.name << ": " << *type.accelerator->gpu;
  }
}

TEST(LoadCatalog, IsTheBundledOneWithoutUserCatalogues) {
  const Place place("load_none");
  const auto loaded = load_catalog(place.environment());
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(write_catalog(loaded->noun), write_catalog(bundled()));
  EXPECT_TRUE(loaded->warnings.empty());
}

TEST(LoadCatalog, NeedsNoHome) {
  Environment environment = Place("load_homeless").environment();
  environment.data_folder.reset();
  EXPECT_TRUE(load_catalog(environment).ok());
  EXPECT_FALSE(user_catalog_folder(environment).ok());
}

TEST(LoadCatalog, LaysUserCataloguesOverInTheOrderOfTheirNames) {
  const Place place("load_order");
  place.kept("b.json", document_with_price("0.2 USD/h"));
  place.kept("a.json", document_with_price("0.1 USD/h"));
  place.kept("c.txt", "not a catalogue");
  const auto loaded = load_catalog(place.environment());
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_DOUBLE_EQ(price_of(loaded->noun, "g4dn.xlarge"), 0.2);
  EXPECT_EQ(loaded->noun.types.size(), bundled().types.size());
}

// Laws, notices and the emulated cloud are found by the provider's name.
TEST(LoadCatalog, ProvidersOfUserCataloguesAreNamedInLowerCase) {
  const Place place("load_case");
  std::string document = document_with_price("1 USD/h");
  document.replace(document.find("\"aws\""), 5, "\"AWS\"");
  (void)place.kept("mine.json", document);
  const auto catalog = load_catalog(place.environment());
  ASSERT_TRUE(catalog.ok()) << error_of(catalog);
  EXPECT_EQ(type_named(catalog->noun, "g4dn.xlarge")->provider, "aws");
}

TEST(LoadCatalog, ABrokenUserCatalogueIsAnErrorThatNamesItsFile) {
  const Place place("load_broken");
  place.kept("a.json", document_with_price("0.1 USD/h"));
  for (const char* broken : {"", "{\"schema\":", "{\"schema\": \"stint.job/1\"}", "a,b\n1,2\n"}) {
    const std::string file = place.kept("b.json", broken);
    const auto loaded = load_catalog(place.environment());
    ASSERT_FALSE(loaded.ok()) << broken;
    EXPECT_EQ(loaded.error().kind, ErrorKind::kBadInput) << broken;
    EXPECT_TRUE(mentions(loaded.error().message, file)) << loaded.error().message;
  }
}

TEST(LoadCatalog, PassesOnWarningsOfUserCatalogues) {
  const Place place("load_warnings");
  place.kept("a.json", R"({"schema": "stint.catalog/1", "colour": "red"})");
  const auto loaded = load_catalog(place.environment());
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  ASSERT_EQ(loaded->warnings.size(), 1U);
  EXPECT_TRUE(mentions(loaded->warnings[0], "a.json")) << loaded->warnings[0];
  EXPECT_TRUE(mentions(loaded->warnings[0], "colour")) << loaded->warnings[0];
}

TEST(ListCatalog, LimitsTheTypesAndSaysHowManyThereWere) {
  const Place place("list_limit");
  const Filter filter{.providers = {"aws"}, .machines = {.gpus = {"T4"}}};
  const auto all = list_catalog(place.environment(), {.filter = filter});
  const auto few = list_catalog(place.environment(), {.filter = filter, .limit = 2});
  const auto many = list_catalog(place.environment(), {.filter = filter, .limit = 1000});
  ASSERT_TRUE(all.ok() && few.ok() && many.ok());
  EXPECT_GT(all->found, 2U);
  EXPECT_EQ(few->found, all->found);
  ASSERT_EQ(few->catalog.types.size(), 2U);
  EXPECT_EQ(few->catalog.types[0].name, all->catalog.types[0].name);
  EXPECT_EQ(write_catalog(many->catalog), write_catalog(all->catalog));
}

TEST(ListCatalog, KeepsOnlyTheGpusAndSourcesOfWhatIsListed) {
  const Place place("list_unused");
  const auto answer =
      list_catalog(place.environment(), {.filter = {.providers = {"gcp"}}, .limit = 1});
  ASSERT_TRUE(answer.ok());
  EXPECT_LE(answer->catalog.gpus.size(), 1U);
  for (const Source& source : answer->catalog.sources) {
    EXPECT_TRUE(mentions(source.id, "gcp")) << source.id;
  }
}

TEST(ListCatalog, AnUnknownProviderIsAUsageErrorThatSuggests) {
  const Place place("list_unknown");
  const auto answer = list_catalog(place.environment(), {.filter = {.providers = {"asw"}}});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().kind, ErrorKind::kUsage);
  EXPECT_TRUE(mentions(answer.error().message, "'aws'")) << answer.error().message;
}

TEST(ShowVm, HoldsOneTypeWithItsGpuAndSources) {
  const Place place("show_one");
  const auto shown = show_vm(place.environment(), "AWS/G4DN.12xlarge");
  ASSERT_TRUE(shown.ok()) << shown.error().message;
  ASSERT_EQ(shown->noun.types.size(), 1U);
  EXPECT_EQ(shown->noun.types[0].name, "g4dn.12xlarge");
  ASSERT_EQ(shown->noun.gpus.size(), 1U);
  EXPECT_EQ(shown->noun.gpus[0].name, "T4");
  EXPECT_TRUE(validate(shown->noun).ok());
}

TEST(ShowVm, ARegionLeavesOnlyItsOffers) {
  const Place place("show_region");
  const auto everywhere = show_vm(place.environment(), "gcp/a2-highgpu-1g");
  const auto shown = show_vm(place.environment(), "gcp/us-central1/a2-highgpu-1g");
  ASSERT_TRUE(everywhere.ok() && shown.ok());
  EXPECT_GT(everywhere->noun.types[0].offers.size(), 1U);
  ASSERT_EQ(shown->noun.types[0].offers.size(), 1U);
  EXPECT_EQ(shown->noun.types[0].offers[0].region, "us-central1");
}

TEST(ShowVm, AnUnknownVmIsAUsageErrorThatSuggests) {
  const Place place("show_unknown");
  const auto shown = show_vm(place.environment(), "g4dn.12xlrage");
  ASSERT_FALSE(shown.ok());
  EXPECT_EQ(shown.error().kind, ErrorKind::kUsage);
  EXPECT_TRUE(mentions(shown.error().message, "'g4dn.12xlarge'")) << shown.error().message;
  EXPECT_TRUE(mentions(error_of(show_vm(place.environment(), "aws/mars/g4dn.xlarge")),
                       "only in us-east-1"));
  EXPECT_FALSE(show_vm(place.environment(), "a/b/c/d").ok());
}

TEST(ImportCatalog, ASkyPilotTableIsListedAfterwards) {
  const Place place("import_list");
  const std::string file =
      place.table("aws/vms.csv", "x9.big,T4,2,8,32,1.5,0.5,us-east-1\nx9.big,T4,2,8,32,2,,eu-1\n");
  const auto imported = import_catalog(place.environment(), {.file = file});
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  EXPECT_EQ(imported->path, *user_catalog_folder(place.environment()) + "/aws-vms.json");
  EXPECT_FALSE(imported->replaced);
  EXPECT_EQ(imported->types, 1U);
  EXPECT_EQ(imported->offers, 2U);
  EXPECT_EQ(imported->example.find("aws/"), 0U) << imported->example;

  const auto listed = list_catalog(place.environment(), {.filter = {.machines = {.gpus = {"T4"}}}});
  ASSERT_TRUE(listed.ok()) << listed.error().message;
  const VmType* type = type_named(listed->catalog, "x9.big");
  ASSERT_NE(type, nullptr);
  EXPECT_EQ(type->provider, "aws");
  EXPECT_EQ(type->accelerator->count, 2);
  ASSERT_EQ(type->offers.size(), 2U);
  EXPECT_DOUBLE_EQ(type->offers[0].spot->rate.in(kDollar / kHour), 0.5);
  EXPECT_EQ(to_text(type->offers[0].spot->date), "2026-11-15");
}

TEST(ImportCatalog, ImportingAgainReplaces) {
  const Place place("import_again");
  const Environment environment = place.environment();
  const std::string old = place.table("aws/vms.csv", "x9.old,T4,1,4,16,1,,us-east-1\n");
  ASSERT_TRUE(import_catalog(environment, {.file = old}).ok());
  const std::string fresh = place.table("aws/vms.csv", "x9.fresh,T4,1,4,16,1,,us-east-1\n");
  const auto imported = import_catalog(environment, {.file = fresh});
  ASSERT_TRUE(imported.ok());
  EXPECT_TRUE(imported->replaced);
  const Catalog catalog = load_catalog(environment)->noun;
  EXPECT_EQ(type_named(catalog, "x9.old"), nullptr);
  EXPECT_NE(type_named(catalog, "x9.fresh"), nullptr);
}

TEST(ImportCatalog, TakesNameProviderAndDateFromTheRequest) {
  const Place place("import_request");
  const std::string file = place.table("prices.csv", "x9.big,T4,1,4,16,1,,here\n");
  const auto imported = import_catalog(
      place.environment(), {.file = file, .name = "lab", .provider = "Lab", .date = "2026-10"});
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  EXPECT_TRUE(imported->path.ends_with("/lab.json")) << imported->path;
  const Catalog catalog = load_catalog(place.environment())->noun;
  EXPECT_EQ(type_named(catalog, "x9.big")->provider, "lab");
  EXPECT_EQ(to_text(type_named(catalog, "x9.big")->offers[0].on_demand->date), "2026-10");
}

TEST(ImportCatalog, ATableThatDoesNotSayWhoseItIsNeedsAProvider) {
  const Place place("import_provider");
  const std::string file = place.table("prices.csv", "x9.big,T4,1,4,16,1,,here\n");
  const auto imported = import_catalog(place.environment(), {.file = file});
  ASSERT_FALSE(imported.ok());
  EXPECT_EQ(imported.error().kind, ErrorKind::kUsage);
  EXPECT_TRUE(mentions(imported.error().message, "--provider")) << imported.error().message;
}

TEST(ImportCatalog, AnUnsafeNameIsRefusedAndNothingIsWritten) {
  const Place place("import_unsafe");
  const std::string file = place.file("lab.json", document_with_price("0.1 USD/h"));
  for (const std::string& name :
       {std::string("../lab"), std::string("/tmp/lab"), std::string(".lab"), std::string("a b"),
        std::string("a\nb"), std::string("é"), std::string(101, 'a')}) {
    const auto imported = import_catalog(place.environment(), {.file = file, .name = name});
    ASSERT_FALSE(imported.ok()) << name;
    EXPECT_EQ(imported.error().kind, ErrorKind::kUsage) << name;
    EXPECT_TRUE(mentions(imported.error().message, "--name")) << imported.error().message;
  }
  EXPECT_FALSE(std::filesystem::exists(*place.environment().data_folder));
}

TEST(ImportCatalog, ABadDateIsAUsageError) {
  const Place place("import_date");
  const std::string file = place.table("aws.csv", "x9.big,T4,1,4,16,1,,here\n");
  const auto imported = import_catalog(place.environment(), {.file = file, .date = "2026-13"});
  ASSERT_FALSE(imported.ok());
  EXPECT_EQ(imported.error().kind, ErrorKind::kUsage);
}

TEST(ImportCatalog, ABadFileChangesNothing) {
  const Place place("import_bad");
  const Environment environment = place.environment();
  place.kept("aws.json", document_with_price("0.1 USD/h"));
  const std::string before = write_catalog(load_catalog(environment)->noun);
  for (const char* bad : {"", "  \n", "{\"schema\": 1}", "x9.big\n", "[1]"}) {
    const auto imported = import_catalog(environment, {.file = place.file("aws.csv", bad)});
    ASSERT_FALSE(imported.ok()) << bad;
    EXPECT_EQ(imported.error().kind, ErrorKind::kBadInput) << bad;
    EXPECT_TRUE(mentions(imported.error().message, "aws.csv")) << imported.error().message;
  }
  const std::string row = "x9.big,T4,1,4,16,-1,,here\n";
  const auto negative = import_catalog(environment, {.file = place.table("aws.csv", row)});
  EXPECT_TRUE(mentions(error_of(negative), "aws.csv:2")) << error_of(negative);
  EXPECT_EQ(write_catalog(load_catalog(environment)->noun), before);
}

TEST(ImportCatalog, AMissingFileIsBadInput) {
  const auto imported =
      import_catalog(Place("import_missing").environment(), {.file = "/nonexistent/aws.csv"});
  ASSERT_FALSE(imported.ok());
  EXPECT_EQ(imported.error().kind, ErrorKind::kBadInput);
}

TEST(ImportCatalog, WithoutAHomeItFailsAndSaysWhatToSet) {
  const Place place("import_homeless");
  Environment environment = place.environment();
  environment.data_folder.reset();
  const std::string file = place.file("lab.json", document_with_price("0.1 USD/h"));
  const auto imported = import_catalog(environment, {.file = file});
  ASSERT_FALSE(imported.ok());
  EXPECT_EQ(imported.error().kind, ErrorKind::kFailed);
  EXPECT_TRUE(mentions(imported.error().message, "XDG_DATA_HOME")) << imported.error().message;
}

// What `catalog list -o csv` prints says the same as the catalogue it was printed from.
TEST(ImportCatalog, OurOwnTableOfTheBundledCatalogueChangesNothing) {
  const Place place("import_own");
  const std::string file = place.file("own.csv", write_catalog_table(bundled()));
  const auto imported = import_catalog(place.environment(), {.file = file});
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  const auto answer = diff_catalogs(place.environment(), "bundled", "merged", "");
  ASSERT_TRUE(answer.ok());
  for (const Difference& it : answer->differences) {
    ADD_FAILURE() << it.what << ": " << it.before << " -> " << it.after;
  }
}

TEST(ImportCatalog, TablesOfTwoProvidersDoNotReplaceEachOther) {
  const Place place("import_two");
  const std::string table = write_catalog_table(bundled());
  const auto first =
      import_catalog(place.environment(), {.file = place.file("aws/vms.csv", table)});
  const auto second =
      import_catalog(place.environment(), {.file = place.file("gcp/vms.csv", table)});
  ASSERT_TRUE(first.ok());
  ASSERT_TRUE(second.ok());
  EXPECT_FALSE(second->replaced);
}

TEST(ImportCatalog, JsonIsNoTableWhateverItsSourcesAreCalled) {
  const Place place("import_json_flags");
  const std::string file =
      place.file("lab.json", write_catalog({.sources = {{.id = "lab.json", .name = "a list"}}}));
  EXPECT_FALSE(import_catalog(place.environment(), {.file = file, .provider = "gcp"}).ok());
  EXPECT_TRUE(import_catalog(place.environment(), {.file = file}).ok());
}

TEST(ImportCatalog, RefusesNamesThatDiffGivesAMeaning) {
  const Place place("import_reserved");
  const std::string file = place.file("own.csv", write_catalog_table(bundled()));
  EXPECT_FALSE(import_catalog(place.environment(), {.file = file, .name = "bundled"}).ok());
  EXPECT_FALSE(import_catalog(place.environment(), {.file = file, .name = "merged"}).ok());
}

TEST(LoadCatalog, AFolderThatCannotBeReadIsAWarning) {
  const Place place("circle");
  Environment environment = place.environment();
  environment.data_folder = place.file("x", "") + ".circle";
  std::filesystem::remove(*environment.data_folder);
  std::filesystem::create_symlink(*environment.data_folder, *environment.data_folder);
  EXPECT_FALSE(diff_catalogs(environment, "nowhere", "bundled", "").ok());
  const auto loaded = load_catalog(environment);
  ASSERT_TRUE(loaded.ok());
  EXPECT_FALSE(loaded->noun.types.empty());
  ASSERT_EQ(loaded->warnings.size(), 1U);
  EXPECT_TRUE(loaded->warnings[0].starts_with("cannot read " + *environment.data_folder))
      << loaded->warnings[0];
}

TEST(DiffCatalogs, TheBundledOneDoesNotDifferFromItself) {
  const Place place("diff_same");
  const auto answer = diff_catalogs(place.environment(), "bundled", "bundled", "");
  ASSERT_TRUE(answer.ok());
  EXPECT_TRUE(answer->differences.empty());
  EXPECT_TRUE(diff_catalogs(place.environment(), "bundled", "merged", "")->differences.empty());
}

TEST(DiffCatalogs, APriceChangeSaysBeforeAndAfter) {
  const Place place("diff_price");
  const std::string old = place.file("old.json", document_with_price("0.1 USD/h"));
  place.kept("lab.json", document_with_price("0.2 USD/h"));
  for (const std::string& after :
       {std::string("lab"), place.environment().data_folder.value() + "/catalogs/lab.json"}) {
    const auto answer = diff_catalogs(place.environment(), old, after, "");
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    ASSERT_EQ(answer->differences.size(), 1U);
    const Difference& it = answer->differences[0];
    EXPECT_EQ(it.kind, Difference::Kind::kChanged);
    EXPECT_EQ(it.what, "aws/us-east-1/g4dn.xlarge on-demand");
    EXPECT_EQ(it.before, "0.1 USD/h (2026-11-01)");
    EXPECT_EQ(it.after, "0.2 USD/h (2026-11-01)");
  }
}

TEST(DiffCatalogs, SeesWhatAnImportChanged) {
  const Place place("diff_import");
  place.kept("lab.json", document_with_price("0.2 USD/h"));
  const auto answer = diff_catalogs(place.environment(), "bundled", "merged", "");
  ASSERT_TRUE(answer.ok());
  ASSERT_EQ(answer->differences.size(), 1U);
  EXPECT_EQ(answer->differences[0].after, "0.2 USD/h (2026-11-01)");
}

TEST(DiffCatalogs, ReadsTablesOfAGivenProvider) {
  const Place place("diff_table");
  const std::string one = place.table("one.csv", "x9.big,T4,1,4,16,1,,here\n");
  const std::string two = place.table("two.csv", "x9.big,T4,1,4,16,1,0.5,here\n");
  EXPECT_TRUE(mentions(error_of(diff_catalogs(place.environment(), one, two, "")), "--provider"));
  const auto answer = diff_catalogs(place.environment(), one, two, "lab");
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  ASSERT_EQ(answer->differences.size(), 1U);
  EXPECT_EQ(answer->differences[0].kind, Difference::Kind::kAdded);
  EXPECT_EQ(answer->differences[0].what, "lab/here/x9.big spot");
}

TEST(DiffCatalogs, CollectsTheWarningsOfBoth) {
  const Place place("diff_warnings");
  const std::string one = place.file("a.json", R"({"schema": "stint.catalog/1", "a": 1})");
  const std::string two = place.file("b.json", R"({"schema": "stint.catalog/1", "b": 1})");
  const auto answer = diff_catalogs(place.environment(), one, two, "");
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->warnings.size(), 2U);
}

TEST(DiffCatalogs, AMissingFileIsBadInputThatNamesIt) {
  const Place place("diff_missing");
  for (const auto& [before, after] :
       {std::pair("nowhere.json", "bundled"), std::pair("bundled", "nowhere.json")}) {
    const auto answer = diff_catalogs(place.environment(), before, after, "");
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().kind, ErrorKind::kBadInput);
    EXPECT_TRUE(mentions(answer.error().message, "nowhere.json")) << answer.error().message;
  }
}

TEST(ImportCatalog, RefusesPricesUnderAThirdOfTheBundledOnesUnlessForced) {
  const Place place("low_prices");
  const std::string file = place.file("low.json", document_with_price("0.17 USD/h"));
  const auto refused = import_catalog(place.environment(), {.file = file});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kBadInput);
  EXPECT_TRUE(import_catalog(place.environment(), {.file = file, .force = true}).ok());
}

TEST(ListCatalog, NamesProvidersWithOneRegionOnly) {
  const Place place("single_regions");
  using Regions = std::vector<std::pair<std::string, std::string>>;
  const auto listed = list_catalog(place.environment(), {.filter = {.machines = {.gpus = {"T4"}}}});
  ASSERT_TRUE(listed.ok());
  EXPECT_EQ(listed->single_regions, (Regions{{"aws", "us-east-1"}}));
  const auto gcp = list_catalog(place.environment(), {.filter = {.providers = {"gcp"}}});
  ASSERT_TRUE(gcp.ok());
  EXPECT_TRUE(gcp->single_regions.empty());
}

}  // namespace
}  // namespace stint
