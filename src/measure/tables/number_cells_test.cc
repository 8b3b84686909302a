#include "measure/tables/number_cells.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

Csv table(const char* text) {
  auto csv = Csv::parse(text, "t.csv");
  EXPECT_TRUE(csv.ok());
  return std::move(*csv);
}

TEST(NumberCells, ReadsNumbersAndTakesBlanksForAbsent) {
  const Csv csv = table("a,b\n2.5,\nnan,1\n");
  EXPECT_EQ(*maybe_number(csv, 0, "a"), 2.5);
  EXPECT_EQ(*maybe_number(csv, 0, "b"), std::nullopt);
  EXPECT_EQ(*maybe_number(csv, 1, "a"), std::nullopt);
  EXPECT_EQ(*maybe_number(csv, 0, "missing"), std::nullopt);
  EXPECT_EQ(*needed_number(csv, 1, "b"), 1);
}

TEST(NumberCells, RefusesWordsZeroAndBlanksThatAreRequired) {
  const Csv csv = table("a,b\nfast,0\n,-1\n");
  EXPECT_EQ(maybe_number(csv, 0, "a").error().message,
            "t.csv:2: column a: must be a number above zero, not 'fast'");
  EXPECT_FALSE(maybe_number(csv, 0, "b").ok());
  EXPECT_FALSE(maybe_number(csv, 1, "b").ok());
  EXPECT_EQ(needed_number(csv, 1, "a").error().message,
            "t.csv:3: column a: is required: a number above zero");
}

}  // namespace
}  // namespace stint
