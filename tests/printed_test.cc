// Every document that a golden case prints with -o json is valid against its schema in
// docs/formats, so that no verb can print one that has none. Every command that a golden case
// prints as a hint is one that the command line accepts.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <regex>
#include <set>
#include <sstream>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/parse.h"
#include "cli/run.h"
#include "cli/verbs.h"
#include "schema.h"

namespace stint {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = STINT_SOURCE;

/// The JSON documents among what a case prints to stdout, each from a line that opens it to the
/// line that closes it.
std::vector<std::string> documents_in(const std::string& expected) {
  std::vector<std::string> documents;
  bool open = false;
  std::istringstream lines(expected);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("--- ")) break;
    const bool opens = !open && (line == "{" || line.starts_with("{\""));
    if (opens) documents.emplace_back();
    open = open || opens;
    if (open) documents.back() += line + "\n";
    if (open && (line == "}" || (opens && line.ends_with("}")))) open = false;
  }
  return documents;
}

/// A document as it was before the case cut digits off ("0.25…") or a last line out of a list.
std::string mended(const std::string& document) {
  const std::string whole = std::regex_replace(document, std::regex("…"), "");
  return std::regex_replace(whole, std::regex(",(\\s*\\])"), "$1");
}

std::string text_of(const Json& json, const char* name) {
  const Json* member = json.find(name);
  const auto* text = member == nullptr ? nullptr : member->as<std::string>();
  return text == nullptr ? "" : *text;
}

/// The schema of a document: "stint.risk_fit.1" if it is a stint.risk/1 whose `what` is fit and
/// that kind has one of its own, else "stint.risk.1".
std::string schema_of(const Json& document) {
  const auto parts = split(text_of(document, "schema"), '/');
  if (parts.size() != 2) return "";
  for (const std::string& kind : {"_" + text_of(document, "what"), std::string()}) {
    const std::string name = parts[0] + kind + "." + parts[1] + ".schema.json";
    const auto schema = read_file((kRoot / "docs/formats" / name).string());
    if (schema.ok()) return *schema;
  }
  return "";
}

/// Expects that the document and those inside it follow their schemas; returns how many there are.
int expect_valid(const Json& json, bool is_document) {
  int count = 0;
  if (is_document || json.find("schema") != nullptr) {
    const std::string text = to_text(json, JsonStyle::kPretty);
    const std::string schema = schema_of(json);
    EXPECT_NE(schema, "") << "no schema in docs/formats for " << text;
    if (!schema.empty()) {
      EXPECT_EQ(schema_problem(schema, text), "") << text;
    }
    ++count;
  }
  if (const auto* array = json.as<Json::Array>()) {
    for (const Json& item : *array) count += expect_valid(item, false);
  } else if (const auto* object = json.as<Json::Object>()) {
    for (const auto& [name, value] : *object) count += expect_valid(value, false);
  }
  return count;
}

bool asks_for_json(const std::string& command) {
  return std::regex_search(command, std::regex("(-o|--output)[ =]?json"));
}

std::vector<fs::path> golden_cases() {
  std::vector<fs::path> cases;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "tests/golden")) {
    if (entry.path().filename() == "command") cases.push_back(entry.path().parent_path());
  }
  return cases;
}

TEST(Printed, EveryJsonAnswerOfAGoldenCaseIsValidAgainstItsSchema) {
  int documents = 0;
  for (const fs::path& folder : golden_cases()) {
    if (!asks_for_json(*read_file((folder / "command").string()))) continue;
    SCOPED_TRACE(folder.string());
    for (const std::string& text : documents_in(*read_file((folder / "expected").string()))) {
      const auto json = parse_json(mended(text), "expected");
      ASSERT_TRUE(json.ok()) << json.error().message;
      documents += expect_valid(*json, true);
    }
  }
  EXPECT_GE(documents, 40);
}

std::string output_of(const std::vector<std::string>& words) {
  char* bytes = nullptr;
  std::size_t size = 0;
  std::FILE* out = open_memstream(&bytes, &size);
  const auto nothing = [](const char*) { return std::string(); };
  EXPECT_EQ(cli::run(words, nothing, out, stderr), cli::kExitOk);
  std::fclose(out);
  std::string text(bytes, size);
  std::free(bytes);
  return text;
}

/// Verbs that no golden case asks for JSON, because the last digits of a fit differ between
/// compilers. Files are those of golden cases.
std::vector<std::vector<std::string>> commands() {
  const std::string golden = (kRoot / "tests/golden").string();
  const std::string table = golden + "/validate/interleave/files/table.csv";
  const std::string runs = golden + "/validate/runs/files/runs.jsonl";
  const std::string devices = golden + "/calibrate/devices_table/files/isolated.csv";
  const std::string sharing = golden + "/calibrate/sharing/files/";
  const std::string collectives = golden + "/validate/collective_predictions/files/rows.csv";
  return {{"calibrate", "buckets", "--train", runs, "--name", "a"},
          {"calibrate", "devices", "--train", "gavel:" + devices, "--name", "a"},
          {"calibrate", "fabric", "--format", "pollux", "--train", table, "--name", "a"},
          {"calibrate", "sharing", "--train", sharing + "pairs.csv", sharing + "alone.csv",
           "--name", "a"},
          {"risk", "saves", "--vm", "p4d.24xlarge", "--work", "24h", "--bytes", "3GB"},
          {"validate", "collective", "--train", collectives, "--test", collectives},
          {"validate", "interleave", "--format", "pollux", "--train", table, "--split",
           "leave-one-job-out", "--mixes", "2", "--jobs-per-mix", "4"}};
}

TEST(Printed, OtherJsonAnswersAreValidAgainstTheirSchema) {
  for (std::vector<std::string> words : commands()) {
    SCOPED_TRACE(words[0] + " " + words[1]);
    words.insert(words.end(), {"-o", "json"});
    const auto json = parse_json(output_of(words), "output");
    ASSERT_TRUE(json.ok()) << json.error().message;
    expect_valid(*json, true);
  }
}

/// Verbs that need a cluster, a training script or thousands of measurements. Their documents are
/// among tests/formats.
const std::set<std::string> kNeedMore = {"local add",
                                         "local down",
                                         "local preempt",
                                         "local release",
                                         "local reshape",
                                         "local up",
                                         "probe network",
                                         "profile",
                                         "run",
                                         "search",
                                         "validate search",
                                         "calibrate collective",
                                         "calibrate device-model",
                                         "calibrate memory",
                                         "calibrate sharded"};

/// "catalog list" where a golden case has "stint catalog list … -o json" in a line.
bool golden_case_prints(const std::string& verb) {
  for (const fs::path& folder : golden_cases()) {
    std::istringstream lines(*read_file((folder / "command").string()));
    for (std::string line; std::getline(lines, line);) {
      if (line.find("stint " + verb + " ") != std::string::npos && asks_for_json(line)) return true;
    }
  }
  return false;
}

TEST(Printed, NoVerbThatPrintsJsonIsForgotten) {
  std::set<std::string> run;
  for (const auto& words : commands()) run.insert(words[0] + " " + words[1]);
  for (const cli::Verb& verb : cli::verbs()) {
    if (std::count(verb.outputs.begin(), verb.outputs.end(), "json") == 0) continue;
    const bool seen =
        run.contains(verb.path) || kNeedMore.contains(verb.path) || golden_case_prints(verb.path);
    EXPECT_TRUE(seen) << "add a golden case of: stint " << verb.path << " -o json";
  }
}

/// The words of a command as a shell splits them; only single quotes and backslashes are special in
/// what we print.
std::vector<std::string> shell_words(const std::string& command) {
  std::vector<std::string> words;
  bool quoted = false;
  bool inside = false;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (c == ' ' && !quoted) {
      inside = false;
      continue;
    }
    if (!inside) words.emplace_back();
    inside = true;
    if (c == '\'') {
      quoted = !quoted;
    } else if (c == '\\' && !quoted && i + 1 < command.size()) {
      words.back() += command[++i];
    } else {
      words.back() += c;
    }
  }
  return words;
}

/// The commands in what a case prints to people: "Next: stint …" and "Details: stint …" to the end
/// of the line, and lines that hold nothing else but a remark in brackets behind them.
std::vector<std::string> hints_in(const std::string& expected) {
  static const std::regex kHint(R"((?:[A-Za-z]: |^  )stint ([a-z].*)$)");
  static const std::regex kRemark(R"(  +\(.*\)$)");
  std::vector<std::string> hints;
  std::istringstream lines(expected);
  bool spoken = false;  // Only what goes to stderr is for people; help has examples of its own.
  for (std::string line; std::getline(lines, line);) {
    spoken = spoken || line == "--- stderr";
    std::smatch found;
    const bool usage = line.find("[flags]") != std::string::npos;
    if (!spoken || usage || !std::regex_search(line, found, kHint)) continue;
    hints.push_back(std::regex_replace(found[1].str(), kRemark, ""));
  }
  return hints;
}

TEST(Printed, EveryHintOfAGoldenCaseIsACommandThatIsAccepted) {
  int hints = 0;
  for (const fs::path& folder : golden_cases()) {
    SCOPED_TRACE(folder.string());
    for (const std::string& hint : hints_in(*read_file((folder / "expected").string()))) {
      const auto parsed = cli::parse(cli::verbs(), shell_words(hint));
      EXPECT_TRUE(parsed.ok()) << hint << ": " << parsed.error().message;
      ++hints;
    }
  }
  EXPECT_GE(hints, 40);
}

TEST(Printed, HintsAreSplitAsAShellDoes) {
  EXPECT_EQ(shell_words(R"(a --job 'my job'\''s.json' b)"),
            (std::vector<std::string>{"a", "--job", "my job's.json", "b"}));
  const std::string said =
      "stint plan is not a hint\n--- stderr\nDone. Next: stint plan --job a\n"
      "  stint demo --run     (on an emulated cloud)\n";
  EXPECT_EQ(hints_in(said), (std::vector<std::string>{"plan --job a", "demo --run"}));
  EXPECT_FALSE(cli::parse(cli::verbs(), shell_words("plan --jop a")).ok());
}

TEST(Printed, ADocumentWithoutASchemaIsNoticed) {
  EXPECT_EQ(schema_of(*parse_json(R"({"a": 1})", "text")), "");
  EXPECT_EQ(schema_of(*parse_json(R"({"schema": "stint.nothing/1"})", "text")), "");
  const Json cut = *parse_json(R"({"schema": "stint.risk/1", "what": "survive"})", "text");
  EXPECT_NE(schema_problem(schema_of(cut), to_text(cut, JsonStyle::kLine)), "");
}

}  // namespace
}  // namespace stint
