#include "plan/validation.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

Validation sample() {
  const Score score{.n = 3,
                    .mape = 0.125,
                    .median_ape = 0.25,
                    .p90_ape = 0.5,
                    .coverage80 = 0.75,
                    .interval_score = 0.5,
                    .skipped = 1};
  return {.what = "steps",
          .overall = score,
          .mean_over_jobs = score,
          .jobs = {{"bert", score}},
          .baseline = "pollux",
          .split = "max-gpus=8",
          .notes = {"two rows were left out"}};
}

TEST(Validation, ReadsWhatItWrites) {
  const std::string text = write_validation(sample());
  const auto loaded = read_validation(text, "v.json");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(write_validation(loaded->noun), text);
  EXPECT_EQ(loaded->noun.jobs.at("bert").skipped, 1);
  EXPECT_EQ(loaded->noun.split, "max-gpus=8");
  EXPECT_TRUE(loaded->warnings.empty());
}

TEST(Validation, LeavesOutWhatWasNotScored) {
  const std::string text = write_validation({.what = "steps"});
  EXPECT_EQ(text.find("coverage80"), std::string::npos);
  EXPECT_EQ(text.find("baseline"), std::string::npos);
  EXPECT_NE(text.find("\"jobs\""), std::string::npos);
}

TEST(Validation, RefusesFiguresThatCannotBe) {
  Validation wrong = sample();
  wrong.jobs["bert"].coverage80 = 80;
  EXPECT_FALSE(validate(wrong).ok());
  wrong = sample();
  wrong.overall.mape = -0.5;
  EXPECT_FALSE(validate(wrong).ok());
  EXPECT_TRUE(validate(sample()).ok());
}

}  // namespace
}  // namespace stint
