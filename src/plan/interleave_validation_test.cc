#include "plan/interleave_validation.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

InterleaveValidation sample() {
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
  const std::string text = write_interleave_validation(sample());
  const auto loaded = read_interleave_validation(text, "v.json");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(write_interleave_validation(loaded->noun), text);
  EXPECT_EQ(loaded->noun.what, "interleave");
  EXPECT_EQ(loaded->noun.worlds.at("busy").policies.at("random").saved, -0.01);
  EXPECT_TRUE(loaded->warnings.empty());
}

TEST(InterleaveValidation, IsAValidationByItsSchema) {
  EXPECT_NE(write_interleave_validation(sample()).find("\"schema\": \"stint.validation/1\""),
            std::string::npos);
}

TEST(InterleaveValidation, SharesAreFractions) {
  InterleaveValidation it = sample();
  EXPECT_TRUE(validate(it).ok());
  it.worlds.at("busy").chosen.coverage80 = 1.5;
  EXPECT_FALSE(validate(it).ok());
}

}  // namespace
}  // namespace stint
