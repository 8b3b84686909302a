#include "base/text.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

using Strings = std::vector<std::string>;

TEST(Text, TrimsAndSplits) {
  EXPECT_EQ(trim("  a b \t\r\n"), "a b");
  EXPECT_EQ(split(" a, b ,,c", ','), (Strings{"a", "b", "", "c"}));
  EXPECT_EQ(join({"a", "b"}, ", "), "a, b");
}

TEST(Text, HarmlessTextIsNotCutAndKeepsTabs) {
  EXPECT_EQ(harmless("a\tb\x1b[31m\x7f"), "a\tb?[31m?");
  EXPECT_EQ(harmless("\xc2\x9b\xff"), "??");  // A control character beyond ASCII, and no UTF-8.
  EXPECT_EQ(harmless("µ€🙂"), "µ€🙂");
  EXPECT_EQ(harmless(std::string(5000, 'x')).size(), 5000U);
}

TEST(Text, CountsThings) {
  EXPECT_EQ(counted(1, "offer"), "1 offer");
  EXPECT_EQ(counted(0, "offer"), "0 offers");
}

TEST(Text, ParsesWholeNumbersOnly) {
  EXPECT_EQ(parse_int("42"), 42);
  EXPECT_EQ(parse_int("42x"), std::nullopt);
  EXPECT_EQ(parse_int("99999999999"), std::nullopt);
  EXPECT_EQ(parse_int(""), std::nullopt);
  EXPECT_EQ(parse_double("2.5"), 2.5);
  EXPECT_EQ(parse_double("nan"), std::nullopt);
  EXPECT_EQ(parse_double("1e999"), std::nullopt);
}

TEST(Text, QuotesInputSafely) {
  EXPECT_EQ(printable("a\x01\x1b[31mb"), "a??[31mb");
  EXPECT_EQ(printable("\xff\xfe"), "??");
  EXPECT_EQ(printable("µs"), "µs");
  EXPECT_EQ(printable(std::string(100, 'a')), std::string(60, 'a') + "…");
}

TEST(Text, KnowsUtf8) {
  EXPECT_TRUE(is_utf8("µs 日本"));
  EXPECT_FALSE(is_utf8("\xc0\xaf"));          // Overlong.
  EXPECT_FALSE(is_utf8("\xed\xa0\x80"));      // Surrogate.
  EXPECT_FALSE(is_utf8("\xf4\x90\x80\x80"));  // Past the last code point.
  EXPECT_FALSE(is_utf8("\xe2\x82"));          // Cut off.
}

TEST(Text, MeasuresColumnsNotBytes) {
  EXPECT_EQ(display_width("abc"), 3);
  EXPECT_EQ(display_width("µ…"), 2);
  EXPECT_EQ(display_width("日本"), 4);
}

TEST(Text, EditDistanceCountsASwapOnce) {
  EXPECT_EQ(edit_distance("catalog", "catalog"), 0);
  EXPECT_EQ(edit_distance("catlaog", "catalog"), 1);
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
}

TEST(Text, SuggestsTheNearestNames) {
  const Strings verbs = {"catalog", "completion", "doctor", "version"};
  EXPECT_EQ(nearest_names("catlog", verbs, 3), (Strings{"catalog"}));
  EXPECT_EQ(nearest_names("VERSION", verbs, 3), (Strings{"version"}));
  EXPECT_TRUE(nearest_names("xyzzy", verbs, 3).empty());
  EXPECT_EQ(nearest_names("g4dn", {"g4dn.xlarge", "p3.2xlarge", "g4dn.12xlarge"}, 1),
            (Strings{"g4dn.12xlarge"}));
}

TEST(Text, TakesTheTeethOutOfControlCharacters) {
  EXPECT_EQ(without_controls("a\x1b[31m\nµ"), "a?[31m?µ");
}

TEST(Text, WrapsAtTheWidth) {
  EXPECT_EQ(wrapped("one two three", 9, 2), "one two\n  three");
  EXPECT_EQ(wrapped("one two three", 0, 2), "one two three");
}

TEST(Text, QuotesForTheShell) {
  EXPECT_EQ(shell_quoted("/tmp/a-b"), "/tmp/a-b");
  EXPECT_EQ(shell_quoted("a b"), "'a b'");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quoted(""), "''");
}

TEST(Text, PhrasesSuggestions) {
  EXPECT_EQ(did_you_mean({}), "");
  EXPECT_EQ(did_you_mean({"a"}), " Did you mean 'a'?");
  EXPECT_EQ(did_you_mean({"a", "b", "c"}), " Did you mean 'a', 'b' or 'c'?");
}

TEST(Numbered, TellsEqualNamesApart) {
  EXPECT_EQ(numbered({"a", "b", "a", "a"}), (std::vector<std::string>{"a", "b", "a (2)", "a (3)"}));
  EXPECT_TRUE(numbered({}).empty());
}

TEST(AsciiText, HasStandInsForWhatWePrint) {
  EXPECT_EQ(ascii_text("4 × 2.0–3.0 ± 1 µs … ≤ 9 → ok"), "4 x 2.0-3.0 +- 1 us ... <= 9 -> ok");
  EXPECT_EQ(ascii_text("┌─│█"), "+-|#");
  EXPECT_EQ(ascii_text("plain\ttext\n"), "plain\ttext\n");
  EXPECT_EQ(ascii_text("größe \xff"), "gr??e ?");
}

TEST(Text, BytesThatAreNoUtf8BecomeQuestionMarksAndControlsStay) {
  EXPECT_EQ(valid_utf8("a\x1b[2J\xff\xc3\xa9\xc3"), "a\x1b[2J?\xc3\xa9?");
  EXPECT_EQ(valid_utf8("10 %\r20 %"), "10 %\r20 %");
}

}  // namespace
}  // namespace stint
