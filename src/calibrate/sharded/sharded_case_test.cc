#include "calibrate/sharded/sharded_case.h"

#include <gtest/gtest.h>

#include "calibrate/sharded/sharded_fixture.h"

namespace stint {
namespace {

TEST(ShardedCase, HasTheFiguresOfItsAccelerator) {
  std::vector<ShardedRow> rows{sharded_row(8, {.data = 8}, 16), sharded_row(8, {.data = 8}, 16)};
  rows[1].gpu = "H100-SXM";
  const auto cases = sharded_cases(rows, sharded_catalog());
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_EQ(cases[0].row.unusable, "");
  EXPECT_DOUBLE_EQ(cases[0].setup.machines.inside.in(kGB / kSecond), 300);
  EXPECT_NE(cases[1].row.unusable.find("H100-SXM"), std::string::npos);
  EXPECT_FALSE(is_measured(cases[0]));
}

}  // namespace
}  // namespace stint
