#include "run/run_replay.h"

#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "run/run_fixture.h"

namespace stint {
namespace {

using Event = RunEventKind;
using Act = RunActionKind;

class RunMomentTest : public testing::Test {
 protected:
  /// A supervisor that has requested two machines.
  void SetUp() override { (void)supervisor_.handle({}); }

  std::vector<std::string> lines(RunEvent event, std::vector<RunAction> actions = {}) {
    event.at = 3 * kSecond;
    std::vector<std::string> texts;
    for (const StoryLine& line :
         lines_of(supervisor_, {.event = event, .actions = std::move(actions)})) {
      EXPECT_EQ(line.at, 3 * kSecond);
      texts.push_back(line.text);
    }
    return texts;
  }

  std::string line(const RunEvent& event) {
    const std::vector<std::string> all = lines(event);
    return all.size() == 1 ? all[0] : fmt::format("{} lines", all.size());
  }

  Supervisor supervisor_ = Supervisor(terms_of(small_record(), small_record().plan));
};

TEST_F(RunMomentTest, SaysWhatHappenedInOneLine) {
  EXPECT_EQ(line({.kind = Event::kVmUp, .vm = 1}), "vm2 is up (local.small, spot)");
  EXPECT_EQ(line({.kind = Event::kLaunchRefused, .vm = 0, .reason = "no room"}),
            "vm1 was refused: no room");
  EXPECT_EQ(line({.kind = Event::kLaunchRefused, .vm = 0}), "vm1 was refused: no reason given");
  EXPECT_EQ(line({.kind = Event::kNotice, .vm = 0, .duration = 2.04 * kSecond}),
            "vm1 will be interrupted in 2.0 s");
  EXPECT_EQ(line({.kind = Event::kVmLost, .vm = 0}), "vm1 is lost");
  EXPECT_EQ(line({.kind = Event::kSaved, .step = 7, .duration = 0.75 * kSecond}),
            "checkpoint of step 7 is complete, after 0.8 s");
  EXPECT_EQ(line({.kind = Event::kWorkerLost, .vm = 1, .reason = "out of memory"}),
            "the worker on vm2 is lost: out of memory");
  EXPECT_EQ(line({.kind = Event::kWorkerLost, .vm = 1, .reason = ""}), "the worker on vm2 is lost");
  EXPECT_EQ(line({.kind = Event::kPrices, .spot = 0.0001 * kDollar / kSecond}),
            "the spot price is 0.3600 USD/h per machine");
  EXPECT_EQ(line({.kind = Event::kCapacity, .count = 1}), "the spot capacity is 1 machine");
  EXPECT_EQ(line({.kind = Event::kCapacity, .count = 0}), "the spot capacity is 0 machines");
  EXPECT_EQ(line({.kind = Event::kTerms, .reason = "moves to vm9"}), "moves to vm9");
  EXPECT_EQ(line({.kind = Event::kRemark, .reason = "The disk is slow."}), "The disk is slow.");
  EXPECT_EQ(line({.kind = Event::kResumed, .step = 3}), "resumed by a new process");
  EXPECT_EQ(line({.kind = Event::kStop}), "stop requested");
  EXPECT_EQ(line({.kind = Event::kStop, .reason = "the batch is another"}), "the batch is another");
}

TEST_F(RunMomentTest, SaysWhoTrains) {
  (void)supervisor_.handle({.kind = Event::kVmUp, .vm = 0});
  (void)supervisor_.handle({.kind = Event::kVmUp, .vm = 1});
  EXPECT_EQ(line({.kind = Event::kWorkersUp, .attempt = 1, .step = 5}),
            "training on vm1, vm2 after step 5");
}

TEST_F(RunMomentTest, KeepsQuietAboutWhatHappensAllTheTime) {
  for (const Event kind :
       {Event::kTick, Event::kStepDone, Event::kSaveFailed, Event::kWorkersDone, Event::kBilled}) {
    EXPECT_TRUE(lines({.kind = kind, .vm = 0, .attempt = 1, .step = 1}).empty());
  }
  EXPECT_TRUE(
      lines({.kind = Event::kWorkersUp, .attempt = 9}).empty());  // No worker was ordered to train.
  EXPECT_TRUE(lines({.kind = Event::kPrices}).empty());
  EXPECT_TRUE(lines({.kind = Event::kCapacity}).empty());
  EXPECT_TRUE(lines({.kind = Event::kRemark}).empty());
  EXPECT_TRUE(lines({.kind = Event::kVmUp, .vm = 7}).empty());  // There is no such machine.
  EXPECT_TRUE(lines({.kind = Event::kVmUp}).empty());
}

TEST_F(RunMomentTest, LeavesALossToWhatTheSupervisorSaysOfIt) {
  const RunAction say{.kind = Act::kSay, .reason = "vm1 is lost; 1 machine goes on."};
  for (const Event kind :
       {Event::kNotice, Event::kVmLost, Event::kWorkerLost, Event::kLaunchRefused}) {
    EXPECT_EQ(lines({.kind = kind, .vm = 0}, {say}), (std::vector<std::string>{say.reason}));
  }
  EXPECT_EQ(lines({.kind = Event::kSaved, .step = 1}, {say}).size(), 2U);
}

TEST_F(RunMomentTest, TellsOfPlansAndOfTheEndAndOfNoOtherAction) {
  EXPECT_EQ(lines({}, {{.kind = Act::kLaunch},
                       {.kind = Act::kRelease},
                       {.kind = Act::kTrain},
                       {.kind = Act::kSave},
                       {.kind = Act::kReplan, .reason = "prices moved"},
                       {.kind = Act::kFinish,
                        .outcome = RunVerdict::kGaveUp,
                        .reason = "the budget is spent"}}),
            (std::vector<std::string>{"replanning: prices moved", "gave-up: the budget is spent"}));
}

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
  EXPECT_EQ(run->moments.size(), small_events().size());
  EXPECT_NEAR(run->supervisor->cost().in(kDollar), 0.006, 1e-9);
  EXPECT_TRUE(run->warnings.empty());
}

TEST_F(RunReplayTest, TellsTheSameTwice) {
  write_small_run(folder_, small_record(), small_events());
  const auto once = replay_run_folder(folder_);
  const auto twice = replay_run_folder(folder_);
  ASSERT_TRUE(once.ok() && twice.ok());
  ASSERT_EQ(once->moments.size(), twice->moments.size());
  for (std::size_t i = 0; i < once->moments.size(); ++i) {
    EXPECT_EQ(once->moments[i].actions, twice->moments[i].actions) << i;
  }
}

TEST_F(RunReplayTest, ARunThatHasNotBegunHasNoMoments) {
  write_small_run(folder_, small_record(), {});
  std::filesystem::remove(journal_path_of(folder_));
  const auto run = replay_run_folder(folder_);
  ASSERT_TRUE(run.ok());
  EXPECT_TRUE(run->moments.empty());
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
  std::vector<Seconds> predicted;
  for (const RunMoment& moment : run->moments) {
    if (moment.predicted) predicted.push_back(*moment.predicted);
  }
  ASSERT_FALSE(predicted.empty());
  EXPECT_EQ(predicted[0], 1 * kSecond);
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
