#include "app/share/sharing_models.h"

#include <gtest/gtest.h>

#include "app/share/job_alone.h"
#include "interleave/pairing_fixture.h"
#include "simulate/step_simulation.h"

namespace stint {
namespace {

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

TEST(SharingModels, OnlyTheEmulatedCloudPrefersWhoSendsFirst) {
  EXPECT_EQ(twin_options(kEmulated).sharing, LinkSharing::kSenior);
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
      auto inputs = load_predict_inputs({}, name, "");
      ASSERT_TRUE(inputs.ok());
      ASSERT_TRUE(use_calibration_for(*cluster, "", *inputs).ok());
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
