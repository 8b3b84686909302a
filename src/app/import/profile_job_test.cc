#include "app/import/profile_job.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temporary_folder.h"

namespace stint {
namespace {

constexpr const char* kStart =
    R"({"schema": "stint.profile/1", "rank": 0, "start": {"world": 1, "device": "T4", )"
    R"("environment": {}, "gradient_bytes": 100, "parameter_bytes": 100, "optimizer_bytes": 0, )"
    R"("optimizer": "SGD", "communication": "none"}})";

/// A step as the hook writes it; the gradients of 4 passes with Φ about 8.
std::string step_line(int number, const std::string& batch) {
  return fmt::format(
      R"({{"schema": "stint.profile/1", "rank": 0, "iteration": {{"number": {}, "warmup": false, )"
      R"("sampled": false, "batch": {}, "passes": 4, "time_s": 0.5, "input_s": 0, )"
      R"("forward_s": 0.1, "backward_s": 0.2, "update_s": 0.05, "peak_bytes": 1000, )"
      R"("local_square": {}, "mean_square": 1.5}}}})",
      number, batch, number % 2 == 0 ? 2.9 : 3.1);
}

/// A shell script stands for training; it writes what the hook would.
ProfileRequest training(const std::string& script) {
  return {
      .command = {"/bin/sh", "-c", script}, .limit = 60 * kSecond, .name = "shell", .silent = true};
}

std::string records(int steps, const std::string& batch = "4") {
  std::string text = fmt::format("cat >> $STINT_PROFILE_OUT <<EOF\n{}\n", kStart);
  for (int i = 0; i < steps; ++i) text += step_line(i, batch) + "\n";
  return text + "EOF\n";
}

std::string message_of(const ProfileRequest& request) {
  const auto report = profile_job(request);
  return report.ok() ? "" : report.error().message;
}

// Each pass is over 4 samples, the iteration over 16: σ̂² = (3 − 1.5) / (1/4 − 1/16) = 8 and
// Ĝ² = 1.5 − 8/16 = 1 on average.
TEST(ProfileJob, MakesAProfileOfWhatTheHookWrote) {
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder.ok());
  ProfileRequest request = training(records(6));
  request.out = folder->path() + "/job.json";
  const auto report = profile_job(request);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_TRUE(report->warnings.empty());
  EXPECT_EQ(report->job.compute.at(0).backward.median, 50 * kMillisecond);
  EXPECT_EQ(report->job.batch->reference, 16);
  ASSERT_EQ(report->noise.size(), 1U);
  EXPECT_NEAR(*report->noise[0].scale, 8, 1e-6);
  EXPECT_LT(report->noise[0].lower, 8);
  EXPECT_NEAR(report->job.noise.at(0).gradient_variance, 8, 1e-9);
  const auto written = read_job(*read_file(request.out), "job.json");
  ASSERT_TRUE(written.ok()) << written.error().message;
  EXPECT_EQ(written->noun.name, "shell");
  EXPECT_EQ(written->noun.command, request.command);
}

TEST(ProfileJob, RunsOncePerBatchAndTellsTheScript) {
  // The flag comes behind the words of the command, of which the script sees none.
  ProfileRequest request =
      training(records(3, "$STINT_BATCH_SIZE") + "test $1$2 = --batch$STINT_BATCH_SIZE");
  request.command.emplace_back("sh");
  request.batches = {8, 2, 8};
  request.batch_flag = "--batch";
  const auto report = profile_job(request);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_TRUE(report->warnings.empty()) << report->warnings[0];
  ASSERT_EQ(report->job.compute.size(), 2U);
  EXPECT_EQ(report->job.compute[0].batch_per_worker, 2);
  EXPECT_EQ(report->job.compute[1].batch_per_worker, 8);
}

TEST(ProfileJob, AScriptThatKeepsItsOwnBatchIsRefused) {
  ProfileRequest request = training(records(3));
  request.batches = {8, 16};
  const auto report = profile_job(request);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().kind, ErrorKind::kUsage);
}

TEST(ProfileJob, StartsAsManyRanksAsAsked) {
  ProfileRequest request = training(
      "test $RANK = $LOCAL_RANK && test $WORLD_SIZE$NODE_RANK$OMP_NUM_THREADS = 301 && "
      "test $MASTER_ADDR = 127.0.0.1 && test $MASTER_PORT -gt 0 && test $RANK -eq 2 && " +
      records(3));
  request.workers = 3;
  const auto report = profile_job(request);
  ASSERT_TRUE(report.ok()) << report.error().message;  // Only the last rank writes.
  EXPECT_EQ(report->warnings.size(), 1U);              // The other two end with 1.
}

TEST(ProfileJob, WhatWasMeasuredBeforeTheScriptDiedIsKept) {
  const auto report = profile_job(training(records(3) + "exit 7"));
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(
      report->warnings,
      std::vector<std::string>{"the script exited with code 7; its 3 iterations so far are kept"});
}

TEST(ProfileJob, ABatchThatFailsIsLeftOut) {
  ProfileRequest request =
      training("test $STINT_BATCH_SIZE = 16 && exit 1\n" + records(3, "$STINT_BATCH_SIZE"));
  request.batches = {8, 16};
  const auto report = profile_job(request);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->job.compute.size(), 1U);
  EXPECT_EQ(report->warnings,
            std::vector<std::string>{"a batch of 16: the script exited with code 1 before the "
                                     "first optimizer step; see its output"});
}

TEST(ProfileJob, SaysWhyNothingWasMeasured) {
  EXPECT_EQ(message_of(training("exit 3")),
            "the script exited with code 3 before the first optimizer step; see its output");
  EXPECT_TRUE(message_of(training("exit 0")).starts_with("the script ended without importing"));
  const std::string line = R"({"schema": "stint.profile/1", "rank": 0, "exit": )";
  EXPECT_EQ(message_of(training("echo '" + line + R"({"backwards": 0, "steps": 0}}' )" +
                                "> $STINT_PROFILE_OUT")),
            "the script never called backward, so there is nothing to measure");
  EXPECT_EQ(message_of(training("echo '" + line + R"({"backwards": 2, "steps": 0}}' )" +
                                "> $STINT_PROFILE_OUT")),
            "the script called backward, but no PyTorch optimizer took a step");
  ProfileRequest hanging = training("sleep 1000");
  hanging.limit = 0.2 * kSecond;
  EXPECT_EQ(message_of(hanging),
            "the script took no optimizer step within 200 ms and was stopped; raise --timeout if "
            "it needs longer to start");
}

TEST(ProfileJob, AScriptOrACommandThatIsNotThereIsToldApart) {
  const auto script = profile_job({.command = {"python3", "-u", "/no/such/train.py"}});
  ASSERT_FALSE(script.ok());
  EXPECT_EQ(script.error().kind, ErrorKind::kBadInput);
  EXPECT_EQ(script.error().message, "there is no script /no/such/train.py; check the path");
  const auto program = profile_job({.command = {"/no/such/program"}});
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.error().kind, ErrorKind::kUnavailable);
  const auto none = profile_job({});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().kind, ErrorKind::kUsage);
}

}  // namespace
}  // namespace stint
