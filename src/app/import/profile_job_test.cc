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
  EXPECT_TRUE(written->noun.command.empty());
  EXPECT_EQ(read_file(request.out)->find("/bin/sh"), std::string::npos);
}

// Its arguments may hold a password.
TEST(ProfileJob, KeepsTheCommandOnRequestOnly) {
  ProfileRequest request = training(records(6));
  EXPECT_TRUE(profile_job(request)->job.command.empty());
  request.keep_command = true;
  EXPECT_EQ(profile_job(request)->job.command, request.command);
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

/// A start that says who can be asked for another batch.
std::string start_with(const std::string& more) {
  std::string start = kStart;
  return start.replace(start.rfind("}}"), 2, ", " + more + "}}");
}

std::string records_with(const std::string& more, const std::string& batch) {
  std::string text = records(3, batch);
  const std::string start = kStart;
  return text.replace(text.find(start), start.size(), start_with(more));
}

std::vector<int> batches_of(const ProfileReport& report) {
  std::vector<int> batches;
  for (const ComputeSample& it : report.job.compute) batches.push_back(it.batch_per_worker);
  return batches;
}

TEST(ProfileJob, MeasuresThreeBatchesWhereTheScriptCanBeAsked) {
  const auto script = profile_job(training(records_with(
      R"("batch_from": "script", "own_batch": 8, "dataset": 1000)", "${STINT_BATCH_SIZE:-8}")));
  ASSERT_TRUE(script.ok()) << script.error().message;
  EXPECT_EQ(batches_of(*script), (std::vector<int>{4, 8, 16}));
  EXPECT_EQ(script->job.batch->reference, 32);  // In 4 passes.
  EXPECT_EQ(script->one_batch, "");
  EXPECT_TRUE(script->warnings.empty()) << script->warnings[0];

  const std::string scaled = R"($(case "$STINT_PROFILE_LOADER_SCALE" in (0.5) echo 4;; (2) echo 16;;
                                (*) echo 8;; esac))";
  const auto loader =
      profile_job(training(records_with(R"("batch_from": "loader", "own_batch": 8)", scaled)));
  ASSERT_TRUE(loader.ok()) << loader.error().message;
  EXPECT_EQ(batches_of(*loader), (std::vector<int>{4, 8, 16}));
}

// Of 40 samples, 4 passes of 16 are more than there are; a batch of 1 has no half.
TEST(ProfileJob, MeasuresBatchesThatThereIsRoomFor) {
  const auto batches = [](const std::string& own, const std::string& more) {
    const auto report =
        profile_job(training(records_with(R"("batch_from": "script", "own_batch": )" + own + more,
                                          "${STINT_BATCH_SIZE:-" + own + "}")));
    return report.ok() ? batches_of(*report) : std::vector<int>();
  };
  EXPECT_EQ(batches("8", R"(, "dataset": 40)"), (std::vector<int>{2, 4, 8}));
  EXPECT_EQ(batches("1", ""), (std::vector<int>{1, 2, 4}));
  EXPECT_EQ(batches("2", R"(, "dataset": 9)"), (std::vector<int>{1, 2}));
}

TEST(ProfileJob, SaysWhyOnlyOneBatchWasMeasured) {
  const auto why = [](const std::string& script) {
    const auto report = profile_job(training(script));
    EXPECT_TRUE(report.ok()) << report.error().message;
    if (!report.ok()) return report.error().message;
    EXPECT_EQ(batches_of(*report), std::vector<int>{8});
    EXPECT_EQ(report->job.batch->reference, 32);
    return report->one_batch;
  };
  EXPECT_EQ(why(records_with(R"("batch_fixed": "its DataLoader reads a stream")", "8")),
            "its DataLoader reads a stream");
  const std::string loader = R"("batch_from": "loader", "own_batch": 8)";
  EXPECT_EQ(why(records_with(loader, "8")), "asked for another batch, it trained with its own");
  EXPECT_EQ(why(R"(test -z "$STINT_PROFILE_LOADER_SCALE" || exit 1)"
                "\n" +
                records_with(loader, "8")),
            "asked for another batch, the script exited with code 1 before the first optimizer "
            "step; see its output");
  EXPECT_EQ(why(records_with(loader, "8") + "exit 7"), "it did not end well");
}

TEST(ProfileJob, OneBatchThatFailsIsLeftOut) {
  const auto report = profile_job(training(
      "test \"$STINT_BATCH_SIZE\" = 16 && exit 1\n" +
      records_with(R"("batch_from": "script", "own_batch": 8)", "${STINT_BATCH_SIZE:-8}")));
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(batches_of(*report), (std::vector<int>{4, 8}));
  EXPECT_EQ(report->warnings,
            std::vector<std::string>{"one batch is left out: asked for another batch, the script "
                                     "exited with code 1 before the first optimizer step; see its "
                                     "output"});
}

TEST(ProfileJob, TheScriptsOwnBatchCanBeNamed) {
  const std::string script =
      records_with(R"("batch_from": "script", "own_batch": 8)", "${STINT_BATCH_SIZE:-8}");
  ProfileRequest request = training(script);
  request.own = true;
  const auto own = profile_job(request);
  ASSERT_TRUE(own.ok()) << own.error().message;
  EXPECT_EQ(batches_of(*own), std::vector<int>{8});
  EXPECT_EQ(own->one_batch, "");
  request.batches = {32};
  const auto both = profile_job(request);
  ASSERT_TRUE(both.ok()) << both.error().message;
  EXPECT_EQ(both->job.compute.size(), 2U);
  EXPECT_EQ(both->job.batch->reference, 32);
}

TEST(ProfileJob, TheProfileHasTheNameAndTheGoalThatAreAskedFor) {
  ProfileRequest request = training(records(3));
  request.overrides = {.name = "mine", .goal = "epochs=3", .samples_per_epoch = 500};
  const auto report = profile_job(request);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->job.name, "mine");
  EXPECT_EQ(report->job.goal->epochs, 3);
  EXPECT_EQ(report->job.samples_per_epoch, 500);
  // What was measured is not lost where the data set has no size.
  request.overrides.samples_per_epoch.reset();
  const auto without = profile_job(request);
  ASSERT_TRUE(without.ok()) << without.error().message;
  EXPECT_EQ(without->job.name, "mine");
  EXPECT_FALSE(without->job.goal.has_value());
  EXPECT_EQ(without->warnings,
            std::vector<std::string>{"the profile has no goal: a goal in epochs needs the size of "
                                     "the data set; give it with --samples-per-epoch"});
  request.overrides.goal = "90";
  EXPECT_NE(message_of(request).find("is not a goal"), std::string::npos);
}

TEST(ProfileJob, ABatchThatTheTensorsDoNotHaveIsRefused) {
  ProfileRequest request = training(records_with(R"("batch_fixed": "its DataLoader is odd")", "4"));
  request.batches = {8};
  EXPECT_EQ(message_of(request),
            "the script trained with a batch of 4 regardless of the request (its DataLoader is "
            "odd); call stint.batch_size() in it, or name its flag with --batch-flag");
  request.batches = {4};
  EXPECT_EQ(message_of(request), "");
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
  EXPECT_EQ(message_of(training("kill -9 $$")),
            "the script was ended by signal 9 (Killed) before the first optimizer step; see its "
            "output");
  EXPECT_NE(message_of(training("kill -4 $$")).find("set ONEDNN_MAX_CPU_ISA=AVX512_CORE"),
            std::string::npos);
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
