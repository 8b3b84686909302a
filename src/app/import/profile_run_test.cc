#include "app/import/profile_run.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

TEST(ProfileRun, NamesTheJobAsAskedElseLikeTheScript) {
  ProfileRequest request{.command = {"/usr/bin/python3", "-X", "dev", "code/train.py", "--x"}};
  EXPECT_EQ(profiled_name(request), "train");
  request.name = "mine";
  EXPECT_EQ(profiled_name(request), "mine");
  request.overrides.name = "other";
  EXPECT_EQ(profiled_name(request), "other");
}

TEST(ProfileRun, ChecksTheCommand) {
  EXPECT_EQ(check_training_command({}).error().kind, ErrorKind::kUsage);
  EXPECT_EQ(check_training_command({"python3", "/no/such/script.py"}).error().kind,
            ErrorKind::kBadInput);
  EXPECT_TRUE(check_training_command({"/bin/sh", "-c", "true"}).ok());
}

// What is asked for reaches the script through its environment.
TEST(ProfileRun, TellsTheScriptWhatIsAsked) {
  ProfileRequest request{.command = {"/bin/sh", "-c",
                                     "test \"$STINT_PROFILE_BATCH_MAX\" = 8 && "
                                     "test \"$STINT_PROFILE_OPERATORS\" = 1 && exit 7"},
                         .limit = 60 * kSecond,
                         .silent = true,
                         .operators = true};
  std::vector<std::string> warnings;
  const auto run = run_script(request, {.max = 8}, warnings);
  ASSERT_FALSE(run.ok());
  EXPECT_NE(run.error().message.find("code 7"), std::string::npos) << run.error().message;
}

TEST(ProfileRun, KeepsAProfileWhoseGoalCannotBeSet) {
  JobProfile job{.name = "a", .gradient_bytes = 1 * kMB};
  ProfileRequest request{.command = {"x"}};
  request.overrides.goal = "loss<x";
  std::vector<std::string> warnings;
  set_goal(request, job, warnings);
  EXPECT_EQ(warnings.size(), 1U);
  EXPECT_FALSE(job.goal.has_value());
}

}  // namespace
}  // namespace stint
