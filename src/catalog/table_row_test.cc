#include "catalog/table_row.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

Csv table(const std::string& cells) {
  auto csv = Csv::parse("name,count,price,sure,day\n" + cells + "\n", "t.csv");
  CHECK(csv.ok());
  return std::move(*csv);
}

TEST(TableRow, ReadsCellsByName) {
  const Csv csv = table("A100,8.0,2.5,yes,2026-11-01");
  TableRow row(csv, 0);
  const auto accelerator = row.accelerator("name", "count");
  ASSERT_TRUE(accelerator.has_value());
  EXPECT_EQ(accelerator->count, 8);
  EXPECT_DOUBLE_EQ(row.quantity("price", kDollar / kHour)->in(kDollar / kHour), 2.5);
  EXPECT_EQ(row.yes_or_no("sure"), true);
  EXPECT_EQ(to_text(row.date("day", {})), "2026-11-01");
  EXPECT_EQ(row.text("none"), "");
  EXPECT_FALSE(row.error().has_value());
}

TEST(TableRow, KeepsTheFirstErrorWithLineAndColumn) {
  const Csv csv = table("A100,1.5,-1,maybe,soon");
  TableRow row(csv, 0);
  row.count("count");
  row.yes_or_no("sure");
  ASSERT_TRUE(row.error().has_value());
  EXPECT_EQ(row.error()->message, "t.csv:2: column count: must be a whole number, not 1.5");
}

TEST(TableRow, TakesAnEmptyCellForUnknown) {
  const Csv csv = table(",,,,");
  TableRow row(csv, 0);
  EXPECT_FALSE(row.accelerator("name", "count").has_value());
  EXPECT_FALSE(row.number("price", Range::kPositive).has_value());
  EXPECT_FALSE(row.error().has_value());
  row.required("name");
  EXPECT_TRUE(row.error().has_value());
}

}  // namespace
}  // namespace stint
