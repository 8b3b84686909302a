#include "measure/tables/table_cells.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

TEST(TableCells, CountsAreWholeAndBounded) {
  EXPECT_EQ(count_of("1"), 1);
  EXPECT_EQ(count_of("100000"), kMaxWorkers);
  for (const char* text : {"", "0", "-1", "1.5", "100001", "99999999999", "x"}) {
    EXPECT_FALSE(count_of(text).has_value()) << text;
  }
}

TEST(TableCells, NumbersAreFiniteAndAboveZero) {
  EXPECT_EQ(positive_of("2.5e3"), 2500.0);
  for (const char* text : {"", "0", "-0.0", "-1", "nan", "inf", "1e999", "1 2"}) {
    EXPECT_FALSE(positive_of(text).has_value()) << text;
  }
}

TEST(TableCells, WholeNumbersMayBeWrittenWithAnExponent) {
  EXPECT_EQ(whole_of("17179869184"), 17179869184);
  EXPECT_EQ(whole_of("2e6"), 2000000);
  EXPECT_FALSE(whole_of("2.5").has_value());
  EXPECT_FALSE(whole_of("1e17").has_value());
}

TEST(TableCells, KeepsTheFirstReason) {
  StepRow row;
  mark_unusable(row, unreadable("batch cell", "a\n"));
  mark_unusable(row, "another");
  EXPECT_EQ(row.unusable, "invalid batch cell 'a?'");
}

TEST(TableCells, AnUnmeasuredRowHasNoTime) {
  StepRow row{.time = 1 * kSecond};
  mark_unmeasured(row, "out of memory");
  EXPECT_EQ(row.unmeasured, "out of memory");
  EXPECT_EQ(row.unusable, "");
  EXPECT_FALSE(row.time.has_value());
}

// 4 workers that make 8 steps/s together: each takes 4 / 8 = 0.5 s for a step.
TEST(TableCells, TimeOfAStepIsTheInverseOfTheRate) {
  EXPECT_EQ(time_per_step(4, 8), 0.5 * kSecond);
  EXPECT_FALSE(time_per_step(1, 0).has_value());
  EXPECT_FALSE(time_per_step(1, 1e-320).has_value());
  EXPECT_FALSE(time_per_step(1, -1).has_value());
}

TEST(TableCells, ReadsRowsInOrderAndStopsAtTheFirstError) {
  const auto read = [](const Csv& csv, std::size_t row) -> Result<int> {
    const auto count = count_of(csv.cell(row, "a"));
    if (!count) return csv.error_at(row, "a", "is wrong");
    return *count;
  };
  const auto rows = read_rows<int>("a,b\n3,x\n1,y\n", "a.csv", {"a"}, read);
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ(*rows, (std::vector<int>{3, 1}));
  const auto bad = read_rows<int>("a,b\n3,x\n0,y\n", "a.csv", {"a"}, read);
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().message, "a.csv:3: column a: is wrong");
  EXPECT_EQ(read_rows<int>("b\n1\n", "a.csv", {"a"}, read).error().kind, ErrorKind::kBadInput);
}

}  // namespace
}  // namespace stint
