#include "app/plan/predict_cases.h"

#include <filesystem>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"
#include "load/example_job_fixture.h"

namespace stint {
namespace {

PredictRequest request(const std::string& cluster, int batch) {
  return {.job = kExampleJob,
          .cluster = cluster,
          .options = {.batch_per_worker = batch},
          .calibration = "priors"};
}

Prediction predicted(const PredictRequest& asked) {
  const auto answer = predict_job({}, asked);
  CHECK(answer.ok());
  return answer->prediction;
}

// The example on one T4 at 64: 260 + 520 + 3 ms.
TEST(PredictJob, AnswersTheShippedExample) {
  const Prediction it = predicted(request("g4dn.xlarge", 64));
  EXPECT_NEAR(it.iteration.mean.in(kMillisecond), 783, 1e-6);
  EXPECT_TRUE(it.memory && it.memory->fits);
  EXPECT_TRUE(it.cost_per_million_samples);
  EXPECT_TRUE(validate(it).ok());
}

TEST(PredictJob, TheTwinAgreesOnOneVm) {
  PredictRequest asked = request("g4dn.12xlarge", 64);
  const Seconds analytic = predicted(asked).iteration.mean;
  asked.event_driven = true;
  // The closed form's soft maximum lies a little above.
  EXPECT_NEAR(predicted(asked).iteration.mean / analytic, 1, 0.05);
}

TEST(PredictJob, WritesATimeline) {
  PredictRequest asked = request("2x g4dn.12xlarge", 64);
  asked.timeline = (std::filesystem::path(testing::TempDir()) / "stint_timeline.json").string();
  ASSERT_TRUE(predict_job({}, asked).ok());
  const auto text = read_file(asked.timeline);
  ASSERT_TRUE(text.ok());
  EXPECT_TRUE(parse_json(*text, "timeline")->as<Json::Array>() != nullptr);
  // The profile's buckets are drawn, though the answer is that of one stream.
  EXPECT_NE(text->find("bucket 2"), std::string::npos);
  const auto drawn_by = [&](bool event_driven) {
    asked.event_driven = event_driven;
    CHECK(predict_job({}, asked).ok());
    const std::string picture = *read_file(asked.timeline);
    std::size_t count = 0;
    for (std::size_t at = picture.find("\"bucket "); at != std::string::npos;
         at = picture.find("\"bucket ", at + 1)) {
      ++count;
    }
    return count;
  };
  EXPECT_EQ(drawn_by(false), drawn_by(true));
  asked.timeline = "/dev/null/nowhere.json";
  EXPECT_FALSE(predict_job({}, asked).ok());
}

TEST(PredictJob, AJobWithoutSamplesIsBadInput) {
  PredictRequest asked = request("g4dn.xlarge", 64);
  asked.job = "bert";
  const auto answer = predict_job({}, asked);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().kind, ErrorKind::kBadInput);
}

TEST(PredictChange, MoreNetworkOnlyShortensCommunication) {
  const auto answer =
      predict_change({}, request("8x g4dn.12xlarge", 16), {.network = 200 * kGbit / kSecond});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  const IterationParts& before = answer->before.iteration.parts;
  const IterationParts& after = answer->after.iteration.parts;
  EXPECT_EQ(before.forward, after.forward);
  EXPECT_GT(before.exposed_communication, after.exposed_communication);
  EXPECT_LT(*answer->after.cost_per_million_samples, *answer->before.cost_per_million_samples);
}

TEST(PredictChange, AnImaginedGpuHasNoPrice) {
  const auto answer = predict_change({}, request("g4dn.xlarge", 16), {.gpu = "V100"});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  // 23 + 46 + 2 ms, as measured on a V100.
  EXPECT_NEAR(answer->after.iteration.mean.in(kMillisecond), 71, 1e-6);
  EXPECT_TRUE(answer->before.cost_per_million_samples);
  EXPECT_FALSE(answer->after.cost_per_million_samples);
  const auto unknown = predict_change({}, request("g4dn.xlarge", 16), {.gpu = "V1000"});
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().kind, ErrorKind::kUsage);
}

TEST(PredictChange, ChangesBatchVmsAndCollective) {
  const auto answer =
      predict_change({}, request("2x g4dn.12xlarge", 16),
                     {.batch_per_worker = 32, .vms = 4, .collective = Collective::kHierarchical});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->before.global_batch, 2 * 4 * 16);
  EXPECT_EQ(answer->after.global_batch, 4 * 4 * 32);
  EXPECT_EQ(to_text(answer->after.cluster), "4x g4dn.12xlarge");
  const auto mixed = predict_change({}, request("g4dn.xlarge + p3.2xlarge", 16), {.vms = 4});
  ASSERT_FALSE(mixed.ok());
  EXPECT_EQ(mixed.error().kind, ErrorKind::kUsage);
}

}  // namespace
}  // namespace stint
