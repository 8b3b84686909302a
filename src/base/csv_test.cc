#include "base/csv.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

std::string error_of(std::string_view text) {
  const auto csv = Csv::parse(text, "a.csv");
  return csv.ok() ? "" : csv.error().message;
}

TEST(Csv, SurvivesQuotesCrlfAndByteOrderMark) {
  const auto csv = Csv::parse(
      "\xEF\xBB\xBF"
      "a,b\r\n\"x, \"\"y\"\"\",2\r\n\r\n\"two\nlines\",4",
      "a");
  ASSERT_TRUE(csv.ok());
  ASSERT_EQ(csv->rows(), 2U);
  EXPECT_EQ(csv->cell(0, "a"), "x, \"y\"");
  EXPECT_EQ(csv->cell(0, "b"), "2");
  EXPECT_EQ(csv->cell(1, "a"), "two\nlines");
  EXPECT_EQ(csv->line(1), 4);
  EXPECT_EQ(csv->cell(1, "nothing"), "");
}

TEST(Csv, CountsLinesInsideQuotes) {
  EXPECT_EQ(error_of("a,b\n\"x\n\ny\",2\n1\n"),
            "a.csv:5: this line has 1 cells, but the header has 2");
}

TEST(Csv, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(error_of(""), "a.csv: the file is empty");
  EXPECT_EQ(error_of("a,b\n1,2,3\n"), "a.csv:2: this line has 3 cells, but the header has 2");
  EXPECT_EQ(error_of("a\n\"x"), "a.csv:2: a quoted cell has no closing quote");
  EXPECT_EQ(error_of("a\n\"x\"y\n"), "a.csv:2: text follows the closing quote of a cell");
  EXPECT_EQ(error_of("a,b,a\n1,2,3\n"), "a.csv:1: the column 'a' appears twice in the header");
  EXPECT_EQ(error_of("a\n\xff\n"), "a.csv: the text is not UTF-8");
}

TEST(Csv, NamesMissingColumns) {
  const auto csv = Csv::parse("a,b\n1,2\n", "a.csv");
  EXPECT_TRUE(csv->require_columns({"b"}).ok());
  EXPECT_EQ(csv->require_columns({"a", "x", "y"}).error().message,
            "a.csv:1: the header lacks the columns x, y; it has a, b");
  EXPECT_EQ(csv->error_at(0, "b", "is not a price").message, "a.csv:2: column b: is not a price");
}

TEST(Csv, QuotesACellThatBeginsLikeAByteOrderMark) {
  EXPECT_EQ(csv_cell("\xEF\xBB\xBF"
                     "a"),
            "\"\xEF\xBB\xBF"
            "a\"");
}

TEST(Csv, WritesWhatItReads) {
  const std::vector<std::string> cells = {"plain", "a,b", "say \"hi\"", "two\nlines", ""};
  const auto csv = Csv::parse("a,b,c,d,e\n" + csv_line(cells), "a");
  ASSERT_TRUE(csv.ok());
  for (std::size_t i = 0; i < cells.size(); ++i) EXPECT_EQ(csv->cell(0, i), cells[i]);
}

TEST(Csv, RefusesMoreCellsThanMemoryIsMeantFor) {
  EXPECT_TRUE(Csv::parse("a,b\n1,2\n", "a.csv", 4).ok());
  EXPECT_EQ(Csv::parse("a,b\n1,2\n", "a.csv", 3).error().message,
            "a.csv:2: the table has more than 3 cells; split it");
}

TEST(Csv, SaysNoMoreOfTheHeaderThanFitsAScreen) {
  const auto csv = Csv::parse("a,b," + std::string(1'000'000, 'x') + ",c\n", "a.csv");
  ASSERT_TRUE(csv.ok());
  EXPECT_EQ(csv->require_columns({"d"}).error().message,
            "a.csv:1: the header lacks the column d; it has a, b and 2 more");
}

}  // namespace
}  // namespace stint
