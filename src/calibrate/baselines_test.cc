#include "calibrate/baselines.h"

#include <cmath>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

namespace stint {
namespace {

StepRow setup(std::vector<int> workers_by_vm, double batch) {
  return {.job = "job", .workers_by_vm = std::move(workers_by_vm), .batch_per_worker = batch};
}

StepRow measured(std::vector<int> workers_by_vm, double batch, double seconds) {
  StepRow row = setup(std::move(workers_by_vm), batch);
  row.time = seconds * kSecond;
  return row;
}

double predicted(const StepModel& model, std::vector<int> workers_by_vm, double batch) {
  const auto time = model.predict(setup(std::move(workers_by_vm), batch));
  return time ? time->in(kSecond) : std::nan("");
}

/// a = 0.02, β = 0.001; on one VM 0.05 + 0.01 (K − 2), on several 0.2 + 0.02 (K − 2); γ = 2.
double pollux_seconds(const std::vector<int>& workers_by_vm, double batch) {
  int count = 0;
  for (const int on_vm : workers_by_vm) count += on_vm;
  const double g = 0.02 + 0.001 * batch;
  if (count == 1) return g;
  const bool one_vm = workers_by_vm.size() == 1;
  const double s = one_vm ? 0.05 + 0.01 * (count - 2) : 0.2 + 0.02 * (count - 2);
  return std::sqrt(g * g + s * s);
}

std::vector<StepRow> pollux_rows(const std::vector<std::vector<int>>& placements) {
  std::vector<StepRow> rows;
  for (const auto& placement : placements) {
    for (const double batch : {32, 64, 128, 256}) {
      rows.push_back(measured(placement, batch, pollux_seconds(placement, batch)));
    }
  }
  return rows;
}

const std::vector<std::vector<int>> kOneVm = {{1}, {2}, {3}, {4}};
const std::vector<std::vector<int>> kSeveralVms = {{1},    {2},    {3},       {4},
                                                   {1, 1}, {2, 2}, {4, 4, 4}, {4, 4, 4, 4}};

TEST(Pollux, RecoversAFormOfItsOwn) {
  const auto rows = pollux_rows(kSeveralVms);
  const auto model = fit_baseline(BaselineKind::kPollux, rows);
  for (const auto& placement : {std::vector{1}, {4}, {8}, {2, 1}, {4, 4}, {4, 4, 4, 4, 4, 4}}) {
    for (const double batch : {16, 100, 512}) {
      const double exact = pollux_seconds(placement, batch);
      EXPECT_NEAR(predicted(*model, placement, batch), exact, 0.02 * exact)
          << placement.size() << " VMs, batch " << batch;
    }
  }
}

TEST(Pollux, TakesSeveralVmsForOneWhenItSawOneOnly) {
  const auto rows = pollux_rows(kOneVm);
  const auto model = fit_baseline(BaselineKind::kPollux, rows);
  EXPECT_NEAR(predicted(*model, {4}, 64), pollux_seconds({4}, 64), 2e-3);
  EXPECT_NEAR(predicted(*model, {1, 1, 1, 1}, 64), predicted(*model, {4}, 64), 1e-12);
}

TEST(Pollux, HopesForPerfectScalingWhenItSawOneWorkerOnly) {
  const auto rows = pollux_rows({{1}});
  const auto model = fit_baseline(BaselineKind::kPollux, rows);
  EXPECT_NEAR(predicted(*model, {1}, 100), 0.12, 1e-4);
  EXPECT_EQ(predicted(*model, {4}, 100), predicted(*model, {1}, 100));
  EXPECT_EQ(predicted(*model, {4, 4}, 100), predicted(*model, {1}, 100));
}

// One batch: a is half of 0.1 s, so 0.05 + 0.05/64 · batch; at twice the batch 0.15 s.
TEST(Pollux, SplitsTheTimeOfASingleBatchInHalves) {
  const std::vector<StepRow> rows = {measured({1}, 64, 0.1)};
  const auto model = fit_baseline(BaselineKind::kPollux, rows);
  EXPECT_NEAR(predicted(*model, {1}, 128), 0.15, 1e-4);
}

// The split separates G from S where γ alone could not: G = 0.3, S = 0.4 and γ = 2 make 0.5.
TEST(Pollux, UsesTheSplitWhereTheRowsSayIt) {
  std::vector<StepRow> rows;
  for (const double batch : {10, 20, 40}) {
    rows.push_back(measured({1, 1}, batch, std::hypot(0.01 * batch, 0.4)));
    rows.back().synchronisation = *rows.back().time - 0.01 * batch * kSecond;
  }
  const auto model = fit_baseline(BaselineKind::kPollux, rows);
  EXPECT_NEAR(predicted(*model, {1}, 30), 0.3, 0.01);
  EXPECT_NEAR(predicted(*model, {1, 1}, 30), 0.5, 0.01);
}

// T = 0.1 + 0.01 b + 0.02 K: at b = 50 and K = 16 it is 0.92.
TEST(Scavenger, RecoversAPlane) {
  std::vector<StepRow> rows;
  for (const int count : {1, 2, 4}) {
    for (const double batch : {8, 16, 32}) {
      rows.push_back(measured({count}, batch, 0.1 + 0.01 * batch + 0.02 * count));
    }
  }
  const auto model = fit_baseline(BaselineKind::kScavenger, rows);
  EXPECT_NEAR(predicted(*model, {8, 8}, 50), 0.92, 1e-6);
}

// A falling line, 0.3 − 0.1 K, is negative on eight workers.
TEST(Scavenger, IsNeverBelowZero) {
  const std::vector<StepRow> rows = {measured({1}, 8, 0.2), measured({2}, 8, 0.1)};
  const auto model = fit_baseline(BaselineKind::kScavenger, rows);
  EXPECT_EQ(predicted(*model, {8}, 8), 0);
}

// One worker: 0.1 (twice measured, 0.09 and 0.11) at 10, 0.3 at 30, 0.4 at 50.
TEST(Perfect, KeepsTheTimeOfOneWorker) {
  const std::vector<StepRow> rows = {measured({1}, 10, 0.09), measured({1}, 10, 0.11),
                                     measured({1}, 30, 0.3), measured({1}, 50, 0.4),
                                     measured({4}, 10, 9)};
  const auto model = fit_baseline(BaselineKind::kPerfect, rows);
  EXPECT_NEAR(predicted(*model, {4, 4}, 10), 0.1, 1e-12);
  EXPECT_NEAR(predicted(*model, {4, 4}, 20), 0.2, 1e-12);
  EXPECT_NEAR(predicted(*model, {1}, 70), 0.5, 1e-12);
  EXPECT_NEAR(predicted(*model, {1}, 5), 0.05, 1e-12);
}

TEST(Perfect, IsInProportionToTheBatchWhenOnlyOneWasMeasured) {
  const std::vector<StepRow> rows = {measured({1}, 10, 0.1)};
  const auto model = fit_baseline(BaselineKind::kPerfect, rows);
  EXPECT_NEAR(predicted(*model, {2}, 25), 0.25, 1e-12);
  const std::vector<StepRow> several = {measured({2}, 10, 0.1)};
  const auto nothing = fit_baseline(BaselineKind::kPerfect, several);
  EXPECT_FALSE(nothing->predict(setup({2}, 10)).has_value());
}

TEST(Baselines, KnowNothingOfOtherJobsNorOfRowsThatAreNotUsable) {
  StepRow unusable = measured({1}, 10, 0.1);
  unusable.job = "unusable";
  unusable.unusable = "out of memory";
  StepRow timeless = setup({1}, 10);
  timeless.job = "timeless";
  StepRow other_series = setup({1}, 10);
  other_series.series = "other";
  const std::vector<StepRow> rows = {measured({1}, 10, 0.1), measured({2}, 20, 0.2), unusable,
                                     timeless};
  for (const auto& [kind, name] : names_of(BaselineKind{})) {
    SCOPED_TRACE(name);
    const auto model = fit_baseline(kind, rows);
    EXPECT_TRUE(model->predict(rows[0]).has_value());
    EXPECT_FALSE(model->predict(unusable).has_value());
    EXPECT_FALSE(model->predict(timeless).has_value());
    EXPECT_FALSE(model->predict(other_series).has_value());
  }
}

}  // namespace
}  // namespace stint
