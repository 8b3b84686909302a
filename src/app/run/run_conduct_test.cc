#include "app/run/run_conduct.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "run/run_fixture.h"

namespace stint {
namespace {

TEST(RunConductTest, AClusterIsCalledAfterItsRun) {
  RunRecord record = small_record();
  EXPECT_EQ(cluster_name(record), "run-small");
  record.name = "a.b";
  EXPECT_EQ(cluster_name(record), "run-a_b-00112233");
  record.name = std::string(40, 'x');
  EXPECT_EQ(cluster_name(record), "run-xxxxxxxxxxx-00112233");
}

TEST(RunConductTest, RunsThatShareHaveOneCluster) {
  RunRecord record = small_record();
  record.sharing = RunSharing{.partner = "other", .cluster = "run-other"};
  EXPECT_EQ(cluster_name(record), "run-other");
}

TEST(RunConductTest, ANewRunHasDoneNothing) {
  PreparedRun prepared;
  prepared.record = small_record();
  prepared.warnings = {"beware"};
  const ReplayedRun run = new_run(prepared);
  EXPECT_EQ(run.supervisor->saved(), 0);
  EXPECT_EQ(story_of(run).time, Seconds{});
  EXPECT_EQ(run.warnings, prepared.warnings);
}

TEST(RunConductTest, ARunThatIsTrainedIsNotResumed) {
  const TemporaryFolder place = std::move(*TemporaryFolder::make());
  std::vector<RunEvent> events = small_events();
  write_small_run(place.path() + "/done", small_record(), events);
  const auto done = load_to_resume(place.path() + "/done");
  ASSERT_FALSE(done.ok());
  EXPECT_NE(done.error().message.find("is complete"), std::string::npos);
  events.resize(3);
  write_small_run(place.path() + "/begun", small_record(), events);
  EXPECT_TRUE(load_to_resume(place.path() + "/begun").ok());
}

bool has(const std::vector<std::string>& texts, const std::string& text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

TEST(RunConductTest, WorkersGetTheValuesOfTheRecord) {
  const TemporaryFolder place = std::move(*TemporaryFolder::make());
  RunRecord record = small_record();
  record.command = {"train"};
  auto variables = worker_variables(place.path(), record);
  ASSERT_TRUE(variables.ok()) << variables.error().message;
  EXPECT_TRUE(has(*variables, "OMP_NUM_THREADS=1"));
  record.environment = {"OMP_NUM_THREADS=4", "PYTHONPATH=/mine", "DATA=/d=1,2", "PATH"};
  variables = worker_variables(place.path(), record);
  ASSERT_TRUE(variables.ok());
  EXPECT_TRUE(has(*variables, "OMP_NUM_THREADS=4"));
  EXPECT_FALSE(has(*variables, "OMP_NUM_THREADS=1"));
  EXPECT_TRUE(has(*variables, "DATA=/d=1,2"));
  for (const std::string& one : *variables) {
    if (one.starts_with("PYTHONPATH=")) EXPECT_TRUE(one.ends_with(":/mine")) << one;
  }
  record.environment = {"STINT_TEST_NOT_SET"};
  EXPECT_EQ(worker_variables(place.path(), record).error().message,
            "the run small passes STINT_TEST_NOT_SET on to its workers, and it is not set; set it "
            "and try again");
}

// It holds the secret of the run and values of variables.
TEST(RunConductTest, TheRecordIsPrivate) {
  const TemporaryFolder place = std::move(*TemporaryFolder::make());
  PreparedRun prepared;
  prepared.record = small_record();
  prepared.inputs.job.name = "small";
  ASSERT_TRUE(write_run_files(place.path(), prepared).ok());
  const auto mode = std::filesystem::status(record_path(place.path())).permissions();
  EXPECT_EQ(mode, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST(RunConductTest, WithoutAHomeThereIsNoPlaceForRuns) { EXPECT_FALSE(runs_root({}).ok()); }

}  // namespace
}  // namespace stint
