#include "cli/help.h"

#include <gtest/gtest.h>
#include <set>

#include "base/text.h"
#include "cli/verbs.h"

namespace stint::cli {
namespace {

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// As text stands in a manual page.
std::string in_roff(const std::string& text) {
  std::string escaped;
  for (const char c : text) escaped += c == '-' ? "\\-" : std::string(1, c);
  return escaped;
}

std::string words_of(const std::string& text) {
  std::string words;
  for (const std::string& line : split(text, '\n')) words += line + " ";
  return words;
}

TEST(HelpText, OfEveryVerbMentionsAllItsParts) {
  for (const Verb& verb : verbs()) {
    const std::string help = help_text(verbs(), verb.path);
    EXPECT_TRUE(help.starts_with(verb.summary + "\n")) << verb.path;
    EXPECT_TRUE(mentions(help, "Usage: stint " + verb.path)) << verb.path;
    EXPECT_TRUE(mentions(words_of(help), verb.details)) << verb.path;
    for (const ArgumentSpec& argument : verb.arguments) {
      EXPECT_TRUE(mentions(help, "  " + argument.name + " ")) << argument.name;
    }
    for (const OptionSpec& option : options_of(verb)) {
      EXPECT_TRUE(mentions(help, option.name + (option.value.empty() ? "" : " " + option.value)))
          << verb.path << " " << option.name;
      for (const std::string& choice : option.choices) {
        EXPECT_TRUE(mentions(help, choice)) << option.name << " " << choice;
      }
    }
    for (const Example& example : verb.examples) {
      EXPECT_TRUE(mentions(help, "  " + example.command + "\n")) << example.command;
    }
  }
}

TEST(HelpText, FitsEightyColumns) {
  for (const char* topic : {"", "catalog"}) {
    for (const std::string& line : split(help_text(verbs(), topic), '\n')) {
      EXPECT_LE(display_width(line), 80) << line;
    }
  }
  for (const Verb& verb : verbs()) {
    for (const std::string& line : split(help_text(verbs(), verb.path), '\n')) {
      EXPECT_LE(display_width(line), 80) << line;
    }
  }
}

TEST(HelpText, OfEverythingListsEveryVerb) {
  const std::string help = help_text(verbs(), "");
  for (const Verb& verb : verbs()) {
    EXPECT_TRUE(mentions(help, "\n  " + verb.path + " ")) << verb.path;
  }
  EXPECT_TRUE(mentions(help, "Help on one verb: stint "));
}

TEST(HelpText, OfEverythingShowsTheGroupsInTheirOrder) {
  const std::string help = help_text(verbs(), "");
  std::size_t last = 0;
  for (const char* title :
       {"Plan", "Measure and calibrate", "Run", "Machines and prices", "Evidence", "Setup"}) {
    const std::size_t found = help.find(std::string("\n\n") + title + ":\n");
    ASSERT_NE(found, std::string::npos) << title;
    EXPECT_LT(last, found) << title;
    last = found;
  }
}

TEST(HelpText, OfAGroupListsOnlyItsVerbs) {
  const std::string help = help_text(verbs(), "catalog");
  EXPECT_TRUE(help.starts_with("Usage: stint catalog VERB [flags]\n")) << help;
  for (const Verb& verb : verbs()) {
    EXPECT_EQ(mentions(help, "\n  " + verb.path + " "), verb.path.starts_with("catalog "))
        << verb.path;
  }
}

TEST(HelpText, WrapsLongTextsUnderTheirColumn) {
  const std::vector<Verb> verbs = {
      {.path = "go",
       .summary = "Go.",
       .arguments = {{.name = "A", .help = "One."},
                     {.name = "B", .help = "Two.", .required = false}},
       .options = {{.name = "--way",
                    .value = "KEY",
                    .help = "A text that is so long that it has to go on in a second line below.",
                    .choices = {"up", "down"}},
                   {.name = "--a-name-of-nearly-thirty-letters", .help = "Below its name."}},
       .examples = {{"stint go 1", "There."}}}};
  EXPECT_EQ(help_text(verbs, "go"),
            "Go.\n\n"
            "Usage: stint go A [B] [flags]\n\n"
            "Arguments:\n"
            "  A  One.\n"
            "  B  Two.\n\n"
            "Flags:\n"
            "  --way KEY                     A text that is so long that it has to go on in a\n"
            "                                second line below. One of: up, down.\n"
            "  --a-name-of-nearly-thirty-letters\n"
            "                                Below its name.\n"
            "  -q, --quiet                   Print only the answer.\n"
            "  -v, --verbose                 Print all warnings.\n"
            "  -h, --help                    Print this help.\n\n"
            "Examples:\n"
            "  stint go 1\n"
            "      There.\n");
}

TEST(ManualPage, MentionsEveryVerbWithItsFlagsAndExamples) {
  const std::string page = manual_page(verbs(), "9.8.7");
  for (const Verb& verb : verbs()) {
    EXPECT_TRUE(mentions(page, ".SS \"stint " + in_roff(verb.path))) << verb.path;
    EXPECT_TRUE(mentions(page, in_roff(verb.summary))) << verb.path;
    for (const OptionSpec& option : options_of(verb)) {
      EXPECT_TRUE(mentions(page, in_roff(option.name))) << verb.path << " " << option.name;
    }
    for (const Example& example : verb.examples) {
      EXPECT_TRUE(mentions(page, "\n" + in_roff(example.command) + "\n")) << example.command;
    }
  }
}

TEST(ManualPage, HasTheSectionsOfAManualPage) {
  const std::string page = manual_page(verbs(), "9.8.7");
  EXPECT_TRUE(page.starts_with(".TH STINT 1 \"\" \"stint 9.8.7\""));
  for (const char* section : {"NAME", "SYNOPSIS", "\"VERBS: Plan\"", "\"VERBS: Setup\"",
                              "\"EXIT STATUS\"", "ENVIRONMENT"}) {
    EXPECT_TRUE(mentions(page, std::string("\n.SH ") + section + "\n")) << section;
  }
  for (const char* variable : {"XDG_DATA_HOME", "NO_COLOR", "COLUMNS", "STINT_NOW"}) {
    EXPECT_TRUE(mentions(page, variable)) << variable;
  }
}

TEST(ManualPage, NoTextIsTakenForACommand) {
  const std::vector<Verb> odd = {{.path = "go",
                                  .summary = ".TH is not a command here",
                                  .details = "'nor is this",
                                  .examples = {{"stint go C:\\x", ".. up"}}}};
  const std::set<std::string> known = {".TH", ".SH", ".SS", ".TP", ".PP",
                                       ".RS", ".nf", ".fi", ".RE"};
  const std::string page = manual_page(odd, "9.8.7") + manual_page(verbs(), "9.8.7");
  for (const std::string& line : split(page, '\n')) {
    EXPECT_FALSE(line.starts_with('\'')) << line;
    if (!line.starts_with('.') || line.starts_with(".TH STINT 1 ")) continue;
    EXPECT_NE(line.substr(0, 3), ".TH") << line;
    EXPECT_TRUE(known.contains(line.substr(0, line.find(' ')))) << line;
  }
  EXPECT_TRUE(mentions(page, "stint go C:\\ex\n"));
}

}  // namespace
}  // namespace stint::cli
