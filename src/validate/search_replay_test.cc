#include "validate/search_replay.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

StepRow row_of(std::vector<int> by_vm, double batch, double seconds) {
  return {.job = "j",
          .workers_by_vm = std::move(by_vm),
          .batch_per_worker = batch,
          .time = seconds * kSecond};
}

/// Two epochs; the level is reached in the middle of the second, at 150 steps of progress.
ConvergenceRun run_of(int batch, double gain) {
  ConvergenceRun run{.job = "j", .batch = batch, .epochs = {}, .rows = {}};
  for (int epoch = 0; epoch < 2; ++epoch) {
    run.epochs.push_back({.job = "j",
                          .batch = batch,
                          .epoch = epoch,
                          .progress = 100.0 * (epoch + 1),
                          .iteration = 100.0 * (epoch + 1) / gain,
                          .metric = 0.5 * (epoch + 1),
                          .noise_ratio = 9.0 * (epoch + 1)});
  }
  return run;
}

TrainedJob job_of() {
  TrainedJob job{.initial_batch = 8};
  job.runs.push_back({.batch = 8, .steps = 150, .progress = 1200});
  job.runs.push_back({.batch = 16, .steps = 75, .progress = 1200});
  return job;
}

// On two workers batch 8 is 4 for each, which was measured, and 16 is 8, between 4 and 12. On one
// worker 8 was measured and 16 is beyond.
TEST(SearchReplay, TheWorldIsWhatWasMeasured) {
  const std::vector<StepRow> rows = {row_of({1}, 4, 0.5), row_of({1}, 8, 0.9),
                                     row_of({1, 1}, 4, 0.6), row_of({1, 1}, 12, 1.4),
                                     row_of({1, 1}, 12, 1.8)};
  const std::vector<ConvergenceRun> runs = {run_of(8, 1), run_of(16, 2)};
  const SearchWorld world = search_world(rows, runs, job_of());
  ASSERT_EQ(world.setups.size(), 3U);
  EXPECT_EQ(world.setups[0].workers_by_vm, (std::vector<int>{1}));
  EXPECT_NEAR(world.setups[0].step.in(kSecond), 0.9, 1e-12);
  EXPECT_EQ(world.setups[2].batch, 16);
  EXPECT_NEAR(world.setups[2].step.in(kSecond), 1.1, 1e-12) << "the two of batch 12 are averaged";
  const WayCurve& curve = world.curves.at(16);
  ASSERT_EQ(curve.size(), 2U);
  EXPECT_NEAR(curve[0].way, 2.0 / 3, 1e-12);
  EXPECT_EQ(curve[0].steps, 50);
  EXPECT_EQ(curve[0].noise, 72);
  EXPECT_EQ(curve[1].way, 1);
  EXPECT_EQ(curve[1].steps, 75);
  EXPECT_EQ(curve[1].noise, 144);
}

TEST(SearchReplay, RunsThatNeverGetThereAreNoChoice) {
  TrainedJob job = job_of();
  job.runs.pop_back();
  const std::vector<StepRow> rows = {row_of({1}, 8, 0.9), row_of({1}, 16, 1.7)};
  const SearchWorld world = search_world(rows, std::vector{run_of(8, 1), run_of(16, 2)}, job);
  EXPECT_EQ(world.setups.size(), 1U);
}

}  // namespace
}  // namespace stint
