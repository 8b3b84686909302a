#include "cli/parse.h"

#include <gtest/gtest.h>

namespace stint::cli {
namespace {

using Words = std::vector<std::string>;

/// A small table of verbs with one of everything.
const std::vector<Verb>& table() {
  static const std::vector<Verb> kVerbs = {
      {.path = "box list",
       .summary = "",
       .options = {{.name = "--size", .value = "N", .help = ""},
                   {.name = "--kinds", .value = "LIST", .help = "", .list = true},
                   {.name = "--colours",
                    .value = "LIST",
                    .help = "",
                    .choices = {"red", "green"},
                    .list = true},
                   {.name = "--sort", .value = "KEY", .help = "", .choices = {"name", "price"}},
                   {.name = "--from", .value = "FILE...", .help = "", .files = true},
                   {.name = "--pass", .value = "FLAG", .help = "", .dashes = true},
                   {.name = "--all", .help = ""}},
       .outputs = {"table", "json"},
       .examples = {{"stint box list", ""}}},
      {.path = "box show",
       .summary = "",
       .arguments = {{.name = "NAME", .help = "Which box."},
                     {.name = "PART", .help = "", .choices = {"lid", "wall"}, .required = false}},
       .examples = {{"stint box show a", ""}}},
      {.path = "leave", .summary = "", .examples = {{"stint leave", ""}}}};
  return kVerbs;
}

Invocation read(const Words& words) {
  auto parsed = parse(table(), words);
  EXPECT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_NE(parsed->verb, nullptr);
  return parsed->invocation;
}

/// The message, after a check that it is a usage error.
std::string complaint(const Words& words) {
  const auto parsed = parse(table(), words);
  EXPECT_FALSE(parsed.ok());
  if (parsed.ok()) return "";
  EXPECT_EQ(parsed.error().kind, ErrorKind::kUsage);
  return parsed.error().message;
}

/// The topic of the help that is asked for, or "none".
std::string help_topic(const Words& words) {
  const auto parsed = parse(table(), words);
  return parsed.ok() && parsed->verb == nullptr ? parsed->topic : "none";
}

TEST(Parse, AFlagTakesOneWordAndLeavesTheRest) {
  const Invocation read_back = read({"box", "list", "--kinds", "a", "--size", "3"});
  EXPECT_EQ(read_back.list("--kinds"), (Words{"a"}));
  const auto shown = parse(table(), {"box", "show", "-q", "a", "lid"});
  ASSERT_TRUE(shown.ok());
  EXPECT_EQ(shown->invocation.arguments, (Words{"a", "lid"}));
}

TEST(Parse, AFlagIsNotAValue) {
  EXPECT_EQ(complaint({"box", "list", "--size", "--all"}), "--size needs a value: --size N");
  EXPECT_EQ(read({"box", "list", "--size", "-3"}).get("--size"), "-3");
}

TEST(Parse, ALetterOfTheVerbIsNotAValueEither) {
  EXPECT_EQ(complaint({"box", "list", "--size", "-o", "json"}), "--size needs a value: --size N");
}

TEST(Parse, ASwitchTakesNoValue) {
  EXPECT_EQ(complaint({"box", "list", "--all=no"}), "--all takes no value");
}

TEST(Parse, KeepsBracketsInValues) {
  EXPECT_EQ(read({"box", "list", "--size", "[3]"}).get("--size"), "[3]");
}

TEST(Parse, SwitchesMayStandBeforeTheVerbAndTogether) {
  const Invocation both = read({"-qv", "box", "list"});
  EXPECT_TRUE(both.quiet());
  EXPECT_TRUE(both.verbose());
}

TEST(Parse, TellsAskedHelpFromAnUnfinishedLine) {
  EXPECT_TRUE(parse(table(), {"box", "--help"})->help_asked);
  EXPECT_TRUE(parse(table(), {"-h"})->help_asked);
  EXPECT_FALSE(parse(table(), {"box"})->help_asked);
  EXPECT_FALSE(parse(table(), {"--fast"}).ok());
}

TEST(Parse, FindsTheVerbOfEveryPath) {
  EXPECT_EQ(parse(table(), {"box", "list"})->verb, &table()[0]);
  EXPECT_EQ(parse(table(), {"box", "show", "a"})->verb, &table()[1]);
  EXPECT_EQ(parse(table(), {"leave"})->verb, &table()[2]);
}

TEST(Parse, HelpHasATopicForEverythingAGroupAndAVerb) {
  EXPECT_EQ(help_topic({}), "");
  EXPECT_EQ(help_topic({"--help"}), "");
  EXPECT_EQ(help_topic({"-h"}), "");
  EXPECT_EQ(help_topic({"box"}), "box");
  EXPECT_EQ(help_topic({"box", "--help"}), "box");
  EXPECT_EQ(help_topic({"box", "list", "--help"}), "box list");
  EXPECT_EQ(help_topic({"leave", "-h"}), "leave");
}

TEST(Parse, HelpNeedsNoArguments) {
  EXPECT_EQ(help_topic({"box", "show", "--help"}), "box show");
  EXPECT_EQ(help_topic({"box", "show", "a", "lid", "c", "-h"}), "box show");
}

TEST(Parse, AMisspeltVerbSuggestsTheNearest) {
  EXPECT_EQ(complaint({"bx", "list"}), "'bx' is not a verb of stint. Did you mean 'box'?");
  EXPECT_EQ(complaint({"box", "lsit"}), "'lsit' is not a verb of stint box. Did you mean 'list'?");
  EXPECT_EQ(complaint({"xyzzyxyzzy"}), "'xyzzyxyzzy' is not a verb of stint. See 'stint --help'.");
  EXPECT_EQ(complaint({"leave", "now"}), "unexpected argument 'now'. See 'stint leave --help'.");
}

TEST(Parse, AMisspeltVerbIsQuotedSafely) {
  EXPECT_EQ(complaint({"\x1b[31m"}).find('\x1b'), std::string::npos);
  EXPECT_NE(complaint({""}), "");
}

TEST(Parse, AMisspeltFlagSuggestsTheNearest) {
  EXPECT_EQ(complaint({"box", "list", "--siez", "3"}),
            "'--siez' is not a flag of this verb. Did you mean '--size'?");
  EXPECT_EQ(complaint({"box", "list", "--siez=3"}),
            "'--siez' is not a flag of this verb. Did you mean '--size'?");
  EXPECT_EQ(complaint({"leave", "-x"}),
            "'-x' is not a flag of this verb. See 'stint leave --help'.");
}

TEST(Parse, AFlagOfAnotherVerbIsNotKnown) { EXPECT_NE(complaint({"leave", "--size", "3"}), ""); }

TEST(Parse, AValueStandsBehindTheFlagOrAnEqualsSign) {
  EXPECT_EQ(read({"box", "list", "--size", "3"}).get("--size"), "3");
  EXPECT_EQ(read({"box", "list", "--size=3"}).get("--size"), "3");
  EXPECT_EQ(read({"box", "list", "--size=a=b"}).get("--size"), "a=b");
  EXPECT_EQ(read({"box", "list", "--size", "3 USD/h"}).get("--size"), "3 USD/h");
}

TEST(Parse, OutputHasALetter) {
  EXPECT_EQ(read({"box", "list", "-o", "json"}).output(), "json");
  EXPECT_EQ(read({"box", "list", "-ojson"}).output(), "json");
  EXPECT_EQ(read({"box", "list", "--output=json"}).output(), "json");
  EXPECT_EQ(read({"box", "list"}).output(), "table");
}

TEST(Parse, ASwitchIsThereOrNot) {
  EXPECT_TRUE(read({"box", "list", "--all"}).has("--all"));
  EXPECT_FALSE(read({"box", "list"}).has("--all"));
  const Invocation both = read({"leave", "-qv"});
  EXPECT_TRUE(both.quiet());
  EXPECT_TRUE(both.verbose());
  EXPECT_TRUE(read({"leave", "-q", "--quiet"}).quiet());
}

TEST(Parse, AFlagGivenTwiceIsRefused) {
  EXPECT_EQ(complaint({"box", "list", "--size", "3", "--size=4"}),
            "--size is given 2 times; give it once");
  EXPECT_EQ(complaint({"box", "list", "-o", "json", "--output", "json"}),
            "--output is given 2 times; give it once");
}

TEST(Parse, ListsSplitAtCommasAndMayBeRepeated) {
  EXPECT_EQ(read({"box", "list", "--kinds", "a,b"}).list("--kinds"), (Words{"a", "b"}));
  EXPECT_EQ(read({"box", "list", "--kinds", "a, b", "--kinds=c"}).list("--kinds"),
            (Words{"a", "b", "c"}));
  EXPECT_EQ(read({"box", "list", "--size", "a,b"}).list("--size"), (Words{"a,b"}));
}

TEST(Parse, FilesAreAllWordsUpToTheNextFlag) {
  EXPECT_EQ(read({"box", "list", "--from", "a", "b", "c", "--all"}).list("--from"),
            (Words{"a", "b", "c"}));
  EXPECT_EQ(read({"box", "list", "--from", "a", "b", "-q"}).list("--from"), (Words{"a", "b"}));
  EXPECT_EQ(read({"box", "list", "--from=a", "b"}).list("--from"), (Words{"a", "b"}));
  EXPECT_EQ(read({"box", "list", "--from", "a"}).list("--from"), (Words{"a"}));
}

TEST(Parse, FilesMayBeRepeatedAndKeepTheirCommas) {
  EXPECT_EQ(
      read({"box", "list", "--from", "a,b", "--size", "3", "--from", "c", "d"}).list("--from"),
      (Words{"a,b", "c", "d"}));
}

TEST(Parse, TwoDashesEndTheFilesToo) {
  EXPECT_EQ(complaint({"box", "list", "--from", "a", "--", "b"}),
            "unexpected argument 'b'. See 'stint box list --help'.");
}

TEST(Parse, AValueMayLookLikeAFlagWhereThatIsMeant) {
  const Invocation read_one = read({"box", "list", "--pass", "--all", "--size", "3"});
  EXPECT_EQ(read_one.get("--pass"), "--all");
  EXPECT_FALSE(read_one.has("--all"));
  EXPECT_EQ(complaint({"box", "list", "--pass", "--"}), "--pass needs a value: --pass FLAG");
}

TEST(Parse, FilesNeedAtLeastOneAndNoEmptyName) {
  EXPECT_EQ(complaint({"box", "list", "--from"}), "--from needs a value: --from FILE...");
  EXPECT_EQ(complaint({"box", "list", "--from", "--all"}), "--from needs a value: --from FILE...");
  EXPECT_EQ(complaint({"box", "list", "--from", "a", ""}), "--from needs a value");
}

TEST(Parse, AnEmptyPartOfAListIsRefused) {
  EXPECT_EQ(complaint({"box", "list", "--kinds", "a,,b"}), "--kinds needs a value");
  EXPECT_EQ(complaint({"box", "list", "--kinds", "a,"}), "--kinds needs a value");
}

TEST(Parse, AMissingValueNamesTheFlagAndItsValue) {
  EXPECT_EQ(complaint({"box", "list", "--size"}), "--size needs a value: --size N");
  EXPECT_EQ(complaint({"box", "list", "-o"}), "--output needs a value: --output table|json");
  EXPECT_NE(complaint({"box", "list", "--size", ""}).find("--size needs a value"),
            std::string::npos);
  EXPECT_NE(complaint({"box", "list", "--size="}).find("--size needs a value"), std::string::npos);
}

TEST(Parse, AValueMustBeOneOfTheChoices) {
  EXPECT_EQ(complaint({"box", "list", "--sort", "prise"}),
            "--sort must be one of name, price, not 'prise'. Did you mean 'price'?");
  EXPECT_EQ(complaint({"box", "list", "--colours", "red,blue"}),
            "--colours must be one of red, green, not 'blue'.");
  EXPECT_EQ(complaint({"box", "list", "-o", "csv"}),
            "--output must be one of table, json, not 'csv'.");
  EXPECT_EQ(read({"box", "list", "--colours", "green,red"}).list("--colours"),
            (Words{"green", "red"}));
}

TEST(Parse, TakesArgumentsInOrderWithFlagsBetween) {
  EXPECT_EQ(read({"box", "show", "a", "lid"}).arguments, (Words{"a", "lid"}));
  EXPECT_EQ(read({"box", "show", "-q", "a", "-v", "lid"}).arguments, (Words{"a", "lid"}));
  EXPECT_EQ(read({"box", "show", "a"}).arguments, (Words{"a"}));
  EXPECT_EQ(read({"box", "show", "-"}).arguments, (Words{"-"}));
}

TEST(Parse, AMissingArgumentIsExplainedWithAnExample) {
  EXPECT_EQ(complaint({"box", "show"}),
            "NAME is required: Which box. For example: stint box show a");
}

TEST(Parse, OfTheLastArgumentThereMayBeMore) {
  const std::vector<Verb> several{{.path = "read",
                                   .summary = "Read.",
                                   .arguments = {{.name = "FILE...", .help = "", .several = true}},
                                   .examples = {{"stint read a b", "Two."}}}};
  const auto parsed = parse(several, {"read", "a", "b", "-q", "c"});
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(parsed->invocation.arguments, (Words{"a", "b", "c"}));
  EXPECT_FALSE(parse(several, {"read"}).ok());
}

TEST(Parse, TooManyWordsAreRefused) {
  EXPECT_EQ(complaint({"box", "show", "a", "lid", "c"}),
            "unexpected argument 'c'. See 'stint box show --help'.");
}

TEST(Parse, AnArgumentMustBeOneOfItsChoices) {
  EXPECT_EQ(complaint({"box", "show", "a", "wal"}),
            "PART must be one of lid, wall, not 'wal'. Did you mean 'wall'?");
}

TEST(Parse, TwoDashesEndTheFlags) {
  EXPECT_EQ(read({"box", "show", "--", "--quiet"}).arguments, (Words{"--quiet"}));
  EXPECT_FALSE(read({"box", "show", "--", "--quiet"}).quiet());
  const Invocation invocation = read({"box", "show", "-q", "--", "-x", "lid"});
  EXPECT_TRUE(invocation.quiet());
  EXPECT_EQ(invocation.arguments, (Words{"-x", "lid"}));
  EXPECT_EQ(read({"box", "show", "--", "--"}).arguments, (Words{"--"}));
}

}  // namespace
}  // namespace stint::cli
