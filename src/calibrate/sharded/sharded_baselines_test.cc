#include <gtest/gtest.h>

#include "calibrate/sharded/sharded_fixture.h"
#include "calibrate/sharded/sharded_forecast.h"

namespace stint {
namespace {

// Twice the workers and twice the batch at the rate of the smaller cluster: the same time.
TEST(ShardedBaselines, PerfectScalingKeepsTheRateOfAWorker) {
  auto cases =
      sharded_cases(std::vector{sharded_row(8, {.data = 8}, 16), sharded_row(8, {.data = 16}, 32)},
                    sharded_catalog());
  cases[0].row.time = 2 * kSecond;
  const auto perfect =
      sharded_baseline(ShardedBaseline::kPerfect, {&cases[0]}, {&cases[1]}, physical_priors());
  ASSERT_TRUE(perfect.ok());
  EXPECT_DOUBLE_EQ((*perfect)[0].time->in(kSecond), 2);
  const auto utilisation =
      sharded_baseline(ShardedBaseline::kUtilisation, {&cases[0]}, {&cases[1]}, physical_priors());
  ASSERT_TRUE(utilisation.ok());
  EXPECT_NEAR((*utilisation)[0].time->in(kSecond), 2, 1e-9);
  cases[1].row.job = "another";
  EXPECT_FALSE(
      (*sharded_baseline(ShardedBaseline::kPerfect, {&cases[0]}, {&cases[1]}, physical_priors()))[0]
          .time);
}

TEST(ShardedBaselines, NothingIsHiddenWithoutOverlap) {
  ShardedLaw law;
  law.gradient_cover = 0.9;
  const auto cases = made_up_cases(law, 0);
  CasePointers train;
  CasePointers test;
  for (const ShardedCase& it : cases) (it.row.shape.layers == 32 ? test : train).push_back(&it);
  const auto found = sharded_baseline(ShardedBaseline::kNoOverlap, train, test, physical_priors());
  ASSERT_TRUE(found.ok());
  for (const Forecast& it : *found) EXPECT_TRUE(it.time);
}

}  // namespace
}  // namespace stint
