#include "plan/validations.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

SearchValidation search_sample() {
  const SearchScore score{.time_over_oracle = 1.5, .cost_over_oracle = 2, .probes = 3, .moves = 1};
  return {.objective = "time",
          .seeds = 5,
          .policies = {{"stint", score}},
          .jobs = {{"bert",
                    {.setups = 40,
                     .oracle_time = 100 * kSecond,
                     .oracle_cost = 2 * kDollar,
                     .policies = {{"stint", score}}}}},
          .notes = {"one job only"}};
}

TEST(SearchValidation, ReadsWhatItWrites) {
  const std::string text = write_search_validation(search_sample());
  const auto loaded = read_search_validation(text, "v.json");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(write_search_validation(loaded->noun), text);
  EXPECT_EQ(loaded->noun.what, "search");
  EXPECT_EQ(loaded->noun.jobs.at("bert").oracle_time, 100 * kSecond);
  EXPECT_TRUE(loaded->warnings.empty());
}

TEST(SearchValidation, IsAValidationByItsSchema) {
  EXPECT_NE(write_search_validation(search_sample()).find("\"schema\": \"stint.validation/1\""),
            std::string::npos);
}

TEST(SearchValidation, ScoresAreAboveZero) {
  SearchValidation it = search_sample();
  EXPECT_TRUE(validate(it).ok());
  it.policies["stint"].time_over_oracle = -1;
  EXPECT_FALSE(validate(it).ok());
}

PlanValidation plan_sample() {
  const PlanScore score{.n = 7, .mean_regret = 0.125, .p90_regret = 0.5, .deadlines_met = 1};
  return {.confidence = 0.95,
          .overall = score,
          .jobs = {{"bert", score}},
          .policies = {{"stint", {.overall = score, .jobs = {{"bert", score}}}}},
          .reliability = {{.from = 0.9, .to = 0.95, .n = 7, .promised = 0.93, .kept = 1}},
          .split = "max-gpus=6",
          .notes = {"one job only"}};
}

TEST(PlanValidation, ReadsWhatItWrites) {
  const std::string text = write_plan_validation(plan_sample());
  const auto loaded = read_plan_validation(text, "v.json");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(write_plan_validation(loaded->noun), text);
  EXPECT_EQ(loaded->noun.what, "plan");
  EXPECT_EQ(loaded->noun.policies.at("stint").jobs.at("bert").n, 7);
  ASSERT_EQ(loaded->noun.reliability.size(), 1U);
  EXPECT_EQ(loaded->noun.reliability[0].promised, 0.93);
  EXPECT_TRUE(loaded->warnings.empty());
}

TEST(PlanValidation, IsAValidationByItsSchema) {
  EXPECT_NE(write_plan_validation(plan_sample()).find("\"schema\": \"stint.validation/1\""),
            std::string::npos);
}

// Missing a deadline by a little may cost less than keeping it, so that regret has no lower bound.
TEST(PlanValidation, TakesRegretBelowZeroButNoShareAboveOne) {
  PlanValidation it = plan_sample();
  it.overall.mean_regret = -0.1;
  EXPECT_TRUE(validate(it).ok());
  it.overall.deadlines_met = 1.5;
  EXPECT_FALSE(validate(it).ok());
}

InterleaveValidation interleave_sample() {
  return {.mixes = 50,
          .jobs_per_mix = 8,
          .worlds = {{"busy",
                      {.assumption = "It is busy.",
                       .policies = {{"stint", {.cost = 90 * kDollar, .saved = 0.1, .pairs = 30}},
                                    {"random", {.cost = 101 * kDollar, .saved = -0.01}}},
                       .chosen = {.n = 30, .lost = 1, .coverage80 = 0.8, .above_p10 = 0.9}}}},
          .split = "leave-one-job-out",
          .notes = {"one job only"}};
}

TEST(InterleaveValidation, ReadsWhatItWrites) {
  const std::string text = write_interleave_validation(interleave_sample());
  const auto loaded = read_interleave_validation(text, "v.json");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(write_interleave_validation(loaded->noun), text);
  EXPECT_EQ(loaded->noun.what, "interleave");
  EXPECT_EQ(loaded->noun.worlds.at("busy").policies.at("random").saved, -0.01);
  EXPECT_TRUE(loaded->warnings.empty());
}

TEST(InterleaveValidation, IsAValidationByItsSchema) {
  EXPECT_NE(
      write_interleave_validation(interleave_sample()).find("\"schema\": \"stint.validation/1\""),
      std::string::npos);
}

TEST(InterleaveValidation, SharesAreFractions) {
  InterleaveValidation it = interleave_sample();
  EXPECT_TRUE(validate(it).ok());
  it.worlds.at("busy").chosen.coverage80 = 1.5;
  EXPECT_FALSE(validate(it).ok());
}

DeadlineValidation deadline_sample() {
  DeadlineScore score{.cost_ratio_to_optimum = 1.25,
                      .cost_ratio_to_on_demand = 0.5,
                      .missed = 1,
                      .worst_ratio_to_optimum = 2};
  score.refused = RefusalScore{
      .missed = 2, .slip_mean = 1 * kMinute, .slip_max = 2 * kHour, .late_max = 1 * kHour};
  return {.windows = 7,
          .policies = {{"stint", score}},
          .traces = {{"a.json", {.windows = 7, .policies = {{"stint", score}}}}},
          .cells = {{.kind = "steady", .slack = 1.5, .windows = 7, .policies = {{"stint", score}}}},
          .refusals = "aws K80",
          .notes = {"short"}};
}

TEST(DeadlineValidation, ReadsWhatItWrites) {
  const std::string text = write_deadline_validation(deadline_sample());
  const auto loaded = read_deadline_validation(text, "v.json");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(write_deadline_validation(loaded->noun), text);
  EXPECT_EQ(loaded->noun.what, "deadline");
  EXPECT_EQ(loaded->noun.traces.at("a.json").policies.at("stint").refused->late_max, 1 * kHour);
  EXPECT_TRUE(loaded->warnings.empty());
}

TEST(DeadlineValidation, IsAValidationByItsSchema) {
  EXPECT_NE(write_deadline_validation(deadline_sample()).find("\"schema\": \"stint.validation/1\""),
            std::string::npos);
}

TEST(DeadlineValidation, RefusesNegativeNumbers) {
  EXPECT_TRUE(validate(deadline_sample()).ok());
  DeadlineValidation it = deadline_sample();
  it.policies.at("stint").missed = -1;
  EXPECT_FALSE(validate(it).ok());
}

}  // namespace

}  // namespace stint
