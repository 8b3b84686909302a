#include "measure/tables/refusal_pattern.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

CreationFailure failure(const char* provider, const char* device, Seconds time) {
  return {.provider = provider, .device = device, .zone = "", .time = time};
}

TEST(RefusalPattern, IsOfTheMachineThatFailedMost) {
  const std::vector<CreationFailure> failures{
      failure("gcp", "", 1 * kHour),    failure("gcp", "", 2 * kHour),
      failure("gcp", "", 3 * kHour),    failure("aws", "K80", 5 * kHour),
      failure("aws", "K80", 4 * kHour), failure("gcp", "V100", 9 * kHour)};
  const auto pattern = refusal_pattern(failures, "f.csv");
  ASSERT_TRUE(pattern.ok());
  EXPECT_EQ(pattern->provider, "aws");
  EXPECT_EQ(pattern->device, "K80");
  EXPECT_EQ(pattern->first, 4 * kHour);
  EXPECT_EQ(pattern->times, (std::vector<Seconds>{0 * kHour, 1 * kHour}));
}

TEST(RefusalPattern, TakesRowsWithoutAGpuWhenThereAreNoOthers) {
  const auto pattern =
      refusal_pattern(std::vector<CreationFailure>{failure("gcp", "", 1 * kHour)}, "f.csv");
  ASSERT_TRUE(pattern.ok());
  EXPECT_EQ(pattern->device, "");
}

TEST(RefusalPattern, OfNoFailuresIsBadInput) {
  EXPECT_EQ(refusal_pattern({}, "f.csv").error().message, "f.csv: the table has no failed starts");
}

// Failures at 0, 9 and 10 min and at 1 h fall into the ticks 0, 1 and 2 of 5 min, and beyond four.
TEST(RefusalPattern, ATickThatHoldsAFailureIsRefused) {
  const RefusalPattern pattern{.provider = "aws",
                               .device = "K80",
                               .first = {},
                               .times = {0 * kMinute, 9 * kMinute, 10 * kMinute, 1 * kHour}};
  EXPECT_EQ(refused_ticks(pattern, 5 * kMinute, 4), (std::vector<bool>{true, true, true, false}));
}

}  // namespace
}  // namespace stint
