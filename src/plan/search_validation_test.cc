#include "plan/search_validation.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

SearchValidation sample() {
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
  const std::string text = write_search_validation(sample());
  const auto loaded = read_search_validation(text, "v.json");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(write_search_validation(loaded->noun), text);
  EXPECT_EQ(loaded->noun.what, "search");
  EXPECT_EQ(loaded->noun.jobs.at("bert").oracle_time, 100 * kSecond);
  EXPECT_TRUE(loaded->warnings.empty());
}

TEST(SearchValidation, IsAValidationByItsSchema) {
  EXPECT_NE(write_search_validation(sample()).find("\"schema\": \"stint.validation/1\""),
            std::string::npos);
}

TEST(SearchValidation, ScoresAreAboveZero) {
  SearchValidation it = sample();
  EXPECT_TRUE(validate(it).ok());
  it.policies["stint"].time_over_oracle = -1;
  EXPECT_FALSE(validate(it).ok());
}

}  // namespace
}  // namespace stint
