#include "load/predict_inputs.h"

#include <filesystem>
#include <gtest/gtest.h>

#include "base/file.h"
#include "load/example_job_fixture.h"
#include "predict/calibrated_law.h"
#include "predict/device_scaling.h"

namespace stint {
namespace {

std::string file(const std::string& name, const std::string& bytes) {
  const auto path = std::filesystem::path(testing::TempDir()) / "stint_predict_inputs_test" / name;
  EXPECT_TRUE(write_file(path.string(), bytes).ok());
  return path.string();
}

TEST(LoadJob, FindsTheShippedOnesByName) {
  const auto job = load_job("bert");
  ASSERT_TRUE(job.ok()) << job.error().message;
  // 109 M parameters of four bytes.
  EXPECT_NEAR(job->noun.gradient_bytes.in(kMB), 436, 1e-9);
  EXPECT_TRUE(load_job("paced-5mb").ok());
}

TEST(LoadJob, ReadsFiles) {
  const std::string path =
      file("mine.json", R"({"schema": "stint.job/1", "name": "mine", "gradient_bytes": "4 MB"})");
  const auto job = load_job(path);
  ASSERT_TRUE(job.ok()) << job.error().message;
  EXPECT_EQ(job->noun.name, "mine");
}

TEST(LoadJob, SaysWhatIsShippedWhenThereIsNoSuchJob) {
  const auto job = load_job("no-such-job");
  ASSERT_FALSE(job.ok());
  EXPECT_EQ(job.error().kind, ErrorKind::kBadInput);
  EXPECT_NE(job.error().message.find("bert, cifar10"), std::string::npos) << job.error().message;
  const auto missing = load_job("folder/none.json");
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().message.find("folder/none.json"), std::string::npos);
}

TEST(LoadPredictInputs, TakesTheCalibrationThatIsCalledAfterTheProvider) {
  const auto law = [](const std::string& provider) {
    return load_predict_inputs({}, "paced-20mb", "", provider)->law;
  };
  EXPECT_FALSE(law("").buckets.has_value());
  EXPECT_EQ(law("aws").name, "aws-tcp");
  EXPECT_EQ(law("local").name, "local");
  EXPECT_EQ(law("LOCAL").name, "local");
  EXPECT_EQ(law("Aws").name, "aws-tcp");
  EXPECT_TRUE(law("local").buckets.has_value());
}

// "devices" is a calibration, but nobody's.
TEST(LoadPredictInputs, AProviderThatIsNoneHasTheDefault) {
  const auto inputs = load_predict_inputs({}, "paced-20mb", "", "devices");
  ASSERT_TRUE(inputs.ok()) << inputs.error().message;
  EXPECT_EQ(inputs->law.name, "aws-tcp");
}

TEST(LoadPredictInputs, TheCalibrationOfAClusterIsThatOfItsProviderUnlessOneIsAskedFor) {
  const auto law = [](const std::string& cluster, const std::string& asked) {
    return load_predict_inputs({}, "paced-20mb", asked, *parse_cluster(cluster))->law.name;
  };
  EXPECT_EQ(law("2x local.small", "priors"), "priors");
  EXPECT_EQ(law("2x no.such", ""), "aws-tcp");
  EXPECT_EQ(law("2x local.small", ""), "local");
}

TEST(LoadCalibration, TheDefaultIsALaw) {
  const auto calibration = load_calibration("");
  ASSERT_TRUE(calibration.ok()) << calibration.error().message;
  EXPECT_TRUE(calibrated_law(calibration->noun).ok());
}

TEST(LoadCalibration, FindsTheShippedOnesByName) {
  ASSERT_TRUE(load_calibration("priors").ok());
  EXPECT_FALSE(calibrated_law(load_calibration("priors")->noun)->fitted);
  EXPECT_TRUE(device_law(load_calibration("devices")->noun).ok());
  EXPECT_FALSE(load_calibration("no-such-calibration").ok());
}

TEST(LoadPredictInputs, BringsJobCatalogueAndLawsTogether) {
  const auto inputs = load_predict_inputs({}, kExampleJob, "priors");
  ASSERT_TRUE(inputs.ok()) << inputs.error().message;
  EXPECT_EQ(inputs->job.name, "example-resnet50");
  EXPECT_FALSE(inputs->catalog.types.empty());
  EXPECT_EQ(inputs->law.name, "priors");
  EXPECT_EQ(&inputs->context().job, &inputs->job);
}

TEST(LoadPredictInputs, SaysWhichOfThemIsMissing) {
  EXPECT_NE(load_predict_inputs({}, "no-such", "").error().message.find("job 'no-such'"),
            std::string::npos);
  EXPECT_NE(
      load_predict_inputs({}, "bert", "no-such").error().message.find("calibration 'no-such'"),
      std::string::npos);
}

}  // namespace
}  // namespace stint
