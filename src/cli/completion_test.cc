#include "cli/completion.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "cli/verbs.h"

namespace stint::cli {
namespace {

using Names = std::set<std::string>;

/// The bash script in a file of its own.
const std::string& bash_script() {
  static const std::string kPath = [] {
    const auto folder = std::filesystem::path(testing::TempDir()) / "stint_completion_test";
    std::filesystem::remove_all(folder);
    const std::string path = (folder / "stint.bash").string();
    EXPECT_TRUE(write_file(path, completion_script(verbs(), "bash")).ok());
    return path;
  }();
  return kPath;
}

std::string printed_by(const std::string& command) {
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::string text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  EXPECT_EQ(::pclose(pipe), 0) << command;
  return text;
}

/// The words that bash offers for the last of `words`.
Names offered(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += " \"" + word + "\"";
  const std::string file = bash_script() + ".test";
  const std::string script =
      "source '" + bash_script() + "'\nCOMP_WORDS=(stint" + line +
      ")\nCOMP_CWORD=" + std::to_string(words.size()) +
      "\n_stint\nfor reply in \"${COMPREPLY[@]}\"; do echo \"$reply\"; done\n";
  EXPECT_TRUE(write_file(file, script).ok());
  Names names;
  for (std::string& name : split(printed_by("bash '" + file + "'"), '\n')) {
    if (!name.empty()) names.insert(std::move(name));
  }
  return names;
}

std::vector<std::string> then(const Verb& verb, const std::vector<std::string>& more) {
  std::vector<std::string> words = split(verb.path, ' ');
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(BashCompletion, IsValidBash) {
  EXPECT_EQ(std::system(("bash -n '" + bash_script() + "'").c_str()), 0);
}

TEST(BashCompletion, RegistersItselfForStint) {
  const std::string registered =
      printed_by("bash -c \"source '" + bash_script() + "'; complete -p stint\"");
  EXPECT_NE(registered.find("-F _stint stint"), std::string::npos) << registered;
}

TEST(BashCompletion, CompletesVerbs) {
  EXPECT_EQ(offered({"cata"}), (Names{"catalog"}));
  EXPECT_EQ(offered({"catalog", "li"}), (Names{"list"}));
  EXPECT_EQ(offered({"xyzzy"}), Names{});
}

TEST(BashCompletion, OffersTheFirstWordOfEveryVerb) {
  Names first;
  for (const Verb& verb : verbs()) first.insert(split(verb.path, ' ')[0]);
  EXPECT_EQ(offered({""}), first);
}

TEST(BashCompletion, OffersAllTheFlagsOfEveryVerb) {
  for (const Verb& verb : verbs()) {
    Names flags;
    for (const OptionSpec& option : options_of(verb)) flags.insert(option.name);
    EXPECT_EQ(offered(then(verb, {"--"})), flags) << verb.path;
  }
}

TEST(BashCompletion, OffersTheChoicesOfEveryFlagAndNothingElse) {
  for (const Verb& verb : verbs()) {
    for (const OptionSpec& option : options_of(verb)) {
      if (option.value.empty()) continue;
      const Names choices(option.choices.begin(), option.choices.end());
      EXPECT_EQ(offered(then(verb, {option.name, ""})), choices) << verb.path << option.name;
    }
  }
  EXPECT_EQ(offered({"catalog", "list", "-o", "j"}), (Names{"json"}));
}

TEST(BashCompletion, GoesOnAfterAFlagWithItsValue) {
  EXPECT_EQ(offered({"catalog", "list", "--sort", "price", "--lim"}), (Names{"--limit"}));
  EXPECT_EQ(offered({"catalog", "list", "--all-regions", "--lim"}), (Names{"--limit"}));
}

TEST(BashCompletion, OffersTheChoicesOfArguments) {
  EXPECT_EQ(offered({"completion", "z"}), (Names{"zsh"}));
}

TEST(ZshCompletion, KnowsEveryVerbAndFlag) {
  const std::string script = completion_script(verbs(), "zsh");
  EXPECT_TRUE(script.starts_with("#compdef stint\n"));
  for (const Verb& verb : verbs()) {
    EXPECT_NE(script.find("\"" + verb.path + "\""), std::string::npos) << verb.path;
    for (const OptionSpec& option : options_of(verb)) {
      EXPECT_NE(script.find(option.name), std::string::npos) << option.name;
    }
  }
}

TEST(FishCompletion, HasALineForEveryFlagOfEveryVerb) {
  const std::string script = completion_script(verbs(), "fish");
  std::size_t flags = 0;
  for (const Verb& verb : verbs()) {
    for (const OptionSpec& option : options_of(verb)) {
      ++flags;
      EXPECT_NE(script.find(" -l " + option.name.substr(2) + " "), std::string::npos)
          << option.name;
    }
  }
  EXPECT_EQ(count_of(script, " -l "), flags);
}

TEST(FishCompletion, OffersVerbsInTheOrderOfTheTable) {
  const std::vector<Verb> verbs = {{.path = "run", .summary = ""},
                                   {.path = "local up", .summary = ""},
                                   {.path = "local down", .summary = ""}};
  const std::string script = completion_script(verbs, "fish");
  EXPECT_NE(script.find(" -k -n '__fish_use_subcommand' -a 'run local'\n"), std::string::npos)
      << script;
  EXPECT_NE(script.find(" -a 'up down'\n"), std::string::npos) << script;
}

TEST(FishCompletion, QuotesHelpTexts) {
  const std::vector<Verb> odd = {
      {.path = "go", .summary = "", .options = {{.name = "--way", .help = "It's C:\\."}}}};
  const std::string script = completion_script(odd, "fish");
  EXPECT_NE(script.find("-l way -d 'It\\'s C:\\\\.'\n"), std::string::npos) << script;
}

}  // namespace
}  // namespace stint::cli
