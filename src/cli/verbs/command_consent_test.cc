#include "cli/verbs/command_consent.h"

#include <gtest/gtest.h>

namespace stint::cli {
namespace {

const CommandOrigin kGiven{.command = {"train"}};
const CommandOrigin kPlan{.command = {"rm", "-rf", "my files"}, .file = "a.plan"};
const CommandOrigin kForeign{
    .command = {"train"}, .file = "b.plan", .foreign = "it was made on another computer, x"};

Status confirm(const std::vector<CommandOrigin>& origins,
               std::map<std::string, std::vector<std::string>> options = {}) {
  // There is no terminal: an interactive one would be asked.
  const Invocation invocation{.options = std::move(options)};
  return confirm_commands(invocation, origins);
}

TEST(CommandConsent, WhatIsGivenOrAgreedToRuns) {
  EXPECT_TRUE(confirm({kGiven}).ok());
  EXPECT_TRUE(confirm({kPlan, kForeign}, {{"--yes", {}}}).ok());
}

TEST(CommandConsent, WithoutATerminalAFileNeedsYes) {
  const Status refused = confirm({kGiven, kPlan});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(refused.error().message,
            "a.plan holds the command rm -rf 'my files'. Add --yes to run it, or give the command "
            "after --");
  EXPECT_EQ(confirm({kForeign}).error().message,
            "b.plan holds the command train; it was made on another computer, x. Add --yes to run "
            "it, or give the command after --");
}

TEST(CommandConsent, ACommandOfAProjectFileIsThatOfAFile) {
  const Invocation invocation{.project = {.file = "stint.yaml", .command = true}};
  const CommandOrigin origin = origin_with_project(invocation, kGiven);
  EXPECT_EQ(origin.file, "stint.yaml");
  EXPECT_FALSE(confirm({origin}).ok());
  EXPECT_EQ(origin_with_project({}, kGiven).file, "");
}

TEST(CommandConsent, OutlinesShowTheCommandAndItsFile) {
  EXPECT_EQ(command_text(kGiven), "Command: train");
  EXPECT_EQ(command_text(kPlan), "Command, from a.plan: rm -rf 'my files'");
  EXPECT_EQ(command_text(kForeign),
            "Command, from b.plan; it was made on another computer, x: train");
}

}  // namespace
}  // namespace stint::cli
