#include <gtest/gtest.h>

#include "app/run/run_together.h"
#include "base/temporary_folder.h"
#include "run/run_fixture.h"

namespace stint {
namespace {

// What two runs do together is tried for real in tests/e2e/interleave.py.
class RunMembersTest : public testing::Test {
 protected:
  void add_run(const std::string& name, std::optional<RunSharing> sharing) {
    RunRecord record = small_record();
    record.name = name;
    record.sharing = std::move(sharing);
    write_small_run(place_.path() + "/runs/" + name, record, small_events());
  }

  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
  Environment environment_{
      .data_folder = {}, .state_folder = place_.path(), .clock = std::make_shared<SystemClock>()};
};

TEST_F(RunMembersTest, ARunKnowsWhetherItShares) {
  add_run("alone", std::nullopt);
  add_run("shared", RunSharing{.partner = "alone", .cluster = "run-shared"});
  EXPECT_FALSE(*is_shared(environment_, "alone"));
  EXPECT_TRUE(*is_shared(environment_, "shared"));
  EXPECT_FALSE(is_shared(environment_, "nobody").ok());
}

TEST_F(RunMembersTest, ARunThatIsTrainedIsNotResumed) {
  add_run("shared", RunSharing{.partner = "other", .cluster = "run-shared"});
  const auto ends = resume_together(environment_, "shared", {});
  ASSERT_FALSE(ends.ok());
  EXPECT_EQ(ends.error().kind, ErrorKind::kUsage);
  EXPECT_NE(ends.error().message.find("is complete"), std::string::npos);
}

}  // namespace
}  // namespace stint
