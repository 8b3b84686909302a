#include "cli/verb.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <functional>
#include <gtest/gtest.h>
#include <set>

namespace stint::cli {
namespace {

/// The output of `act` on the error stream.
std::string said(Invocation invocation, const std::function<void(const Invocation&)>& act) {
  char* bytes = nullptr;
  std::size_t size = 0;
  std::FILE* stream = open_memstream(&bytes, &size);
  invocation.err = stream;
  act(invocation);
  std::fclose(stream);
  std::string text(bytes, size);
  std::free(bytes);
  return text;
}

std::vector<std::string> names_of(const std::vector<OptionSpec>& options) {
  std::vector<std::string> names;
  for (const OptionSpec& option : options) names.push_back(option.name);
  return names;
}

const std::vector<std::string> kFive = {"one", "two", "three", "four", "five"};

std::string warned(const Invocation& invocation) {
  return said(invocation, [](const Invocation& it) { print_warnings(it, kFive); });
}

TEST(ExitCode, EveryKindOfErrorHasItsOwn) {
  std::set<int> codes;
  for (const ErrorKind kind :
       {ErrorKind::kFailed, ErrorKind::kUsage, ErrorKind::kInfeasible, ErrorKind::kBadInput,
        ErrorKind::kUnavailable, ErrorKind::kBreached, ErrorKind::kInterrupted}) {
    codes.insert(exit_code({kind, ""}));
  }
  EXPECT_EQ(codes, (std::set<int>{1, 2, 3, 4, 5, 6, 130}));
  EXPECT_EQ(exit_code(failed("")), 1);
  EXPECT_EQ(exit_code(bad_usage("")), 2);
  EXPECT_EQ(exit_code(bad_input("")), 4);
}

TEST(Invocation, AnAbsentOptionIsEmpty) {
  const Invocation invocation;
  EXPECT_FALSE(invocation.has("--gpu"));
  EXPECT_EQ(invocation.get("--gpu"), "");
  EXPECT_TRUE(invocation.list("--gpu").empty());
  EXPECT_FALSE(invocation.quiet());
  EXPECT_FALSE(invocation.verbose());
}

TEST(Invocation, GivesTheValuesOfOptions) {
  const Invocation invocation{
      .options = {{"--gpu", {"T4"}}, {"--quiet", {}}, {"--at", {"a", "b"}}}};
  EXPECT_EQ(invocation.get("--gpu"), "T4");
  EXPECT_EQ(invocation.list("--at"), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(invocation.has("--quiet"));
  EXPECT_EQ(invocation.get("--quiet"), "");
  EXPECT_TRUE(invocation.quiet());
}

TEST(Invocation, PrintsATableUnlessToldOtherwise) {
  EXPECT_EQ(Invocation{}.output(), "table");
  EXPECT_EQ((Invocation{.options = {{"--output", {"csv"}}}}.output()), "csv");
}

TEST(CountOf, IsFromOneToItsMaximum) {
  const auto read = [](const char* text, int max) {
    return count_of(Invocation{.options = {{"--vms", {text}}}}, "--vms", max);
  };
  EXPECT_EQ(**read("1", 8), 1);
  EXPECT_EQ(**read("8", 8), 8);
  for (const char* text : {"0", "-1", "9", "2147483647", "2147483648", "9e18", "x", "1.5", ""}) {
    EXPECT_EQ(read(text, 8).error().message,
              fmt::format("--vms must be a whole number from 1 to 8, not '{}'", text));
  }
}

TEST(OptionsOf, AddsTheCommonFlagsBehindTheVerbsOwn) {
  const Verb verb{.path = "x", .summary = "", .options = {{.name = "--gpu", .help = ""}}};
  EXPECT_EQ(names_of(options_of(verb)),
            (std::vector<std::string>{"--gpu", "--quiet", "--verbose", "--help"}));
}

TEST(OptionsOf, OffersOutputOnlyWhereThereAreSeveral) {
  const Verb verb{.path = "x", .summary = "", .outputs = {"table", "json"}};
  const auto options = options_of(verb);
  const auto output = std::find_if(options.begin(), options.end(),
                                   [](const OptionSpec& it) { return it.name == "--output"; });
  ASSERT_NE(output, options.end());
  EXPECT_EQ(output->letter, "-o");
  EXPECT_EQ(output->value, "table|json");
  EXPECT_EQ(output->choices, verb.outputs);
}

TEST(Report, NamesTheVerbAndReturnsTheErrorsCode) {
  ExitCode code = kExitOk;
  EXPECT_EQ(said({},
                 [&](const Invocation& it) {
                   code = report(it, "catalog list", bad_input("a.json: empty"));
                 }),
            "stint catalog list: a.json: empty\n");
  EXPECT_EQ(code, kExitBadInput);
}

TEST(Report, WithoutAVerbNamesTheProgram) {
  EXPECT_EQ(said({}, [](const Invocation& it) { report(it, "", bad_usage("no.")); }),
            "stint: no.\n");
}

// What a project file set is wrong in that file; what the command line set is not.
TEST(Report, AnErrorAboutAFlagOfAProjectFileHasItsPlace) {
  const Invocation invocation{
      .project = {.file = "stint.yaml", .places = {{"--deadline", {3, 1}}, {"--tokens", {5, 1}}}}};
  const auto told = [&](const Error& error) {
    return said(invocation, [&](const Invocation& it) { report(it, "plan", error); });
  };
  EXPECT_EQ(told(bad_usage("--deadline: '12' has no unit; see --budget")),
            "stint plan: stint.yaml:3:1: --deadline: '12' has no unit; see --budget\n");
  EXPECT_EQ(told(bad_usage("tokens must be a number")),
            "stint plan: stint.yaml:5:1: tokens must be a number\n");
  EXPECT_EQ(told(bad_usage("--budget and --deadline differ")),
            "stint plan: --budget and --deadline differ\n");
  EXPECT_EQ(told(failed("--deadline")), "stint plan: --deadline\n");
  ExitCode code = kExitOk;
  said(invocation, [&](const Invocation& it) { code = report(it, "", bad_usage("--deadline")); });
  EXPECT_EQ(code, kExitBadInput);
}

TEST(Report, IsRedWhereColoursShow) {
  const Invocation invocation{.err_terminal = {.colour = true}};
  EXPECT_EQ(said(invocation, [](const Invocation& it) { report(it, "", bad_usage("no.")); }),
            "\x1b[31mstint:\x1b[0m no.\n");
}

TEST(PrintWarnings, ShowsAFewAndCountsTheRest) {
  EXPECT_EQ(warned({}),
            "warning: one\nwarning: two\nwarning: three\nwarning: 2 more warnings; --verbose "
            "prints all\n");
}

TEST(PrintWarnings, VerboseShowsAllAndQuietNone) {
  EXPECT_EQ(warned({.options = {{"--verbose", {}}}}),
            "warning: one\nwarning: two\nwarning: three\nwarning: four\nwarning: five\n");
  EXPECT_EQ(warned({.options = {{"--quiet", {}}}}), "");
}

TEST(PrintWarnings, SaysNothingWithoutWarnings) {
  EXPECT_EQ(said({}, [](const Invocation& it) { print_warnings(it, {}); }), "");
}

TEST(PrintAnswer, PrintsTheBytesAsTheyAreEvenWhenQuiet) {
  char* bytes = nullptr;
  std::size_t size = 0;
  std::FILE* stream = open_memstream(&bytes, &size);
  const std::string text("{}%s\0\n", 6);
  print_answer({.options = {{"--quiet", {}}}, .out = stream}, text);
  std::fclose(stream);
  EXPECT_EQ(std::string(bytes, size), text);
  std::free(bytes);
}

TEST(Say, TalksUnlessQuiet) {
  const auto talk = [](const Invocation& it) { say(it, "152 machines."); };
  EXPECT_EQ(said({}, talk), "152 machines.\n");
  EXPECT_EQ(said({.options = {{"--quiet", {}}}}, talk), "");
}

}  // namespace
}  // namespace stint::cli
