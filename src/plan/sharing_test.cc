#include "plan/sharing.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

SharingAnswer sharing_sample() {
  const TimeRange time{.mean = 100 * kSecond, .p10 = 90 * kSecond, .p90 = 110 * kSecond};
  const SharingJob job{.name = "a",
                       .global_batch = 64,
                       .iterations = 1000,
                       .iteration = 0.1 * kSecond,
                       .time = time,
                       .cost = 2 * kDollar,
                       .deadline = 200 * kSecond,
                       .p_deadline = 0.99};
  const SharingMember member{.job = "a",
                             .slowdown = 1.5,
                             .slowdown_together = 1.6,
                             .iteration = 0.16 * kSecond,
                             .time = time};
  const SharingPair pair{
      .choice = {.mode = SharingMode::kBucket,
                 .turns = {2, 1},
                 .period = 0.32 * kSecond,
                 .speedup = 1.25,
                 .speedup_without_overlap = 1.5,
                 .time = 160 * kSecond,
                 .cost = 3.2 * kDollar,
                 .members = {member, member}},
      .saved = SavedRange{.mean = 0.8 * kDollar, .p10 = -0.1 * kDollar, .p90 = 1.7 * kDollar}};
  const SharingChoice separately{.mode = SharingMode::kSeparately, .time = 200 * kSecond};
  return {.cluster = *parse_cluster("4x aws/g4dn.xlarge"),
          .jobs = {job},
          .pairs = {pair},
          .alone = {"c"},
          .considered = {{.jobs = {"a", "b"},
                          .recommended = SharingMode::kBucket,
                          .options = {pair.choice, separately}},
                         {.jobs = {"a", "c"}, .reason = "They do not fit."}},
          .speedup = 1.1};
}

TEST(Sharing, ReadsWhatItWrites) {
  const std::string text = write_sharing(sharing_sample());
  const auto loaded = read_sharing(text, "s.json");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(write_sharing(loaded->noun), text);
  EXPECT_EQ(loaded->noun.pairs.at(0).choice.turns, (std::vector<int>{2, 1}));
  EXPECT_EQ(loaded->noun.pairs.at(0).saved->p10, -0.1 * kDollar);
  EXPECT_EQ(loaded->noun.considered.at(0).recommended, SharingMode::kBucket);
  EXPECT_EQ(loaded->noun.considered.at(1).recommended, SharingMode::kSeparately);
  EXPECT_TRUE(loaded->warnings.empty());
}

TEST(Sharing, NamesItsSchema) {
  EXPECT_NE(write_sharing(sharing_sample()).find("\"schema\": \"stint.interleave/1\""),
            std::string::npos);
}

TEST(Sharing, SpeedupsAreAboveZero) {
  SharingAnswer it = sharing_sample();
  EXPECT_TRUE(validate(it).ok());
  it.pairs[0].choice.speedup = 0;
  EXPECT_FALSE(validate(it).ok());
}

TogetherAnswer together_sample() {
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
  const std::string text = write_together(together_sample());
  const auto loaded = read_together(text, "t.json");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(write_together(loaded->noun), text);
  EXPECT_EQ(loaded->noun.jobs.at(1).market, PlanMarket::kSpot);
  EXPECT_TRUE(loaded->warnings.empty());
}

TEST(Together, CostsAreNotNegative) {
  TogetherAnswer it = together_sample();
  EXPECT_TRUE(validate(it).ok());
  it.cost = -1 * kDollar;
  EXPECT_FALSE(validate(it).ok());
}

}  // namespace

}  // namespace stint
