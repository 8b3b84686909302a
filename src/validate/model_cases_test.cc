#include "validate/model_cases.h"

#include <gtest/gtest.h>

#include "load/catalog_cases.h"
#include "load/predict_inputs.h"

namespace stint {
namespace {

CaseOutcome outcome(CaseMetric metric, double published, double predicted) {
  CaseOutcome it{
      .published = {.id = "a-01", .vms = 1, .workers = 1, .metric = metric, .value = published}};
  it.predicted = predicted;
  it.p10 = 0.5 * predicted;
  it.p90 = 2 * predicted;
  it.speed_ratio = predicted / published;
  return it;
}

// Ratios 0.5, 1 and 1.2: the median is 1, two are close, and all lie in their interval.
TEST(ModelCases, AreScoredByMetric) {
  const CaseReport report = model_case_report(
      {outcome(CaseMetric::kTimeToTrain, 100, 50), outcome(CaseMetric::kTimeToTrain, 100, 100),
       outcome(CaseMetric::kTimeToTrain, 100, 120), outcome(CaseMetric::kPeakMemory, 10, 40)});
  ASSERT_EQ(report.groups.size(), 2U);
  const CaseGroup& time = report.groups.at(1);
  EXPECT_EQ(time.name, "time to train");
  EXPECT_EQ(time.cases, 3);
  EXPECT_EQ(time.close, 2);
  EXPECT_EQ(time.inside, 3);
  EXPECT_DOUBLE_EQ(time.median_ratio, 1);
  EXPECT_DOUBLE_EQ(report.groups.at(0).median_ratio, 4);
  EXPECT_EQ(report.scores.predictions.size(), 4U);
}

TEST(ModelCases, CostsAreNotPredicted) {
  const PredictInputs nothing;
  const CaseOutcome it = predict_model_case(nothing, {.id = "a-01", .workers = 1});
  EXPECT_FALSE(it.predicted.has_value());
  EXPECT_NE(it.note.find("prices"), std::string::npos);
}

// Without a word on its precision, a case lies between what both precisions say, and its interval
// reaches into both.
TEST(ModelCases, AnOpenPrecisionWidensTheInterval) {
  const auto inputs =
      load_predict_inputs(*environment_from([](const char*) { return ""; }), "model:resnet50", "");
  ASSERT_TRUE(inputs.ok()) << inputs.error().message;
  PublishedCase it{.id = "a-01",
                   .model = "ResNet-50",
                   .precision = "fp32",
                   .batch_per_worker = 128,
                   .machines = "p3.2xlarge",
                   .vms = 1,
                   .workers = 1,
                   .gpu = "V100-16GB",
                   .metric = CaseMetric::kSamplesPerSecond};
  const CaseOutcome slow = predict_model_case(*inputs, it);
  it.precision = "amp";
  const CaseOutcome fast = predict_model_case(*inputs, it);
  it.precision.clear();
  const CaseOutcome open = predict_model_case(*inputs, it);
  ASSERT_TRUE(open.predicted && slow.predicted && fast.predicted) << open.note;
  EXPECT_NEAR(*open.predicted * *open.predicted, *slow.predicted * *fast.predicted,
              1e-6 * *slow.predicted * *fast.predicted);
  EXPECT_GT(*open.p10, *slow.p10);
  EXPECT_LT(*open.p10, *slow.predicted);
  EXPECT_GT(*open.p90, *fast.predicted);
  EXPECT_LT(*open.p90, *fast.p90);
}

}  // namespace
}  // namespace stint
