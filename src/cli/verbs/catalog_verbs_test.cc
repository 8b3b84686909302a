#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "catalog/table_format.h"
#include "cli/parse.h"
#include "cli/verbs/verb_list.h"
#include "load/catalog_cases.h"

namespace stint::cli {
namespace {

constexpr const char* kTable =
    "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,SpotPrice,Region\n"
    "x9.big,T4,2,8,32,1.5,0.5,us-east-1\n"
    "g4dn.xlarge,T4,1,4,16,0.75,,us-east-1\n";

/// The g4dn.xlarge of us-east-1 at `price`.
std::string document_with_price(const std::string& price) {
  return R"({"schema": "stint.catalog/1", "sources": [{"id": "us", "name": "our contract"}],
             "types": [{"provider": "aws", "name": "g4dn.xlarge", "offers": [
               {"region": "us-east-1", "on_demand":
                 {"price": ")" +
         price + R"(", "date": "2026-11-01", "source": "us"}}]}]})";
}

struct Answer {
  int code = 0;
  std::string out;
  std::string err;
};

/// What a memory stream holds once it is closed.
class Paper {
 public:
  Paper() : stream_(open_memstream(&bytes_, &size_)) {}
  std::FILE* stream() const { return stream_; }
  std::string close() {
    std::fclose(stream_);
    std::string text(bytes_, size_);
    std::free(bytes_);
    return text;
  }

 private:
  char* bytes_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* stream_;
};

/// A folder of its own in which verbs are run on 2026-11-15 (day 20772).
class Session {
 public:
  explicit Session(const char* name)
      : folder_(std::filesystem::path(testing::TempDir()) / "stint_catalog_verbs_test" / name) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }

  std::string file(const std::string& name, std::string_view bytes) const {
    std::string path = (folder_ / name).string();
    EXPECT_TRUE(write_file(path, bytes).ok());
    return path;
  }

  /// Runs `catalog` with these words.
  Answer catalog(std::vector<std::string> words) const {
    words.insert(words.begin(), "catalog");
    const std::vector<Verb> verbs = catalog_verbs();
    auto parsed = parse(verbs, words);
    if (!parsed.ok()) return {.code = exit_code(parsed.error()), .err = parsed.error().message};
    Invocation& invocation = parsed->invocation;
    invocation.environment = {.data_folder = (folder_ / "data").string(),
                              .home = folder_.string(),
                              .clock = std::make_shared<FixedClock>(20772 * kDay)};
    invocation.out_terminal.width = 0;
    Paper out;
    Paper err;
    invocation.out = out.stream();
    invocation.err = err.stream();
    const int code = parsed->verb->run(invocation);
    return {.code = code, .out = out.close(), .err = err.close()};
  }

 private:
  std::filesystem::path folder_;
};

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The text of a member, or nothing.
std::string text_of(const Json& json, const char* member) {
  const Json* found = json.find(member);
  const auto* text = found == nullptr ? nullptr : found->as<std::string>();
  return text == nullptr ? "" : *text;
}

std::vector<std::string> lines_of(const std::string& text) {
  return split(std::string_view(text).substr(0, text.size() - 1), '\n');
}

TEST(CatalogList, ATableOnTheOutputAndTalkBesideIt) {
  const Answer answer = Session("list").catalog({"list", "--gpu", "T4", "--limit", "2"});
  EXPECT_EQ(answer.code, kExitOk);
  EXPECT_EQ(lines_of(answer.out).size(), 3U) << answer.out;
  EXPECT_TRUE(answer.out.starts_with("VM ")) << answer.out;
  EXPECT_TRUE(mentions(answer.err, "~ computed")) << answer.err;
  EXPECT_TRUE(mentions(answer.err, "2 of ")) << answer.err;
  EXPECT_TRUE(mentions(answer.err, "stint catalog show g4dn.xlarge\n")) << answer.err;
}

TEST(CatalogList, ExplainsOnlyTheMarksThatAreThere) {
  const Session session("list_marks");
  const Answer plain = session.catalog({"list", "--gpu", "A100", "--providers", "azure"});
  EXPECT_FALSE(mentions(plain.out, "~")) << plain.out;
  EXPECT_FALSE(mentions(plain.err, "~")) << plain.err;
  const Answer marked = session.catalog({"list", "--gpu", "inferentia"});
  EXPECT_TRUE(mentions(marked.out, " *1x inferentia ")) << marked.out;
  EXPECT_TRUE(mentions(marked.err, "* no figures")) << marked.err;
}

TEST(CatalogList, QuietPrintsOnlyTheAnswer) {
  const Answer answer = Session("list_quiet").catalog({"list", "--gpu", "T4", "-q"});
  EXPECT_EQ(answer.err, "");
  EXPECT_NE(answer.out, "");
}

TEST(CatalogList, JsonReadsBackAsACatalogue) {
  const Answer answer =
      Session("list_json").catalog({"list", "--providers", "azure", "-o", "json"});
  const auto read = read_catalog(answer.out, "output");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_FALSE(read->noun.types.empty());
  for (const VmType& type : read->noun.types) EXPECT_EQ(type.provider, "azure");
  EXPECT_EQ(answer.err, "");
}

TEST(CatalogList, CsvReadsBackAsACatalogue) {
  const Answer answer = Session("list_csv").catalog({"list", "--gpu", "V100", "-o", "csv"});
  const auto read = read_catalog_table(answer.out, "output", {.name = "output"});
  ASSERT_TRUE(read.ok()) << read.error().message;
  for (const VmType& type : read->noun.types) EXPECT_TRUE(has_gpu(type, "V100")) << type.name;
  EXPECT_EQ(answer.err, "");
}

TEST(CatalogList, PassesEveryFilterOn) {
  const Session session("list_filters");
  const Answer answer = session.catalog(
      {"list", "--providers", "aws,gcp", "--regions", "us-central1,us-east-1", "--markets", "spot",
       "--min-gpu-memory", "24GB", "--max-price", "5 USD/h", "--sort", "gpu-memory", "-o", "json"});
  const auto read = read_catalog(answer.out, "output");
  ASSERT_TRUE(read.ok()) << answer.err;
  ASSERT_FALSE(read->noun.types.empty());
  std::optional<Bytes> before;
  for (const VmType& type : read->noun.types) {
    const auto memory = accelerator_memory(read->noun, type);
    EXPECT_GE(*memory, 24 * kGB) << type.name;
    EXPECT_TRUE(!before || *memory <= *before) << type.name;
    before = memory;
    for (const Offer& offer : type.offers) {
      EXPECT_LE(offer.spot->rate, 5 * kDollar / kHour) << type.name;
      EXPECT_TRUE(offer.region == "us-central1" || offer.region == "us-east-1") << offer.region;
    }
  }
}

TEST(CatalogList, AllRegionsHasMoreRows) {
  const Session session("list_regions");
  const Answer one = session.catalog({"list", "--gpu", "L4", "--providers", "gcp"});
  const Answer all =
      session.catalog({"list", "--gpu", "L4", "--providers", "gcp", "--all-regions"});
  EXPECT_TRUE(mentions(one.out, " +")) << one.out;
  EXPECT_GT(lines_of(all.out).size(), lines_of(one.out).size());
}

TEST(CatalogList, NothingFoundIsSaidAndIsNoError) {
  const Answer answer = Session("list_none").catalog({"list", "--max-price", "0.0001 USD/h"});
  EXPECT_EQ(answer.code, kExitOk);
  EXPECT_EQ(answer.out, "");
  EXPECT_TRUE(mentions(answer.err, "No machine passes these filters")) << answer.err;
}

TEST(CatalogList, BadValuesAreUsageErrorsThatNameTheFlag) {
  const Session session("list_bad");
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {"--limit", {"0", "-3", "x", "1.5", "99999999999"}},
      {"--max-price", {"3", "0 USD/h", "3 GB", "cheap"}},
      {"--min-gpu-memory", {"24", "24 USD", "much"}},
      {"--sort", {"size"}},
      {"--markets", {"spto", "spot,", ","}}};
  for (const auto& [flag, values] : cases) {
    for (const std::string& value : values) {
      const Answer answer = session.catalog({"list", flag + "=" + value});
      EXPECT_EQ(answer.code, kExitUsage) << flag << " " << value;
      EXPECT_TRUE(mentions(answer.err, flag)) << answer.err;
      EXPECT_EQ(answer.out, "");
    }
  }
}

TEST(CatalogList, AnUnknownGpuSuggestsTheNearest) {
  const Answer answer = Session("list_gpu").catalog({"list", "--gpu", "A10G0"});
  EXPECT_EQ(answer.code, kExitUsage);
  EXPECT_TRUE(answer.err.starts_with("stint catalog list: ")) << answer.err;
  EXPECT_TRUE(mentions(answer.err, "'A10G'")) << answer.err;
}

TEST(CatalogShow, PrintsASheet) {
  const Answer answer = Session("show").catalog({"show", "g4dn.12xlarge"});
  EXPECT_EQ(answer.code, kExitOk);
  EXPECT_TRUE(answer.out.starts_with("g4dn.12xlarge  (aws)\n")) << answer.out;
  EXPECT_TRUE(mentions(answer.out, "\nSources\n"));
  EXPECT_TRUE(mentions(answer.err, "~ computed")) << answer.err;
}

TEST(CatalogShow, HasTheOtherOutputsToo) {
  const Session session("show_outputs");
  const Answer json = session.catalog({"show", "g4dn.xlarge", "-o", "json"});
  EXPECT_EQ(read_catalog(json.out, "output")->noun.types.size(), 1U);
  EXPECT_EQ(json.err, "");
  const Answer csv = session.catalog({"show", "g4dn.xlarge", "-o", "csv"});
  EXPECT_EQ(lines_of(csv.out).size(), 2U) << csv.out;
}

TEST(CatalogShow, AnUnknownMachineSuggestsTheNearest) {
  const Answer answer = Session("show_unknown").catalog({"show", "g4dn.xlareg"});
  EXPECT_EQ(answer.code, kExitUsage);
  EXPECT_EQ(answer.out, "");
  EXPECT_TRUE(answer.err.starts_with("stint catalog show: ")) << answer.err;
  EXPECT_TRUE(mentions(answer.err, "'g4dn.xlarge'")) << answer.err;
}

TEST(CatalogImport, SaysWhatItKeptAndWhereToSeeIt) {
  const Session session("import");
  const std::string file = session.file("aws.csv", kTable);
  const Answer first = session.catalog({"import", file});
  EXPECT_EQ(first.code, kExitOk) << first.err;
  EXPECT_TRUE(mentions(first.out, "2 VM types with 2 offers")) << first.out;
  EXPECT_TRUE(mentions(first.out, "/data/catalogs/aws.json\n")) << first.out;
  EXPECT_FALSE(mentions(to_lower(first.out), "replaced")) << first.out;
  EXPECT_EQ(first.err,
            "Prices are dated today, 2026-11-15; --date sets another date.\nDetails of one: stint "
            "catalog show aws/x9.big\n");
  const Answer again = session.catalog({"import", file});
  EXPECT_TRUE(mentions(to_lower(again.out), "replaced")) << again.out;
  EXPECT_TRUE(mentions(session.catalog({"list", "--gpu", "T4"}).out, "\nx9.big "));
}

TEST(CatalogImport, AsJsonSaysTheSame) {
  const Session session("import_json");
  const std::string file = session.file("aws.csv", kTable);
  const Answer answer = session.catalog({"import", file, "--name", "mine", "-o", "json"});
  const auto json = parse_json(answer.out, "output");
  ASSERT_TRUE(json.ok()) << answer.out;
  EXPECT_EQ(text_of(*json, "schema"), "stint.catalog-import/1");
  EXPECT_TRUE(text_of(*json, "path").ends_with("/mine.json"));
  EXPECT_FALSE(*json->find("replaced")->as<bool>());
  EXPECT_EQ(*json->find("types")->as<std::int64_t>(), 2);
  EXPECT_EQ(*json->find("offers")->as<std::int64_t>(), 2);
  EXPECT_EQ(answer.err, "");
}

TEST(CatalogImport, PrintsWarnings) {
  const Session session("import_warnings");
  const std::string file = session.file("lab.json", R"({"schema":"stint.catalog/1","colour":1})");
  EXPECT_TRUE(mentions(session.catalog({"import", file}).err, "warning: " + file));
  EXPECT_FALSE(mentions(session.catalog({"import", file, "-q"}).err, "warning"));
}

TEST(CatalogImport, ErrorsHaveTheirExitCodes) {
  const Session session("import_errors");
  const std::string table = session.file("aws.csv", kTable);
  const std::string unknown = session.file("prices.csv", kTable);
  EXPECT_EQ(session.catalog({"import", "/nonexistent.json"}).code, kExitBadInput);
  EXPECT_EQ(session.catalog({"import", session.file("a.json", "{")}).code, kExitBadInput);
  EXPECT_EQ(session.catalog({"import", table, "--date", "soon"}).code, kExitUsage);
  EXPECT_EQ(session.catalog({"import", table, "--name", "../x"}).code, kExitUsage);
  EXPECT_EQ(session.catalog({"import", unknown}).code, kExitUsage);
  EXPECT_EQ(session.catalog({"import", unknown, "--provider", "lab"}).code, kExitOk);
}

TEST(CatalogDiff, SaysThatTwoSayTheSame) {
  const Answer answer = Session("diff_same").catalog({"diff", "bundled", "bundled"});
  EXPECT_EQ(answer.code, kExitOk);
  EXPECT_EQ(answer.out, "");
  EXPECT_EQ(answer.err, "The two catalogues are equal (sources are not compared).\n");
}

TEST(CatalogDiff, PrintsWhatAnImportChanged) {
  const Session session("diff");
  ASSERT_EQ(session.catalog({"import", session.file("aws.csv", kTable)}).code, kExitOk);
  const Answer answer = session.catalog({"diff", "bundled", "merged"});
  EXPECT_TRUE(answer.out.starts_with("change ")) << answer.out;
  EXPECT_TRUE(mentions(answer.out, "changed  aws/us-east-1/g4dn.xlarge on-demand ")) << answer.out;
  EXPECT_TRUE(mentions(answer.out, "added    aws/x9.big ")) << answer.out;
  const std::size_t rows = lines_of(answer.out).size() - 1;
  EXPECT_EQ(answer.err, std::to_string(rows) + " differences.\n");
}

TEST(CatalogDiff, CsvAndJsonHoldBeforeAndAfter) {
  const Session session("diff_outputs");
  const std::string old = session.file("old.json", document_with_price("0.75 USD/h"));
  const std::string fresh = session.file("fresh.json", document_with_price("0.25 USD/h"));
  EXPECT_EQ(session.catalog({"diff", old, fresh, "-o", "csv"}).out,
            "change,what,before,after\n"
            "changed,aws/us-east-1/g4dn.xlarge on-demand,0.75 USD/h (2026-11-01),"
            "0.25 USD/h (2026-11-01)\n");
  const auto json = parse_json(session.catalog({"diff", old, fresh, "-o", "json"}).out, "output");
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(text_of(*json, "schema"), "stint.catalog-diff/1");
  const auto* differences = json->find("differences")->as<Json::Array>();
  ASSERT_EQ(differences->size(), 1U);
  EXPECT_EQ(text_of((*differences)[0], "change"), "changed");
  EXPECT_EQ(text_of((*differences)[0], "before"), "0.75 USD/h (2026-11-01)");
  EXPECT_EQ(text_of((*differences)[0], "after"), "0.25 USD/h (2026-11-01)");
}

TEST(CatalogDiff, AMissingFileIsBadInput) {
  const Answer answer = Session("diff_missing").catalog({"diff", "bundled", "nowhere.json"});
  EXPECT_EQ(answer.code, kExitBadInput);
  EXPECT_TRUE(answer.err.starts_with("stint catalog diff: ")) << answer.err;
}

TEST(CatalogVerbs, ABrokenUserCatalogueIsBadInputForAllThatReadIt) {
  const Session session("broken");
  const std::string file = session.file("data/catalogs/lab.json", "{");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"list"}, std::vector<std::string>{"show", "g4dn.xlarge"},
        std::vector<std::string>{"diff", "bundled", "merged"}}) {
    const Answer answer = session.catalog(words);
    EXPECT_EQ(answer.code, kExitBadInput) << words[0];
    EXPECT_EQ(answer.out, "") << words[0];
    EXPECT_TRUE(mentions(answer.err, file)) << answer.err;
  }
}

}  // namespace
}  // namespace stint::cli
