#include "cli/project.h"

#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "cli/parse.h"
#include "cli/verbs.h"

namespace stint::cli {
namespace {

using Words = std::vector<std::string>;

ProjectReader file_with(const std::string& text) {
  return [text]() -> Result<std::optional<Project>> {
    auto project = parse_project(text, "stint.yaml");
    if (!project.ok()) return project.error();
    return std::optional(std::move(*project));
  };
}

Invocation read(const Words& words, const std::string& text) {
  const auto parsed = parse(verbs(), words, file_with(text));
  EXPECT_TRUE(parsed.ok()) << parsed.error().message;
  return parsed.ok() ? parsed->invocation : Invocation{};
}

/// The message, after a check that it is bad input.
std::string complaint(const Words& words, const std::string& text) {
  const auto parsed = parse(verbs(), words, file_with(text));
  EXPECT_FALSE(parsed.ok()) << text;
  if (parsed.ok()) return "";
  EXPECT_EQ(parsed.error().kind, ErrorKind::kBadInput) << parsed.error().message;
  return parsed.error().message;
}

TEST(Project, FillsWhatTheCommandLineLeavesOpen) {
  const Invocation it = read({"plan", "--deadline", "6h"},
                             "model: resnet50\ndeadline: 12h\nmarkets: [spot]\nmax-vms: 8\n");
  EXPECT_EQ(it.get("--model"), "resnet50");
  EXPECT_EQ(it.get("--deadline"), "6h");
  EXPECT_EQ(it.list("--markets"), Words{"spot"});
  EXPECT_EQ(it.get("--max-vms"), "8");
  EXPECT_EQ(it.project.places.at("--markets"), (TextPlace{3, 1}));
  EXPECT_FALSE(it.project.places.contains("--deadline"));
  EXPECT_EQ(project_note(it),
            "Project file stint.yaml: model, markets, max-vms; --no-project ignores it.");
}

TEST(Project, IsIgnoredWhenAskedAndWhereItIsNotRead) {
  EXPECT_FALSE(read({"plan", "--no-project"}, "no such key: 1\n").has("--model"));
  EXPECT_FALSE(read({"predict"}, "model: resnet50\n").has("--model"));
  EXPECT_FALSE(read({"run", "--resume", "a"}, "no such key: 1\n").has("--model"));
}

TEST(Project, ASectionReplacesWhatIsCommon) {
  const std::string text = "max-vms: 8\nsearch:\n  max-vms: 2\n  steps: 5\n";
  EXPECT_EQ(read({"search"}, text).get("--max-vms"), "2");
  EXPECT_EQ(read({"search"}, text).get("--steps"), "5");
  EXPECT_EQ(read({"plan"}, text).get("--max-vms"), "8");
  EXPECT_EQ(read({"search", "--max-vms", "3"}, text).get("--max-vms"), "3");
}

// Epochs, method and command of one job are not those of another.
TEST(Project, AnotherJobOnTheCommandLineLeavesNothingOfTheJobOfTheFile) {
  const Invocation it =
      read({"plan", "--job", "other.json"},
           "model: llama-3-8b\nmethod: lora\nepochs: 3\ncommand: train\ndeadline: 12h\n");
  for (const char* option : {"--model", "--method", "--epochs"}) EXPECT_FALSE(it.has(option));
  EXPECT_TRUE(it.arguments.empty());
  EXPECT_EQ(it.get("--deadline"), "12h");
}

TEST(Project, AFlagReplacesTheKeyThatItExcludes) {
  EXPECT_FALSE(read({"plan", "--goal", "samples=5"}, "epochs: 3\n").has("--epochs"));
  EXPECT_FALSE(
      read({"plan", "--policy", "deepvm"}, "plan: {objective: time}\n").has("--objective"));
  EXPECT_FALSE(read({"run", "--plan", "2"}, "run: {cluster: 2x local.small}\n").has("--cluster"));
}

// A plan was made with a job and limits, which flags may have set.
TEST(Project, ARunOfAPlanTakesOnlyTheCommandAndItsOwnSection) {
  const std::string text =
      "job: a.json\ndeadline: 12h\nbudget: 3usd/h\ncommand: [train]\nrun:\n  notice: 30s\n";
  const Invocation planned = read({"run"}, text);
  EXPECT_FALSE(planned.has("--job"));
  EXPECT_FALSE(planned.has("--deadline"));
  EXPECT_EQ(planned.get("--notice"), "30s");
  EXPECT_EQ(planned.arguments, Words{"train"});
  EXPECT_TRUE(planned.project.command);
  const Invocation named = read({"run", "--cluster", "2x local.small"}, text);
  EXPECT_EQ(named.get("--job"), "a.json");
  EXPECT_EQ(named.get("--deadline"), "12h");
}

TEST(Project, ACommandAfterTheDashesIsNotTheFiles) {
  const Invocation it = read({"profile", "--", "mine"}, "command: theirs\n");
  EXPECT_EQ(it.arguments, Words{"mine"});
  EXPECT_FALSE(it.project.command);
  EXPECT_EQ(read({"profile"}, "command: python3 'my train.py'\n").arguments,
            (Words{"python3", "my train.py"}));
}

TEST(Project, SwitchesAreTrueOrFalse) {
  const auto with = [](const char* value) {
    return fmt::format("run: {{equal-shares: {}}}\n", value);
  };
  EXPECT_TRUE(read({"run"}, with("true")).has("--equal-shares"));
  EXPECT_FALSE(read({"run"}, with("false")).has("--equal-shares"));
  EXPECT_EQ(complaint({"run"}, with("maybe")),
            "stint.yaml:1:7: equal-shares must be true or false");
}

TEST(Project, AnUnknownKeyNamesTheNearest) {
  EXPECT_EQ(complaint({"plan"}, "model: resnet50\ndedline: 12h\n"),
            "stint.yaml:2:1: 'dedline' is not a key of a project file. Did you mean 'deadline'?");
  EXPECT_EQ(complaint({"plan"}, "search:\n  tagret: steps=5\n"),
            "stint.yaml:2:3: 'tagret' is not a key of 'search'. Did you mean 'target'?");
  EXPECT_EQ(complaint({"plan"}, "limits:\n  deadline: 5h\n"),
            "stint.yaml:2:3: 'limits' is not a section of a project file, which are plan, profile, "
            "run, search");
  EXPECT_EQ(complaint({"plan"}, "steps: 5\n"),
            "stint.yaml:1:1: 'steps' belongs under 'profile:' or 'run:' or 'search:'");
}

TEST(Project, ConsentAndOutputFilesAreNotTakenFromAFile) {
  for (const char* key : {"yes", "save", "env", "out", "output", "resume", "dry-run"}) {
    EXPECT_EQ(complaint({"plan"}, fmt::format("{}: a\n", key)),
              fmt::format("stint.yaml:1:1: '{0}' is not taken from a file; give --{0} on the "
                          "command line",
                          key));
  }
}

TEST(Project, AValueIsReadAsTheFlagReadsIt) {
  EXPECT_EQ(complaint({"plan"}, "markets: spt\n"),
            "stint.yaml:1:1: --markets must be one of on-demand, spot, not 'spt'. Did you mean "
            "'spot'?");
  EXPECT_EQ(complaint({"plan"}, "budget: [1usd, 2usd]\n"),
            "stint.yaml:1:1: --budget is given 2 times; give it once");
  EXPECT_EQ(read({"plan"}, "markets: 'on-demand,spot'\n").list("--markets").size(), 2u);
}

// Whoever renames a flag finds the key here.
TEST(Project, EveryKeyIsAFlagOfAVerbThatReadsTheFile) {
  for (const ProjectKey& key : project_keys()) {
    if (std::string_view(key.key) == "command") continue;
    const bool known = std::any_of(verbs().begin(), verbs().end(), [&](const Verb& verb) {
      return verb.project &&
             std::any_of(verb.options.begin(), verb.options.end(), [&](const OptionSpec& option) {
               return option.name == fmt::format("--{}", key.key);
             });
    });
    EXPECT_TRUE(known) << key.key;
  }
}

TEST(Project, ThePageNamesEveryKey) {
  const auto page = read_file(STINT_SOURCE "/docs/project-file.md");
  ASSERT_TRUE(page.ok()) << page.error().message;
  for (const ProjectKey& key : project_keys()) {
    EXPECT_NE(page->find(fmt::format("`{}`", key.key)), std::string::npos) << key.key;
  }
}

// Every example goes through the checks of the flag.
TEST(Project, EveryExampleIsTaken) {
  for (const Verb& verb : verbs()) {
    if (!verb.project) continue;
    for (const ProjectKey& key : project_keys()) {
      const bool has = std::any_of(
          verb.options.begin(), verb.options.end(),
          [&](const OptionSpec& option) { return option.name == fmt::format("--{}", key.key); });
      if (!has) continue;
      const auto project =
          parse_project(fmt::format("{}:\n  {}: {}\n", verb.path, key.key, key.example), "a");
      ASSERT_TRUE(project.ok()) << key.key << ": " << project.error().message;
      Invocation invocation;
      const Status taken = apply_project(*project, verbs(), verb, invocation);
      EXPECT_TRUE(taken.ok()) << key.key << ": " << taken.error().message;
      EXPECT_TRUE(invocation.has(fmt::format("--{}", key.key))) << key.key;
    }
  }
}

}  // namespace
}  // namespace stint::cli
