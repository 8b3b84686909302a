#include "app/share/sharing_models.h"

#include <cmath>
#include <gtest/gtest.h>

#include "app/share/job_alone.h"
#include "interleave/pairing_fixture.h"
#include "simulate/step_simulation.h"

namespace stint {
namespace {

FreeSharingLaw law() {
  return {.slope = 0,
          .elsewhere = {.log_share = std::log(0.5), .spread = 0.5},
          .devices = {{"K80", {.log_share = std::log(0.4), .spread = 0.1}},
                      {"V100", {.log_share = std::log(0.8), .spread = 0.3}}}};
}

/// Slices that slow both jobs by this factor.
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

const std::vector<PredictedGroup> kEmulated{{.vm = "local/local.medium"}};
const std::vector<PredictedGroup> kGpus{{.vm = "aws/g4dn.12xlarge", .device = "T4"}};

TEST(SharingModels, OfTheEmulatedCloudKnowSlices) {
  EXPECT_TRUE(emulated(kEmulated));
  const SharingModels models = sharing_models(kEmulated);
  const ShareJob job = plain_job("a", 40, 20);
  ASSERT_TRUE(models.freely);
  EXPECT_TRUE(models.freely({job, job, SharingMode::kFreely}).has_value());
}

TEST(SharingModels, OfGpusKnowWhatPairsGotOfOne) {
  EXPECT_FALSE(emulated(kGpus));
  const SharingModels models = sharing_models(kGpus);
  EXPECT_TRUE(models.turns);
  ASSERT_TRUE(models.freely);
  const ShareJob job = plain_job("a", 40, 20);
  const auto pace = models.freely({job, job, SharingMode::kFreely});
  ASSERT_TRUE(pace);
  EXPECT_GT(pace->slowdown[0], 1);
  EXPECT_LT(pace->slowdown[0], 2.5);
  EXPECT_GT(pace->deviation, 0.05);
}

TEST(SharingModels, OnlyTheEmulatedCloudSharesByWindows) {
  EXPECT_EQ(twin_options(kEmulated).sharing, LinkSharing::kWindows);
  EXPECT_EQ(twin_options(kGpus, 0.5).sharing, LinkSharing::kFair);
  EXPECT_EQ(twin_options(kGpus, 0.5).compute_slowdown, 0.5);
}

// The calibration of the emulated cloud was fitted with the closed form, so that the twin, which
// plays every bucket with the calibrated latency and bandwidth, must agree with it on one job.
TEST(SharingModels, TheTwinKnowsTheCalibratedStepOfTheEmulatedCloud) {
  for (const char* name : {"paced-5mb", "paced-20mb", "paced-55mb", "paced-110mb"}) {
    for (const char* text : {"2x local.large", "4x local.medium"}) {
      SCOPED_TRACE(testing::Message() << name << " on " << text);
      const auto cluster = parse_cluster(text);
      ASSERT_TRUE(cluster.ok());
      auto inputs = load_predict_inputs({}, name, "", *cluster);
      ASSERT_TRUE(inputs.ok());
      EXPECT_EQ(inputs->calibration.name, "local");
      const auto alone = job_alone(*inputs, *cluster, {.options = {.batch_per_worker = 32}});
      ASSERT_TRUE(alone.ok());
      const Seconds twin = total(simulate_step(alone->job.setup));
      EXPECT_NEAR(twin / alone->job.alone, 1, 0.01);
    }
  }
}

}  // namespace

}  // namespace stint
