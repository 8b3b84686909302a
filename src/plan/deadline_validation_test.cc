#include "plan/deadline_validation.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

DeadlineValidation sample() {
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
  const std::string text = write_deadline_validation(sample());
  const auto loaded = read_deadline_validation(text, "v.json");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(write_deadline_validation(loaded->noun), text);
  EXPECT_EQ(loaded->noun.what, "deadline");
  EXPECT_EQ(loaded->noun.traces.at("a.json").policies.at("stint").refused->late_max, 1 * kHour);
  EXPECT_TRUE(loaded->warnings.empty());
}

TEST(DeadlineValidation, IsAValidationByItsSchema) {
  EXPECT_NE(write_deadline_validation(sample()).find("\"schema\": \"stint.validation/1\""),
            std::string::npos);
}

TEST(DeadlineValidation, RefusesNegativeNumbers) {
  EXPECT_TRUE(validate(sample()).ok());
  DeadlineValidation it = sample();
  it.policies.at("stint").missed = -1;
  EXPECT_FALSE(validate(it).ok());
}

}  // namespace
}  // namespace stint
