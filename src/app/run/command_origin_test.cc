#include "app/run/command_origin.h"

#include <gtest/gtest.h>
#include <memory>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "load/file_maker.h"

namespace stint {
namespace {

class CommandOriginTest : public testing::Test {
 protected:
  static PreparedRun run_of(std::vector<std::string> command) {
    PreparedRun run{.record = {}, .inputs = {}, .answer = {}, .cluster = {}};
    run.record.command = std::move(command);
    return run;
  }

  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
  Environment environment_{.data_folder = {},
                           .state_folder = place_.path(),
                           .clock = std::make_shared<FixedClock>(Seconds{})};
};

TEST_F(CommandOriginTest, WhatIsGivenComesFromNoFile) {
  PreparedRun run = run_of({"train"});
  run.inputs.job.command = {"other"};
  EXPECT_EQ(command_origin(environment_, {.command = {"train"}}, run).file, "");
  run.inputs.job.command.clear();
  EXPECT_EQ(command_origin(environment_, {.command_default = {"train"}}, run).file, "");
}

TEST_F(CommandOriginTest, AProfileThatHoldsItIsNamed) {
  PreparedRun run = run_of({"train"});
  run.inputs.job.command = {"train"};
  CommandOrigin origin = command_origin(environment_, {.job = "a.json"}, run);
  EXPECT_EQ(origin.file, "a.json");
  EXPECT_FALSE(origin.foreign);
  EXPECT_EQ(origin.command, run.record.command);
  set_maker({.host = "elsewhere"}, run.inputs.job);
  origin = command_origin(environment_, {.job = "a.json"}, run);
  EXPECT_EQ(origin.foreign, "it was made on another computer, elsewhere");
}

TEST_F(CommandOriginTest, APlanThatHoldsItIsNamed) {
  PreparedRun run = run_of({"train"});
  run.inputs.job.command = {"other"};
  run.answer = PlanAnswer{};
  run.answer->profile = "/jobs/b.json";
  EXPECT_EQ(command_origin(environment_, {.plan = "b.plan"}, run).file, "/jobs/b.json");
  run.answer->command = {"train"};
  run.answer->made_by = this_maker().user.value() + 1;
  const CommandOrigin origin = command_origin(environment_, {.plan = "b.plan"}, run);
  EXPECT_EQ(origin.file, "b.plan");
  EXPECT_TRUE(origin.foreign);
  // A row is of the last answer.
  const std::string last = place_.path() + "/last-plan.json";
  ASSERT_TRUE(write_file(last, "").ok());
  EXPECT_EQ(command_origin(environment_, {.plan = "1"}, run).file, last);
}

TEST(CommandWords, AreQuotedAndHarmless) {
  EXPECT_EQ(command_words({"python3", "a b.py", "--x=$(y)", "\x1b[2J\n"}),
            "python3 'a b.py' '--x=$(y)' '?[2J?'");
}

}  // namespace
}  // namespace stint
