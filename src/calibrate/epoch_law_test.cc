#include "calibrate/epoch_law.h"

#include <cmath>
#include <gtest/gtest.h>

namespace stint {
namespace {

// E∞ = 10 counts half of s = 2: at the smallest batch ln(1 + 1 + 1/64), at 64 times as much
// ln(1 + 1/64 + 1).
TEST(EpochLaw, IsSlowAtBothEnds) {
  const EpochLaw law{.noise = 2, .steps = 64};
  EXPECT_NEAR(epochs_over_ideal(law, 10, 1), std::log(2 + 1.0 / 64), 1e-12);
  EXPECT_NEAR(epochs_over_ideal(law, 10, 64), std::log(2 + 1.0 / 64), 1e-12);
  EXPECT_LT(epochs_over_ideal(law, 10, 8), epochs_over_ideal(law, 10, 1));
}

/// Rows of a workload that follows `law` at batches from 8, to a target with so many ideal epochs.
std::vector<EpochTargetRow> rows_of(const std::string& workload, const EpochLaw& law,
                                    const std::vector<int>& batches) {
  std::vector<EpochTargetRow> rows;
  for (const double ideal : {10.0, 30.0}) {
    for (const int batch : batches) {
      const double epochs = ideal * std::exp(epochs_over_ideal(law, ideal, batch / 8.0));
      rows.push_back({.workload = workload, .batch = batch, .target = ideal, .epochs = epochs});
    }
  }
  return rows;
}

const std::vector<int> kBatches{8, 16, 32, 64, 128, 256, 512, 1024};

TEST(EpochModel, CarriesTheSmallestBatchOverByWhatOthersDo) {
  const EpochLaw law{.noise = 2, .steps = 40};
  std::vector<EpochTargetRow> rows = rows_of("a", law, kBatches);
  const auto more = rows_of("b", law, kBatches);
  rows.insert(rows.end(), more.begin(), more.end());
  const auto one = rows_of("c", law, {8});
  rows.insert(rows.end(), one.begin(), one.end());
  const auto model = EpochModel::fit(rows);
  ASSERT_TRUE(model.ok()) << model.error().message;
  for (const EpochTargetRow& row : rows_of("c", law, {64, 512})) {
    const auto found = model->estimate("c", row.target, row.batch);
    ASSERT_TRUE(found.has_value());
    EXPECT_NEAR(found->steps / *row.epochs, 1, 0.1);
    EXPECT_LT(found->p10, *row.epochs);
    EXPECT_GT(found->p90, *row.epochs);
  }
  // A batch that was measured is what it was.
  EXPECT_NEAR(model->estimate("c", 10, 8)->steps, *one[0].epochs, 1e-6);
  EXPECT_FALSE(model->estimate("c", 20, 8).has_value());
  EXPECT_FALSE(model->estimate("d", 10, 8).has_value());
}

TEST(EpochModel, IsWiderWhereWorkloadsDiffer) {
  std::vector<EpochTargetRow> alike = rows_of("a", {}, kBatches);
  std::vector<EpochTargetRow> apart = alike;
  const auto same = rows_of("b", {}, kBatches);
  const auto other = rows_of("b", {.noise = 0.1, .steps = 4}, kBatches);
  alike.insert(alike.end(), same.begin(), same.end());
  apart.insert(apart.end(), other.begin(), other.end());
  EXPECT_LT(EpochModel::fit(alike)->spread(), 0.7 * EpochModel::fit(apart)->spread());
}

TEST(BaselineEpochs, KeepEpochsOrStepsOfTheNearestBatch) {
  const std::vector<EpochTargetRow> rows{
      {.workload = "a", .batch = 8, .target = 1, .epochs = 10.0},
      {.workload = "a", .batch = 8, .target = 1, .epochs = 14.0},
      {.workload = "a", .batch = 64, .target = 2, .epochs = 3.0}};
  const EpochTargetRow asked{.workload = "a", .batch = 16, .target = 1, .epochs = {}};
  EXPECT_EQ(baseline_epochs(StepsBaseline::kConstantSamples, rows, asked), 12);
  EXPECT_EQ(baseline_epochs(StepsBaseline::kConstantSteps, rows, asked), 24);
  EXPECT_FALSE(baseline_epochs(StepsBaseline::kAdaScale, rows, asked).has_value());
}

}  // namespace
}  // namespace stint
