#include "load/job_overrides.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

std::string error_of(const Status& status) { return status.ok() ? "" : status.error().message; }

TEST(ParseGoal, ReadsEpochsSamplesAndLevels) {
  EXPECT_EQ(parse_goal("epochs=90")->epochs, 90);
  EXPECT_EQ(parse_goal(" samples = 1e6 ")->samples, 1e6);
  const auto rising = parse_goal("accuracy>=0.93");
  ASSERT_TRUE(rising.ok()) << rising.error().message;
  EXPECT_EQ(rising->target->metric, "accuracy");
  EXPECT_EQ(rising->target->level, 0.93);
  EXPECT_FALSE(rising->target->lower_is_better.has_value());
  EXPECT_EQ(parse_goal("loss <= 0.2")->target->lower_is_better, true);
}

TEST(ParseGoal, RefusesAnythingElseAndSaysWhatToWrite) {
  for (const char* text : {"", "=", "90", "epochs", "epochs=", "epochs=0", "epochs=-1", "steps=5",
                           "epochs=inf", ">=1", "accuracy>=x", "accuracy>0.9", "samples=1e400"}) {
    const auto goal = parse_goal(text);
    ASSERT_FALSE(goal.ok()) << text;
    EXPECT_EQ(goal.error().kind, ErrorKind::kUsage) << text;
    EXPECT_NE(goal.error().message.find("write epochs=90"), std::string::npos) << text;
  }
}

TEST(ApplyOverrides, PutsThemInThePlaceOfTheProfiles) {
  JobProfile job{.name = "a", .gradient_bytes = 1 * kMB};
  job.goal = Goal{.samples = 5};
  EXPECT_EQ(goal_samples(job), 5);
  const Status set =
      apply_overrides({.name = "b", .goal = "epochs=3", .samples_per_epoch = 1000}, job);
  EXPECT_EQ(error_of(set), "");
  EXPECT_EQ(job.name, "b");
  EXPECT_FALSE(job.goal->samples.has_value());
  EXPECT_EQ(goal_samples(job), 3000);
  EXPECT_TRUE(validate(job).ok());
  // What is not overridden stays.
  EXPECT_TRUE(apply_overrides({}, job).ok());
  EXPECT_EQ(job.name, "b");
  EXPECT_EQ(goal_samples(job), 3000);
}

TEST(ApplyOverrides, LeavesTheProfileAloneWhereOneIsWrong) {
  JobProfile job{.name = "a", .gradient_bytes = 1 * kMB};
  EXPECT_EQ(error_of(apply_overrides({.name = "b", .goal = "epochs=3"}, job)),
            "a goal in epochs needs the size of the data set; give it with --samples-per-epoch");
  EXPECT_EQ(job.name, "a");
  EXPECT_FALSE(job.goal.has_value());
  EXPECT_NE(error_of(apply_overrides({.name = "b", .goal = "3"}, job)), "");
  EXPECT_NE(error_of(apply_overrides({.name = ""}, job)), "");
  EXPECT_NE(error_of(apply_overrides({.samples_per_epoch = 0}, job)), "");
  EXPECT_EQ(job.name, "a");
}

TEST(AnyOverride, IsOneOfThem) {
  EXPECT_FALSE(any_override({}));
  EXPECT_TRUE(any_override({.name = "b"}));
  EXPECT_TRUE(any_override({.goal = "epochs=3"}));
  EXPECT_TRUE(any_override({.samples_per_epoch = 9}));
}

}  // namespace
}  // namespace stint
