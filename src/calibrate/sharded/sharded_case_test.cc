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

// 8 layers of 12 · 2048² weights and a head of 2048 · 32000: 468 M; 6 times 16 · 1024 tokens is
// 46.0 TFLOP, and attention 12 · ½ · 16 · 1024² · 2048 · 8 = 1.6 TFLOP.
TEST(ShardedCase, CountsTheArithmeticOfAStep) {
  const auto cases = sharded_cases(std::vector{sharded_row(8, {.data = 8}, 16)}, sharded_catalog());
  EXPECT_NEAR(model_flops(cases[0].setup).in(kTeraflop), 46.02 + 1.65, 0.05);
}

}  // namespace
}  // namespace stint
