#include "app/import/profile_for.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temporary_folder.h"

namespace stint {
namespace {

constexpr const char* kStart =
    R"({"schema": "stint.profile/1", "rank": 0, "start": {"world": 1, "device": "cpu", )"
    R"("environment": {}, "gradient_bytes": 4000, "parameter_bytes": 4000, "optimizer_bytes": 0, )"
    R"("optimizer": "SGD", "communication": "none", "training": {"optimizers": ["SGD"], )"
    R"("parameters": ["float32"]}@@}})";

constexpr const char* kStep =
    R"({"schema": "stint.profile/1", "rank": 0, "iteration": {"number": 1, "warmup": false, )"
    R"("sampled": false, "batch": $b, "passes": 1, "time_s": 0.5, "input_s": 0, )"
    R"("forward_s": 0.1, "backward_s": 0.2, "update_s": 0.05, "peak_bytes": 1000}})";

/// A layer of 10 × 100, forward and the gradient of its weights: 2 · 2000 operations a sample.
constexpr const char* kOperators =
    R"({"schema": "stint.profile/1", "rank": 0, "operators": {"number": 1, "list": [)"
    R"({"name": "aten.mm", "phase": "forward", )"
    R"("inputs": [{"shape": [$b, 10], "type": "float32"}, )"
    R"({"shape": [10, 100], "type": "float32", "fixed": true}], )"
    R"("outputs": [{"shape": [$b, 100], "type": "float32"}]}, )"
    R"({"name": "aten.mm", "phase": "backward", )"
    R"("inputs": [{"shape": [10, $b], "type": "float32"}, )"
    R"({"shape": [$b, 100], "type": "float32"}], )"
    R"("outputs": [{"shape": [10, 100], "type": "float32", "fixed": true}]}]}})";
constexpr const char* kTotal =
    R"({"schema": "stint.profile/1", "rank": 0, "operator_total": {"number": 1, "operators": 2, )"
    R"("kept": [{"type": "float32", "bytes": $((b * 40))}], "update_bytes": 12000}})";

/// A shell script stands for training; it writes what the hook would. `batch` is a shell
/// expression.
ProfileForRequest training(const std::string& batch, const std::string& facts = "") {
  std::string start = kStart;
  start.replace(start.find("@@"), 2, facts);
  const std::string script =
      fmt::format("b={}\ncat >> $STINT_PROFILE_OUT <<EOF\n{}\n{}\n{}\n{}\nEOF\n", batch, start,
                  kStep, kOperators, kTotal);
  return {.run = {.command = {"/bin/sh", "-c", script},
                  .limit = 60 * kSecond,
                  .name = "shell",
                  .silent = true,
                  .operators = true},
          .gpus = {"A100-40GB-SXM"}};
}

Result<ProfileForReport> predicted(const ProfileForRequest& request) {
  return profile_for(Environment{}, request);
}

TEST(ProfileFor, MakesAPredictedProfileOfTwoRuns) {
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder.ok());
  ProfileForRequest request =
      training("${STINT_PROFILE_BATCH_MAX:-64}", R"(, "batch_from": "loader", "own_batch": 64)");
  request.run.out = folder->path() + "/job.json";
  const auto report = predicted(request);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->batches, (std::vector<int>{4, 8}));
  EXPECT_EQ(report->batch, 64);
  EXPECT_NEAR(report->job.flops_per_sample->in(kFlop), 4000, 1e-6);
  EXPECT_NEAR(report->job.work->activations->in(kByte), 40, 1e-6);
  EXPECT_EQ(report->job.batch->reference, 64);
  EXPECT_EQ(report->job.work->accelerators, std::vector<std::string>{"A100-40GB-SXM"});
  ASSERT_EQ(report->steps.size(), 1U);
  EXPECT_LT(report->steps[0].lower, report->steps[0].step());
  EXPECT_GT(report->steps[0].upper, report->steps[0].step());
  ASSERT_EQ(report->effects.size(), 2U);  // As it is, and autocast: there is nothing else.
  EXPECT_EQ(report->effects[1].name, "autocast");
  EXPECT_EQ(report->changes.size(), 3U);
  const auto written = read_job(*read_file(request.run.out), "job.json");
  ASSERT_TRUE(written.ok()) << written.error().message;
  EXPECT_GT(written->noun.compute.size(), 3U);
  for (const ComputeSample& it : written->noun.compute) {
    EXPECT_EQ(it.device, "A100-40GB-SXM");
    EXPECT_TRUE(it.predicted.has_value());
  }
}

TEST(ProfileFor, AScriptWithOneBatchRunsOnce) {
  const auto report = predicted(training("16", R"(, "batch_fixed": "it has no DataLoader")"));
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->batches, std::vector<int>{16});
  EXPECT_EQ(report->batch, 16);
  EXPECT_EQ(report->job.work->notes.at(1),
            "What grows with the batch is told by shapes, from one run: it has no DataLoader.");
}

TEST(ProfileFor, AllMeansEveryAcceleratorThatCan) {
  ProfileForRequest request = training("16");
  request.gpus = {"all"};
  request.precision = WorkPrecision::kBf16;
  const auto report = predicted(request);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_GT(report->steps.size(), 5U);
  EXPECT_TRUE(report->job.work->accelerators.empty());
  EXPECT_EQ(report->job.gradient_bytes, 2000 * kByte);
  for (const PredictedStep& it : report->steps) EXPECT_FALSE(it.gpu.starts_with("V100"));
}

TEST(ProfileFor, RefusesWhatNobodyCanPredict) {
  ProfileForRequest request = training("16");
  request.gpus = {"A10O"};
  EXPECT_EQ(predicted(request).error().kind, ErrorKind::kUsage);
  EXPECT_NE(predicted(request).error().message.find("'A100'"), std::string::npos);
  request.gpus = {"V100-PCIe"};
  request.precision = WorkPrecision::kBf16;
  EXPECT_EQ(predicted(request).error().message,
            "V100-PCIe lacks bf16, it has fp16, fp32; choose another --precision, or another GPU");
  request.precision = std::nullopt;
  request.run.command[2] = "exit 3";
  EXPECT_EQ(predicted(request).error().kind, ErrorKind::kFailed);
  // The records of a hook that writes no operators.
  ProfileForRequest silent = training("16");
  const std::size_t at = silent.run.command[2].find(kTotal);
  silent.run.command[2].erase(at, std::string(kTotal).size());
  EXPECT_EQ(predicted(silent).error().message,
            "no iteration of the script has a complete list of operators");
}

}  // namespace
}  // namespace stint
