#include "plan/plan_validation.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

PlanValidation sample() {
  const PlanScore score{.n = 7, .mean_regret = 0.125, .p90_regret = 0.5, .deadlines_met = 1};
  return {.confidence = 0.95,
          .overall = score,
          .jobs = {{"bert", score}},
          .policies = {{"stint", {.overall = score, .jobs = {{"bert", score}}}}},
          .split = "max-gpus=6",
          .notes = {"one job only"}};
}

TEST(PlanValidation, ReadsWhatItWrites) {
  const std::string text = write_plan_validation(sample());
  const auto loaded = read_plan_validation(text, "v.json");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(write_plan_validation(loaded->noun), text);
  EXPECT_EQ(loaded->noun.what, "plan");
  EXPECT_EQ(loaded->noun.policies.at("stint").jobs.at("bert").n, 7);
  EXPECT_TRUE(loaded->warnings.empty());
}

TEST(PlanValidation, IsAValidationByItsSchema) {
  EXPECT_NE(write_plan_validation(sample()).find("\"schema\": \"stint.validation/1\""),
            std::string::npos);
}

// A deadline that is missed a little may cost less than keeping it, so that regret has no floor.
TEST(PlanValidation, TakesRegretBelowZeroButNoShareAboveOne) {
  PlanValidation it = sample();
  it.overall.mean_regret = -0.1;
  EXPECT_TRUE(validate(it).ok());
  it.overall.deadlines_met = 1.5;
  EXPECT_FALSE(validate(it).ok());
}

}  // namespace
}  // namespace stint
