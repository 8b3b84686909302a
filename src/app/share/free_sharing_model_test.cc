#include "app/share/free_sharing_model.h"

#include <cmath>
#include <gtest/gtest.h>

namespace stint {
namespace {

FreeSharingLaw law() {
  return {.slope = 0,
          .elsewhere = {.log_share = std::log(0.5), .spread = 0.5},
          .devices = {{"K80", {.log_share = std::log(0.4), .spread = 0.1}},
                      {"V100", {.log_share = std::log(0.8), .spread = 0.3}}}};
}

/// Slices that slow both jobs so much.
SharingModel slices(double slowdown, double deviation = 0) {
  return [=](const SharingQuestion&) {
    return SharedPace{.slowdown = {slowdown, slowdown}, .deviation = deviation};
  };
}

SharedPace pace(const std::vector<std::string>& devices, const SharingModel& sliced) {
  const ShareJob job{.name = "a", .alone = kSecond};
  return *free_sharing_model(law(), devices, sliced)({job, job, SharingMode::kFreely});
}

// Jobs that only compute: 1/0.8 and 1/0.4.
TEST(FreeSharingModel, IsTheLawWhereJobsOnlyCompute) {
  EXPECT_NEAR(pace({"V100-SXM2-16GB"}, slices(2)).slowdown[0], 1.25, 1e-9);
  EXPECT_NEAR(pace({"V100-SXM2-16GB"}, slices(2)).deviation, 0.3, 1e-9);
  EXPECT_NEAR(pace({"K80"}, slices(2)).slowdown[1], 2.5, 1e-9);
  EXPECT_NEAR(pace({"A100"}, slices(2)).slowdown[1], 2, 1e-9);
}

// 1 + 0.5 · (2.5 − 1) = 1.75; its logarithm moves by 0.5 / 0.4 / 1.75 = 0.714 of the law's 0.1.
TEST(FreeSharingModel, IsInBetweenWhereTheyMeetHalfOfTheTime) {
  const SharedPace it = pace({"K80"}, slices(1.5));
  EXPECT_NEAR(it.slowdown[0], 1.75, 1e-9);
  EXPECT_NEAR(it.deviation, 0.0714, 1e-4);
}

TEST(FreeSharingModel, JobsThatNeverMeetAreNotSlowed) {
  const SharedPace it = pace({"V100"}, slices(1, 0.02));
  EXPECT_EQ(it.slowdown[0], 1);
  EXPECT_NEAR(it.deviation, 0.02, 1e-12);
}

TEST(FreeSharingModel, TheSlowestDeviceCounts) {
  EXPECT_NEAR(pace({"V100", "K80"}, slices(2)).slowdown[0], 2.5, 1e-9);
}

TEST(FreeSharingModel, WithoutAcceleratorsAllIsSlices) {
  EXPECT_EQ(pace({}, slices(1.7)).slowdown[0], 1.7);
}

TEST(FreeSharingModel, WhatSlicesCannotAnswerIsNotAnswered) {
  const ShareJob job{.name = "a", .alone = kSecond};
  const SharingModel none = [](const SharingQuestion&) { return std::optional<SharedPace>(); };
  EXPECT_FALSE(free_sharing_model(law(), {"K80"}, none)({job, job}).has_value());
}

}  // namespace
}  // namespace stint
