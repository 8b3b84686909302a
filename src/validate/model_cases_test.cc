#include "validate/model_cases.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace stint
