#include "cli/verbs.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <set>

#include "app/version.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/parse.h"

namespace stint::cli {
namespace {

using Words = std::vector<std::string>;

/// The command of stint in an example: what stands inside "<( )" and before a pipe or redirection.
std::string own_part(std::string command) {
  const std::size_t inside = command.find("<(");
  if (inside != std::string::npos) {
    command = command.substr(inside + 2, command.find(')') - inside - 2);
  }
  return std::string(trim(command.substr(0, command.find_first_of("|>"))));
}

/// The words of a command as a shell splits them; knows only single quotes.
Words shell_words(const std::string& command) {
  Words words(1);
  bool quoted = false;
  for (const char c : command) {
    if (c == '\'') {
      quoted = !quoted;
    } else if (c == ' ' && !quoted) {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

struct Answer {
  ExitCode code = kExitOk;
  std::string out;
};

Environment machine(const char* name) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "stint_verbs_test" / name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return {.data_folder = folder.string(),
          .home = folder.string(),
          .charset = "UTF-8",
          .clock = std::make_shared<FixedClock>(20772 * kDay)};  // 2026-11-15.
}

Answer answer_to(const Words& words, const Environment& environment = {}) {
  auto parsed = parse(verbs(), words);
  EXPECT_TRUE(parsed.ok()) << parsed.error().message;
  char* bytes = nullptr;
  std::size_t size = 0;
  std::FILE* stream = open_memstream(&bytes, &size);
  parsed->invocation.environment = environment;
  parsed->invocation.out = stream;
  parsed->invocation.err = stream;
  Answer answer{.code = parsed->verb->run(parsed->invocation)};
  std::fclose(stream);
  answer.out.assign(bytes, size);
  std::free(bytes);
  return answer;
}

std::string schema_of(const std::string& text) {
  const auto json = parse_json(text, "output");
  EXPECT_TRUE(json.ok()) << text;
  return json.ok() ? *json->find("schema")->as<std::string>() : "";
}

TEST(Verbs, EveryVerbIsExplainedAndRuns) {
  std::set<std::string> paths;
  for (const Verb& verb : verbs()) {
    EXPECT_TRUE(paths.insert(verb.path).second) << verb.path << " stands twice";
    EXPECT_TRUE(verb.summary.ends_with(".")) << verb.path;
    EXPECT_NE(verb.run, nullptr) << verb.path;
    EXPECT_GE(verb.examples.size(), 2U) << verb.path;
  }
}

TEST(Verbs, EveryVerbHasAGroupAndGroupsFollowOneAnother) {
  VerbGroup last = VerbGroup::kNone;
  for (const Verb& verb : verbs()) {
    EXPECT_NE(verb.group, VerbGroup::kNone) << verb.path;
    EXPECT_LE(last, verb.group) << verb.path;
    last = verb.group;
  }
}

TEST(Verbs, ASummaryHasAtMostTenWords) {
  for (const Verb& verb : verbs()) {
    EXPECT_LE(split(verb.summary, ' ').size(), 10U) << verb.path << ": " << verb.summary;
  }
}

TEST(Verbs, NoHelpBeginsWithAPreposition) {
  for (const Verb& verb : verbs()) {
    std::vector<std::string> texts = {verb.summary, verb.details};
    for (const OptionSpec& option : options_of(verb)) texts.push_back(option.help);
    for (const ArgumentSpec& argument : verb.arguments) texts.push_back(argument.help);
    for (const std::string& text : texts) {
      for (const char* word : {"Of ", "Its ", "Where ", "Whose ", "Before ", "Behind "}) {
        EXPECT_FALSE(text.starts_with(word)) << verb.path << ": " << text;
        EXPECT_EQ(text.find(std::string(". ") + word), std::string::npos) << verb.path;
      }
    }
  }
}

TEST(Verbs, NoVerbIsTheGroupOfAnother) {
  for (const Verb& verb : verbs()) {
    for (const Verb& other : verbs()) {
      EXPECT_FALSE(other.path.starts_with(verb.path + " ")) << verb.path << ", " << other.path;
    }
  }
}

TEST(Verbs, EveryExampleShowsItsVerbAndSaysWhatItDoes) {
  for (const Verb& verb : verbs()) {
    for (const Example& example : verb.examples) {
      EXPECT_NE(example.command.find("stint " + verb.path), std::string::npos) << example.command;
      EXPECT_TRUE(example.what.ends_with(".")) << example.command;
    }
  }
}

TEST(Verbs, EveryExampleParsesAsItsVerb) {
  for (const Verb& verb : verbs()) {
    for (const Example& example : verb.examples) {
      Words words = shell_words(own_part(example.command));
      ASSERT_EQ(words[0], "stint") << example.command;
      words.erase(words.begin());
      const auto parsed = parse(verbs(), words);
      ASSERT_TRUE(parsed.ok()) << example.command << ": " << parsed.error().message;
      EXPECT_EQ(parsed->verb, &verb) << example.command;
    }
  }
}

TEST(Verbs, EveryFlagIsExplainedAndStandsOnceInItsVerb) {
  for (const Verb& verb : verbs()) {
    std::set<std::string> names;
    for (const OptionSpec& option : options_of(verb)) {
      EXPECT_TRUE(option.name.starts_with("--")) << option.name;
      EXPECT_TRUE(option.help.ends_with(".")) << verb.path << " " << option.name;
      EXPECT_TRUE(names.insert(option.name).second) << verb.path << " " << option.name;
      if (option.letter.empty()) continue;
      EXPECT_EQ(option.letter.size(), 2U) << option.letter;
      EXPECT_TRUE(names.insert(option.letter).second) << verb.path << " " << option.letter;
    }
    for (const ArgumentSpec& argument : verb.arguments) {
      EXPECT_TRUE(argument.help.ends_with(".")) << verb.path << " " << argument.name;
    }
  }
}

TEST(Verbs, ATableIsWhatIsPrintedByDefault) {
  for (const Verb& verb : verbs()) {
    if (verb.outputs.empty()) continue;
    EXPECT_EQ(verb.outputs[0], "table") << verb.path;
  }
}

TEST(VersionVerb, PrintsTheNumber) {
  EXPECT_EQ(answer_to({"version"}).out, "stint " + version().number + "\n");
}

TEST(VersionVerb, AsJsonListsTheSchemas) {
  const Answer answer = answer_to({"version", "-o", "json"});
  EXPECT_EQ(schema_of(answer.out), "stint.version/1");
  const auto json = parse_json(answer.out, "output");
  EXPECT_EQ(*json->find("version")->as<std::string>(), version().number);
  std::set<std::string> schemas;
  for (const Json& it : *json->find("schemas")->as<Json::Array>()) {
    schemas.insert(*it.as<std::string>());
  }
  for (const std::string& it : version().schemas) EXPECT_TRUE(schemas.contains(it)) << it;
  EXPECT_TRUE(schemas.contains("stint.explanation/1"));
}

TEST(DoctorVerb, SaysWhatIsGoodAndWhatToFix) {
  Environment environment = machine("doctor");
  environment.charset = "ISO-8859-1";
  const Answer answer = answer_to({"doctor"}, environment);
  EXPECT_EQ(answer.code, kExitOk);
  EXPECT_TRUE(answer.out.starts_with("ok      catalogue ")) << answer.out;
  EXPECT_NE(answer.out.find("\nadvice  tables "), std::string::npos) << answer.out;
  EXPECT_NE(answer.out.find("  fix: export LC_ALL=C.UTF-8\n"), std::string::npos) << answer.out;
}

TEST(DoctorVerb, FailsWhenSomethingIsBroken) {
  const Environment environment = machine("doctor_broken");
  ASSERT_TRUE(write_file(*environment.data_folder + "/catalogs/a.json", "{").ok());
  const Answer answer = answer_to({"doctor"}, environment);
  EXPECT_EQ(answer.code, kExitFailed);
  EXPECT_TRUE(answer.out.starts_with("broken  catalogue ")) << answer.out;
}

TEST(DoctorVerb, AsJsonHasAnEntryPerFinding) {
  const Answer answer = answer_to({"doctor", "-o", "json"}, machine("doctor_json"));
  EXPECT_EQ(schema_of(answer.out), "stint.doctor/1");
  const auto json = parse_json(answer.out, "output");
  const auto* findings = json->find("findings")->as<Json::Array>();
  ASSERT_NE(findings, nullptr);
  EXPECT_GE(findings->size(), 7U);
  for (const Json& finding : *findings) {
    const std::string& level = *finding.find("level")->as<std::string>();
    EXPECT_TRUE(level == "ok" || level == "advice") << level;
    EXPECT_EQ(finding.find("fix") != nullptr, level != "ok");
  }
}

TEST(CompletionVerb, PrintsTheScriptOfEachShell) {
  EXPECT_TRUE(answer_to({"completion", "bash"}).out.starts_with("# bash completion for stint"));
  EXPECT_TRUE(answer_to({"completion", "zsh"}).out.starts_with("#compdef stint"));
  EXPECT_TRUE(answer_to({"completion", "fish"}).out.starts_with("# fish completion for stint"));
}

TEST(ManVerb, PrintsTheManualPage) {
  EXPECT_TRUE(answer_to({"man"}).out.starts_with(".TH STINT 1 "));
}

}  // namespace
}  // namespace stint::cli
