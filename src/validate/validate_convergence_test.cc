#include "validate/validate_convergence.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"

namespace stint {
namespace {

constexpr const char* kHeader =
    "model,batch_total,epoch,progress_in_initial_batch_steps,iteration,metric,grad_sqr,grad_var\n";

std::string file(const std::string& name, const std::string& bytes) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "stint_validate_convergence_test";
  std::string path = (folder / name).string();
  EXPECT_TRUE(write_file(path, bytes).ok());
  return path;
}

/// Twenty epochs of 100 reference steps at batch 10 each. Noise ratio 9, so that a step at batch B
/// is worth r = 10/(90/B + 1); the metric climbs by 0.04 an epoch up to 0.8.
std::string run(const std::string& job, int batch, int epochs = 20) {
  const double gain = 10 / (90.0 / batch + 1);
  std::string text;
  for (int i = 1; i <= epochs; ++i) {
    text += fmt::format("{},{},{},{},{},{},1,9\n", job, batch, i - 1, 100 * i, 100 * i / gain,
                        0.04 * i);
  }
  return text;
}

std::string three_batches() { return kHeader + run("j", 10) + run("j", 30) + run("j", 90); }

// All runs reach 0.8, so the level is 0.784, after 19.6 epochs or 1960 reference steps: at batch 30
// with r = 2.5 that is 784 steps.
TEST(ValidateConvergence, PredictsEachBatchFromTheOthers) {
  const auto report = validate_convergence(
      {.train = {file("three.csv", three_batches())}, .split = "leave-one-batch-out"});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->validation.overall.n, 3);
  EXPECT_EQ(report->validation.split, "leave-one-batch-out");
  EXPECT_LT(report->validation.overall.mape, 0.1);
  EXPECT_DOUBLE_EQ(*report->validation.overall.coverage80, 1);
  ASSERT_EQ(report->predictions.size(), 60U);
  EXPECT_EQ(report->predictions[25].row, 25U);
  EXPECT_NEAR(*report->predictions[25].predicted, 784, 80);
  EXPECT_EQ(*report->predictions[20].predicted, *report->predictions[39].predicted);
  ASSERT_EQ(report->beside.size(), 4U);
  for (const Validation& baseline : report->beside) EXPECT_EQ(baseline.overall.n, 3);
}

TEST(ValidateConvergence, ScoresABaselineInstead) {
  const auto report = validate_convergence({.train = {file("base.csv", three_batches())},
                                            .split = "leave-one-batch-out",
                                            .baseline = "constant-steps"});
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->validation.baseline, "constant-steps");
  EXPECT_FALSE(report->validation.overall.coverage80.has_value());
  // Batch 10 takes 1960 steps; its nearest, 30, took 784.
  EXPECT_NEAR(*report->predictions[0].predicted, 784, 1e-6);
  EXPECT_FALSE(report->predictions[0].p10.has_value());
}

TEST(ValidateConvergence, PredictsWithoutMeasurements) {
  const auto report = validate_convergence(
      {.train = {file("seen.csv", three_batches())},
       .test = {file("unseen.csv", "model,batch_total,epoch\nj,60,0\nk,60,0\nj,60,1\n")}});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->validation.overall.n, 0);
  ASSERT_EQ(report->predictions.size(), 3U);
  EXPECT_TRUE(report->predictions[0].predicted.has_value());
  EXPECT_TRUE(report->predictions[0].p90.has_value());
  EXPECT_EQ(report->predictions[0].predicted, report->predictions[2].predicted);
  EXPECT_FALSE(report->predictions[1].predicted.has_value());
  EXPECT_NE(report->predictions[1].note.find("no other run"), std::string::npos);
}

// The level is that of the training runs and what test rows measured moves no prediction.
TEST(ValidateConvergence, UsesTestMeasurementsForScoresOnly) {
  const std::string train = file("train.csv", kHeader + run("j", 10) + run("j", 30));
  const auto with = validate_convergence(
      {.train = {train}, .test = {file("with.csv", kHeader + run("j", 90, 10))}});
  const auto without = validate_convergence(
      {.train = {train}, .test = {file("without.csv", "model,batch_total,epoch\nj,90,0\n")}});
  ASSERT_TRUE(with.ok());
  ASSERT_TRUE(without.ok());
  EXPECT_EQ(with->predictions[0].predicted, without->predictions[0].predicted);
  // Ten epochs end at 0.4, short of the level: the run counts as one that never reached it.
  EXPECT_EQ(with->validation.overall.n, 0);
  ASSERT_EQ(with->validation.notes.size(), 2U);
  EXPECT_NE(
      with->validation.notes[1].find("coverage only: 1; the interval extends beyond the end of 1"),
      std::string::npos);
}

TEST(ValidateConvergence, KeepsCoarseJobsOutOfTheHeadline) {
  const std::string coarse = run("short", 10, 4) + run("short", 30, 4);
  const auto report = validate_convergence(
      {.train = {file("coarse.csv", three_batches() + coarse)}, .split = "leave-one-batch-out"});
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->validation.overall.n, 3);
  EXPECT_EQ(report->validation.mean_over_jobs.n, 3);
  EXPECT_EQ(report->validation.jobs.at("short").n, 2);
  EXPECT_EQ(report->validation.groups.at("all runs").n, 5);
}

TEST(ValidateConvergence, SkipsAJobWithOneRun) {
  const auto report =
      validate_convergence({.train = {file("single.csv", three_batches() + run("one", 10))},
                            .split = "leave-one-batch-out"});
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->validation.overall.n, 3);
  EXPECT_EQ(report->validation.overall.skipped, 1);
}

TEST(ValidateConvergence, SaysWhatIsWrongWithItsFiles) {
  const auto missing = validate_convergence({.train = {"nowhere.csv"}, .test = {"nowhere.csv"}});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().kind, ErrorKind::kBadInput);
  const auto neither = validate_convergence({.train = {"nowhere.csv"}});
  ASSERT_FALSE(neither.ok());
  EXPECT_EQ(neither.error().kind, ErrorKind::kUsage);
  const auto columns =
      validate_convergence({.train = {file("columns.csv", "model,batch_total,epoch\nj,1,0\n")},
                            .split = "leave-one-batch-out"});
  ASSERT_FALSE(columns.ok());
  EXPECT_EQ(columns.error().kind, ErrorKind::kBadInput);
}

TEST(ValidateConvergence, BeatsTheBaselinesOnPublishedRuns) {
  const char* data = std::getenv("STINT_DATA");
  if (data == nullptr) GTEST_SKIP() << "STINT_DATA is not set.";
  const auto report = validate_convergence(
      {.train = {std::string(data) + "/pollux/convergence.csv"}, .split = "leave-one-batch-out"});
  ASSERT_TRUE(report.ok()) << report.error().message;
  const Score& ours = report->validation.overall;
  EXPECT_GE(ours.n, 9);
  EXPECT_LT(ours.mape, 0.06);
  EXPECT_GE(report->validation.groups.at("all runs").coverage80.value(), 0.65);
  EXPECT_LE(report->validation.groups.at("all runs").coverage80.value(), 0.95);
  for (const Validation& baseline : report->beside) {
    EXPECT_LT(ours.mape, baseline.overall.mape) << *baseline.baseline;
  }
}

}  // namespace
}  // namespace stint
