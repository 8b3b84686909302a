#include "validate/sharded/validate_schedules.h"

#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"

namespace stint {
namespace {

std::string file(const std::string& name, const std::string& bytes) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "stint_validate_schedules_test";
  std::string path = (folder / name).string();
  EXPECT_TRUE(write_file(path, bytes).ok());
  return path;
}

/// A step of four layers of width 512 on NICs of 500 Mbit/s; without a time when `seconds` is zero.
std::string step(const std::string& layout, int vms, double seconds) {
  std::string text = fmt::format(
      R"({{"schema": "stint.layout-step/1", "name": "test", "layout": "{}", )"
      R"("cluster": "{}x local.large", "link_bits_per_s": 5e8, "batch": 4, "micro_batches": 1, )"
      R"("model": {{"layers": 4, "width": 512, "length": 512, "letters": 256}}, )"
      R"("compute": {{"forward_ms": 40, "backward_ms": 80, "update_ms": 20}})",
      layout, vms);
  if (seconds > 0) text += fmt::format(R"(, "iteration_s": {{"median": {}}})", seconds);
  return text + "}\n";
}

// One worker computes 4 samples of 4 layers, 120 ms each, and updates in 20 ms: 1.94 s.
TEST(ValidateSchedules, PlaysComputeOfOneWorker) {
  const auto report = validate_schedules({.test = {file("one.jsonl", step("dp1", 1, 1.94))}});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->validation.overall.n, 1);
  EXPECT_NEAR(report->validation.overall.mape, 0, 1e-9);
}

// Two workers of two samples each compute 0.96 s. Of layers of 12.6 MB, 0.21 s each through NICs of
// 60 MB/s, the backward pass of 0.16 s hides most; without overlap all of it adds.
TEST(ValidateSchedules, HidesGradientsBehindTheBackwardPass) {
  const auto report = validate_schedules({.test = {file("two.jsonl", step("dp2", 2, 1.4))}});
  ASSERT_TRUE(report.ok()) << report.error().message;
  const double predicted = *report->predictions.front().predicted;
  EXPECT_GT(predicted, 0.96 + 0.02 + 0.21);
  EXPECT_LT(predicted, 0.96 + 0.02 + 4 * 0.21 + 0.05);
  EXPECT_LT(report->validation.overall.mape, report->beside.front().overall.mape);
}

TEST(ValidateSchedules, SaysWhyAStepIsNotPlayed) {
  const auto report = validate_schedules({.test = {file("bad.jsonl", step("dp4", 2, 1))}});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->predictions.front().note, "the layout has 4 workers and the cluster 2 VMs");
  EXPECT_FALSE(report->predictions.front().predicted.has_value());
}

TEST(ValidateSchedules, NeedsFiles) {
  EXPECT_EQ(validate_schedules({}).error().kind, ErrorKind::kUsage);
  EXPECT_EQ(validate_schedules({.test = {"no such file"}}).error().kind, ErrorKind::kBadInput);
  EXPECT_EQ(validate_schedules({.test = {file("empty.jsonl", "\n")}}).error().kind,
            ErrorKind::kBadInput);
}

}  // namespace
}  // namespace stint
