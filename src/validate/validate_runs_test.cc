#include "validate/validate_runs.h"

#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "app/calibrate/bucket_runs.h"
#include "base/file.h"
#include "measure/measurement.h"

namespace stint {
namespace {

std::string file(const std::string& name, const std::string& bytes) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "stint_validate_runs_test";
  std::string path = (folder / name).string();
  EXPECT_TRUE(write_file(path, bytes).ok());
  return path;
}

Environment at_day_one() {
  Environment environment;
  environment.clock = std::make_shared<FixedClock>(0 * kSecond);
  return environment;
}

/// A run of a shipped job on the emulated cloud, each of whose iterations took `seconds`.
std::string run(const std::string& cluster, const std::vector<double>& seconds,
                const std::string& job = "paced-20mb") {
  const auto parsed = *parse_cluster(cluster);
  Layout layout{.cluster = parsed};
  layout.setups.assign(parsed.groups.size(), {.workers_per_vm = 1, .batch_per_worker = 32});
  std::string text =
      write_measurement({.run = cluster, .start = RunStart{.job = job, .layout = layout}});
  std::int64_t number = 0;
  for (const double time : seconds) {
    const IterationRecord record{.number = number++, .time = time * kSecond};
    text += write_measurement({.run = cluster, .iteration = record});
  }
  return text;
}

// 20 MB through 2 VMs at 0.9564 · 31.25 MB/s take 669 ms. Compute is 300 + 600 + 20 ms. The first
// bucket of 1 MiB leaves at 300 + 600 · 0.052 and is long there when the last of 18.95 MB leaves at
// 900 ms, which takes 634 ms: 1.554 s with the update.
TEST(ValidateRuns, PredictsWhatOnlyStartsAndScoresWhatWasMeasured) {
  const std::string asked = file("asked.jsonl", run("2x local.medium", {}));
  const auto report = validate_runs(
      at_day_one(), {.calibration = "bucket-priors", .test = {asked}, .formula = true});
  ASSERT_TRUE(report.ok()) << report.error().message;
  ASSERT_EQ(report->predictions.size(), 1U);
  EXPECT_NEAR(*report->predictions[0].predicted, 1.554, 0.001);
  EXPECT_EQ(report->validation.overall.n, 0);
  EXPECT_EQ(report->validation.baseline, "formula");

  const std::string held = file("held.jsonl", run("2x local.medium", {1.6, 1.554, 1.55}));
  const auto scored = validate_runs(at_day_one(), {.calibration = "bucket-priors", .test = {held}});
  ASSERT_TRUE(scored.ok());
  EXPECT_EQ(scored->validation.overall.n, 1);
  EXPECT_LT(scored->validation.overall.mape, 0.01);
  EXPECT_TRUE(scored->predictions[0].p10.has_value());
  EXPECT_LT(scored->beside.front().overall.mape, 0.001);
}

// A ring of 3 sends 4/3 of the bytes; the slowest NIC decides.
TEST(ValidateRuns, TheSlowestNicDecides) {
  const std::string asked =
      file("mixed.jsonl", run("1x local.small + 2x local.large", {}) + run("3x local.small", {}));
  const auto report =
      validate_runs(at_day_one(), {.calibration = "bucket-priors", .test = {asked}});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_NEAR(*report->predictions[0].predicted, *report->predictions[1].predicted, 1e-9);
}

TEST(ValidateRuns, SaysWhyARunCannotBePredicted) {
  const std::string asked =
      file("odd.jsonl", run("2x local.small", {}, "nothing") + run("2x no.such", {}));
  const auto report =
      validate_runs(at_day_one(), {.calibration = "bucket-priors", .test = {asked}});
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->predictions[0].note, "there is no profile of the job nothing");
  EXPECT_FALSE(report->predictions[1].note.empty());
}

TEST(ValidateRuns, AsksForFilesAndOneLaw) {
  EXPECT_FALSE(validate_runs(at_day_one(), {.calibration = "bucket-priors"}).ok());
  EXPECT_FALSE(validate_runs(at_day_one(), {.test = {"x"}}).ok());
  const std::string empty = file("empty.jsonl", "");
  EXPECT_FALSE(validate_runs(at_day_one(), {.calibration = "bucket-priors", .test = {empty}}).ok());
}

TEST(ValidateRuns, WritesWhatPredictReads) {
  const std::string train =
      file("train.jsonl", run("2x local.medium", {1.57}) + run("4x local.medium", {1.89}) +
                              run("1x local.small + 2x local.medium", {3.05}));
  const std::string out = file("lab.json", "");
  const auto calibration = calibrate_buckets(
      at_day_one(), {.train = {train}, .name = "lab", .provenance = "a test", .out = out});
  ASSERT_TRUE(calibration.ok()) << calibration.error().message;
  EXPECT_EQ(calibration->data.front().rows, 3);
  EXPECT_EQ(calibration->data.front().provenance, "a test");
  EXPECT_EQ(calibration->accuracy.front().n, 3);
  const auto report = validate_runs(at_day_one(), {.calibration = out, .test = {train}});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_LT(report->validation.overall.mape, 0.02);
  const auto same = validate_runs(at_day_one(), {.train = {train}, .test = {train}});
  ASSERT_TRUE(same.ok());
  EXPECT_DOUBLE_EQ(*same->predictions[0].predicted, *report->predictions[0].predicted);
}

}  // namespace
}  // namespace stint
