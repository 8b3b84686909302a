#include "validate/sharded/validate_layout.h"

#include <gtest/gtest.h>

#include "validate/sharded/validate_sharded_fixture.h"

namespace stint {
namespace {

TEST(ValidateLayout, ChoosesAmongMeasuredLayouts) {
  const auto found = validate_layout({}, split_request());
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->ours.overall.n, 6);  // 2 and 4 GPUs have two layouts each.
  EXPECT_LT(found->ours.overall.mean_regret, 0.2);
  EXPECT_EQ(found->baselines.size(), 2U);
  EXPECT_EQ(found->baselines.at("least-model-parallelism").overall.mean_regret, 0);
}

}  // namespace
}  // namespace stint
