#include "app/run/run_report.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <memory>

#include "base/temporary_folder.h"
#include "measure/measurement.h"
#include "run/run_fixture.h"
#include "run/run_folder.h"

namespace stint {
namespace {

class RunReportTest : public testing::Test {
 protected:
  std::string add_run(const std::string& name, std::size_t events, Seconds began) {
    std::vector<RunEvent> some = small_events();
    some.resize(std::min(events, some.size()));
    RunRecord record = small_record();
    record.name = name;
    record.began = began;
    const std::string folder = place_.path() + "/runs/" + name;
    write_small_run(folder, record, some);
    return folder;
  }

  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
  std::shared_ptr<FixedClock> clock_ = std::make_shared<FixedClock>(1030 * kSecond);
  Environment environment_{.data_folder = {}, .state_folder = place_.path(), .clock = clock_};
};

TEST_F(RunReportTest, HoldsTheStoryAndWhatWasMeasured) {
  const std::string folder = add_run("one", 99, 1000 * kSecond);
  std::string measured;
  measured += write_measurement(
      {.run = "one",
       .at = 1005 * kSecond,
       .iteration = IterationRecord{.number = 1, .time = 1 * kSecond, .loss = 0.5}});
  measured += write_measurement({.run = "one",
                                 .at = 1007.5 * kSecond,
                                 .checkpoint = CheckpointRecord{.iteration = 3,
                                                                .bytes = 200 * kByte,
                                                                .stall = 0.1 * kSecond,
                                                                .transfer = 0.4 * kSecond}});
  ASSERT_TRUE(write_file(measurements_path(folder), measured).ok());
  const auto report = report_run(environment_, "one");
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_FALSE(report->alive);
  EXPECT_EQ(report->story.outcome, RunVerdict::kTrained);
  EXPECT_FALSE(report->outlook);  // Nothing is left to come.
  ASSERT_EQ(report->steps.size(), 1U);
  EXPECT_EQ(report->steps[0].at, 5 * kSecond);
  EXPECT_EQ(report->steps[0].loss, 0.5);
  ASSERT_EQ(report->saves.size(), 1U);
  EXPECT_EQ(report->saves[0].step, 3);
  EXPECT_EQ(report->saves[0].bytes, 200 * kByte);
  EXPECT_TRUE(report->warnings.empty());
}

TEST_F(RunReportTest, DamagedMeasurementsAreAWarning) {
  const std::string folder = add_run("one", 99, 1000 * kSecond);
  ASSERT_TRUE(write_file(measurements_path(folder), "nonsense\n{}\n").ok());
  const auto report = report_run(environment_, "one");
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->warnings.size(), 1U);
  EXPECT_NE(report->warnings[0].find("measurements.jsonl"), std::string::npos);
}

// The report says what it could not read, and shows the rest.
TEST_F(RunReportTest, UnreadableMeasurementsAreAWarning) {
  const std::string folder = add_run("one", 99, 1000 * kSecond);
  std::filesystem::create_directory(measurements_path(folder));
  const auto report = report_run(environment_, "one");
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->story.outcome, RunVerdict::kTrained);
  EXPECT_EQ(report->warnings,
            std::vector<std::string>{"cannot read " + measurements_path(folder) +
                                     ": it is not a regular file; check the file and its disk"});
}

// Until 7.5 s the machines have cost 6.5 + 5.5 machine seconds. Somebody runs it, and the clock
// says 30 s: 22.5 s more of both.
TEST_F(RunReportTest, ARunThatGoesOnIsToldUpToNow) {
  const std::string folder = add_run("one", 8, 1000 * kSecond);
  auto report = report_run(environment_, "one");
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->story.time, 7.5 * kSecond);
  EXPECT_NEAR(report->story.cost.in(kDollar), 0.0012, 1e-9);
  EXPECT_TRUE(report->outlook);
  const auto lock = lock_run(folder);
  ASSERT_TRUE(lock.ok());
  report = report_run(environment_, "one");
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(report->alive);
  EXPECT_EQ(report->story.time, 30 * kSecond);
  EXPECT_NEAR(report->story.cost.in(kDollar), 0.0057, 1e-9);
}

TEST_F(RunReportTest, AnUnknownRunIsAUsageError) {
  (void)add_run("one", 8, 1000 * kSecond);
  const auto report = report_run(environment_, "two");
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().kind, ErrorKind::kUsage);
}

TEST_F(RunReportTest, ListsRunsInTheOrderTheyWereBegun) {
  (void)add_run("b", 99, 1000 * kSecond);
  (void)add_run("a", 8, 2000 * kSecond);
  const std::string damaged = add_run("c", 8, 3000 * kSecond);
  ASSERT_TRUE(write_file(record_path(damaged), "{").ok());
  const auto list = list_runs(environment_);
  ASSERT_TRUE(list.ok());
  ASSERT_EQ(list->runs.size(), 2U);
  EXPECT_EQ(list->runs[0].name, "b");
  EXPECT_EQ(list->runs[0].outcome, RunVerdict::kTrained);
  EXPECT_EQ(list->runs[0].time, 34.5 * kSecond);
  EXPECT_EQ(list->runs[1].name, "a");
  EXPECT_EQ(list->runs[1].reached, 3);
  EXPECT_EQ(list->runs[1].saved, 3);
  EXPECT_EQ(list->runs[1].steps, 20);
  EXPECT_FALSE(list->runs[1].outcome);
  ASSERT_EQ(list->warnings.size(), 1U);  // The others are shown all the same.
  environment_.state_folder.reset();
  EXPECT_FALSE(list_runs(environment_).ok());
}

// 4 MB are 28,000 lines of a step: every second is shown, and every checkpoint.
TEST_F(RunReportTest, OfAVeryLongRunSomeStepsAreShown) {
  const std::string folder = add_run("one", 99, 1000 * kSecond);
  std::string measured;
  std::int64_t steps = 0;
  while (measured.size() < 4'000'000) {
    measured += write_measurement(
        {.run = "one",
         .at = 1005 * kSecond,
         .iteration = IterationRecord{.number = ++steps, .time = 1 * kSecond, .loss = 0.5}});
    if (steps % 1000 != 0) continue;
    measured += write_measurement(
        {.run = "one", .at = 1007.5 * kSecond, .checkpoint = CheckpointRecord{.iteration = steps}});
  }
  ASSERT_TRUE(write_file(measurements_path(folder), measured).ok());
  const auto report = report_run(environment_, "one");
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_TRUE(report->warnings.empty());
  EXPECT_EQ(report->steps.size(), static_cast<std::size_t>((steps + 1) / 2));
  EXPECT_EQ(report->saves.size(), static_cast<std::size_t>(steps / 1000));
}

}  // namespace
}  // namespace stint
