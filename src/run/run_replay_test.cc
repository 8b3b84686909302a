#include "run/run_replay.h"

#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "run/run_fixture.h"

namespace stint {
namespace {

class RunReplayTest : public testing::Test {
 protected:
  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
  const std::string& folder_ = place_.path();
};

TEST_F(RunReplayTest, LeadsTheSupervisorToWhereTheRunStands) {
  write_small_run(folder_, small_record(), small_events());
  const auto run = replay_run_folder(folder_);
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_TRUE(run->supervisor->finished());
  EXPECT_EQ(run->supervisor->saved(), 20);
  EXPECT_EQ(story_of(*run).saves, 3);
  EXPECT_NEAR(run->supervisor->cost().in(kDollar), 0.006, 1e-9);
  EXPECT_TRUE(run->warnings.empty());
}

TEST_F(RunReplayTest, TellsTheSameTwice) {
  write_small_run(folder_, small_record(), small_events());
  const auto once = replay_run_folder(folder_);
  const auto twice = replay_run_folder(folder_);
  ASSERT_TRUE(once.ok() && twice.ok());
  ASSERT_EQ(story_of(*once).lines.size(), story_of(*twice).lines.size());
  for (std::size_t i = 0; i < story_of(*once).lines.size(); ++i) {
    EXPECT_EQ(story_of(*once).lines[i].text, story_of(*twice).lines[i].text) << i;
  }
}

TEST_F(RunReplayTest, ARunThatHasNotBegunHasNoMoments) {
  write_small_run(folder_, small_record(), {});
  std::filesystem::remove(journal_path_of(folder_));
  const auto run = replay_run_folder(folder_);
  ASSERT_TRUE(run.ok());
  EXPECT_TRUE(story_of(*run).lines.empty());
  EXPECT_FALSE(run->supervisor->finished());
}

TEST_F(RunReplayTest, DamagedFilesAreBadInputThatNamesThem) {
  write_small_run(folder_, small_record(), small_events());
  ASSERT_TRUE(write_file(record_path(folder_), "{\"schema\": \"stint.run/1\"}").ok());
  auto run = replay_run_folder(folder_);
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.error().kind, ErrorKind::kBadInput);
  EXPECT_NE(run.error().message.find("run.json"), std::string::npos);
  write_small_run(folder_, small_record(), small_events());
  ASSERT_TRUE(write_file(journal_path_of(folder_), "nonsense\n").ok());
  run = replay_run_folder(folder_);
  ASSERT_FALSE(run.ok());
  EXPECT_NE(run.error().message.find("journal.jsonl"), std::string::npos);
  std::filesystem::remove(record_path(folder_));
  EXPECT_EQ(replay_run_folder(folder_).error().kind, ErrorKind::kBadInput);
}

TEST_F(RunReplayTest, AJournalThatCannotBeReadIsNotAnEmptyOne) {
  write_small_run(folder_, small_record(), small_events());
  std::filesystem::remove(journal_path_of(folder_));
  ASSERT_TRUE(std::filesystem::create_directory(journal_path_of(folder_)));
  const auto run = replay_run_folder(folder_);
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.error().kind, ErrorKind::kBadInput);
  EXPECT_NE(run.error().message.find("journal.jsonl"), std::string::npos);
}

// Files of input may have 256 MiB. The hole after the events is a line that nobody wrote.
TEST_F(RunReplayTest, AJournalBeyondTheLimitOfOtherFilesIsNotAnEmptyOne) {
  write_small_run(folder_, small_record(), small_events());
  std::filesystem::resize_file(journal_path_of(folder_), std::uintmax_t{300} << 20U);
  const auto run = replay_run_folder(folder_);
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.error().kind, ErrorKind::kBadInput);
  EXPECT_NE(run.error().message.find("journal.jsonl"), std::string::npos) << run.error().message;
}

/// A run on two machines that moves to one of another type after its first steps.
std::vector<RunEvent> moving_events() {
  std::vector<RunEvent> events = small_events();
  events.resize(7);  // Until step 3.
  events.push_back(
      {.kind = RunEventKind::kTerms, .at = 7.2 * kSecond, .count = 2, .reason = "it is cheaper"});
  events.push_back({.kind = RunEventKind::kVmUp, .at = 8 * kSecond, .vm = 2});
  return events;
}

RunPlan other_plan() {
  RunPlan plan = small_record().plan;
  plan.machines[0].type = "local.large";
  plan.machines[0].count = 1;
  plan.steps = {
      {.machines = {1}, .mean = 0.5 * kSecond, .p10 = 0.4 * kSecond, .p90 = 0.6 * kSecond}};
  return plan;
}

TEST_F(RunReplayTest, ChangesThePlanWhereTheJournalSaysSo) {
  write_small_run(folder_, small_record(), moving_events());
  ASSERT_TRUE(write_file(plan_path(folder_, 2), write_run_plan(other_plan())).ok());
  const auto run = replay_run_folder(folder_);
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(run->plans, 2);
  EXPECT_EQ(run->plan.machines[0].type, "local.large");
  EXPECT_EQ(run->record.plan.machines[0].type, "local.small");
  EXPECT_EQ(machine_type(run->supervisor->vms()[2]), "local.large");
  // Each order to train is held against the plan of its time.
  const RunStory story = story_of(*run);
  ASSERT_FALSE(story.attempts.empty());
  EXPECT_EQ(story.attempts[0].predicted, 1 * kSecond);
}

TEST_F(RunReplayTest, APlanThatIsMissingIsBadInput) {
  write_small_run(folder_, small_record(), moving_events());
  const auto run = replay_run_folder(folder_);
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.error().kind, ErrorKind::kBadInput);
  EXPECT_NE(run.error().message.find("plan-2.json"), std::string::npos);
}

TEST_F(RunReplayTest, ADeadlineBringsAPolicy) {
  RunRecord record = small_record();
  record.deadline = 100 * kSecond;
  // It decides about machines that train, and not about the one that holds checkpoints.
  record.plan.machines.push_back({.type = "local.cpu",
                                  .spot = 0.1 * kDollar / kHour,
                                  .on_demand = 0.1 * kDollar / kHour,
                                  .network = kGbit / kSecond,
                                  .trains = false,
                                  .receives = true});
  const auto supervisor = make_supervisor(record);
  EXPECT_EQ(supervisor->terms().deadline, 100 * kSecond);
  // Whatever it decides, the checkpoints have a place from the beginning.
  const std::vector<RunAction> actions = supervisor->handle({});
  ASSERT_FALSE(actions.empty());
  EXPECT_EQ(actions[0].kind, RunActionKind::kLaunch);
  EXPECT_EQ(actions[0].slot, 2);
  for (int second = 1; second <= 100; ++second) {
    (void)supervisor->handle({.at = second * kSecond});
  }
  EXPECT_GT(supervisor->vms().size(), 2U);
}

}  // namespace

}  // namespace stint
