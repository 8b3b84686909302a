#include "app/run/run_conduct.h"

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
  EXPECT_TRUE(run.moments.empty());
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

TEST(RunConductTest, WithoutAHomeThereIsNoPlaceForRuns) { EXPECT_FALSE(runs_root({}).ok()); }

}  // namespace
}  // namespace stint
