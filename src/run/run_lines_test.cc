#include "run/run_lines.h"

#include <gtest/gtest.h>

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

TEST_F(RunMomentTest, SaysWhenStintDidNotRun) {
  EXPECT_EQ(
      line({.kind = Event::kSlept, .duration = 2 * kHour}),
      "Stint did not run for 2 h 0 min (the computer was suspended, or the process stopped); the "
      "time counts for the deadline and the cost, but not against workers");
  EXPECT_TRUE(lines({.kind = Event::kSlept, .duration = 20 * kSecond}).empty());
}

TEST_F(RunMomentTest, SaysWhoTrains) {
  (void)supervisor_.handle({.kind = Event::kVmUp, .vm = 0});
  (void)supervisor_.handle({.kind = Event::kVmUp, .vm = 1});
  EXPECT_EQ(line({.kind = Event::kWorkersUp, .attempt = 1, .step = 5}),
            "training on vm1, vm2 after step 5");
}

TEST_F(RunMomentTest, CountsManyMachinesInsteadOfNamingThem) {
  RunRecord record = small_record();
  record.plan.machines[0].count = 17;
  Supervisor many(terms_of(record, record.plan));
  (void)many.handle({});
  for (int vm = 0; vm < 17; ++vm) (void)many.handle({.kind = Event::kVmUp, .vm = vm});
  const RunEvent up{.kind = Event::kWorkersUp, .attempt = 1, .step = 5};
  EXPECT_EQ(lines_of(many, {.event = up, .actions = {}}).at(0).text,
            "training on 17 machines after step 5");
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

}  // namespace
}  // namespace stint
