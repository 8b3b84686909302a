#include "plan/together.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

TogetherAnswer sample() {
  const TimeRange time{.mean = 100 * kSecond, .p10 = 90 * kSecond, .p90 = 110 * kSecond};
  const CostRange cost{.mean = 10 * kDollar, .p10 = 9 * kDollar, .p90 = 11 * kDollar};
  const Cluster cluster = *parse_cluster("2x aws/g4dn.xlarge");
  return {
      .jobs = {{.name = "a",
                .cluster = cluster,
                .time = time,
                .cost = cost,
                .global_batch = 64,
                .deadline = 200 * kSecond,
                .p_deadline = 0.99},
               {.name = "b",
                .cluster = cluster,
                .market = PlanMarket::kSpot,
                .time = time,
                .cost = cost}},
      .pairs =
          {{.cluster = *parse_cluster("4x aws/g4dn.xlarge"),
            .sharing = {.choice = {.turns = {1, 1},
                                   .speedup = 1.2,
                                   .members = {{.job = "a", .iteration = kSecond, .time = time},
                                               {.job = "b", .iteration = kSecond, .time = time}}}},
            .cost = 16 * kDollar,
            .separate = 20 * kDollar,
            .global_batches = {64, 32}}},
      .alone = {},
      .separate = 20 * kDollar,
      .cost = 16 * kDollar};
}

TEST(Together, ReadsWhatItWrites) {
  const std::string text = write_together(sample());
  const auto loaded = read_together(text, "t.json");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(write_together(loaded->noun), text);
  EXPECT_EQ(loaded->noun.jobs.at(1).market, PlanMarket::kSpot);
  EXPECT_TRUE(loaded->warnings.empty());
}

TEST(Together, CostsAreNotNegative) {
  TogetherAnswer it = sample();
  EXPECT_TRUE(validate(it).ok());
  it.cost = -1 * kDollar;
  EXPECT_FALSE(validate(it).ok());
}

}  // namespace
}  // namespace stint
