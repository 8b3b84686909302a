// What becomes of workers that fail or keep silent, and of machines that go.
#include <gtest/gtest.h>

#include "run/runner_fixture.h"

namespace stint {
namespace {

TEST_F(RunnerTest, WorkersThatKeepFailingEndTheRunWithTheirLastWords) {
  use_script(kTinyWorker, {"0", "0"});
  const auto end = run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->outcome, RunVerdict::kGaveUp);
  EXPECT_NE(end->reason.find("workers failed 5 times in a row"), std::string::npos) << end->reason;
  EXPECT_NE(end->reason.find("the dog ate my gradients"), std::string::npos) << end->reason;
}

TEST_F(RunnerTest, ACommandThatDoesNotExistEndsTheRun) {
  record_.command = {"stint-no-such-program"};
  const auto end = run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->outcome, RunVerdict::kGaveUp);
  EXPECT_NE(end->reason.find("No such file"), std::string::npos) << end->reason;
}

TEST_F(RunnerTest, AScriptThatNeverSpeaksAndEndsWellIsTrained) {
  use_script("import os\nassert os.environ['WORLD_SIZE'] == '2'\n");
  const auto end = run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->outcome, RunVerdict::kTrained) << end->reason;
}

/// Python that waits until the runner has taken a script for one that takes no orders,
constexpr const char* kUntilTaken =
    "import os, time\nwhile not os.path.exists('taken'): time.sleep(0.02)\n";

/// and what tells it so.
RunListeners tell_when_taken(const std::string& folder) {
  RunListeners listeners;
  listeners.happened = [=](const RunEvent& event, const std::vector<RunAction>& /*actions*/) {
    if (event.kind == RunEventKind::kWorkersUp) (void)write_file(folder + "/taken", "");
  };
  return listeners;
}

TEST_F(RunnerTest, AScriptThatNeverSpeaksIsTakenAsItIs) {
  silence_ = 0.5 * kSecond;
  use_script(kUntilTaken);
  const auto end = run(tell_when_taken(place_.path()));
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->outcome, RunVerdict::kTrained) << end->reason;
  EXPECT_TRUE(tells("training on vm1, vm2 after step 0"));
}

TEST_F(RunnerTest, AScriptThatTakesItsTimeToBeginDoesTakeOrders) {
  silence_ = 0.3 * kSecond;
  use_script(std::string(kUntilTaken) + kTinyWorker, {"0", "-1"});
  const auto end = run(tell_when_taken(place_.path()));
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->outcome, RunVerdict::kTrained) << end->reason;
  EXPECT_EQ(story().attempts.size(), 1U);
  EXPECT_EQ(story().attempts[0].steps, 20);
}

TEST_F(RunnerTest, AMachineThatIsTakenBackIsReplacedAndTheOtherGoesOn) {
  record_.steps = 500;
  record_.regroup = 100 * kMillisecond;
  record_.start_up = 2 * kSecond;  // Longer than it takes a busy computer to make a machine.
  RunListeners listeners;
  listeners.happened = [&](const RunEvent& event, const std::vector<RunAction>& /*actions*/) {
    if (event.kind == RunEventKind::kStepDone && event.step == 10 && event.attempt == 1) {
      (void)cluster().preempt("vm2", Seconds{});
    }
  };
  const auto end = run(std::move(listeners));
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->outcome, RunVerdict::kTrained) << end->reason;
  const RunStory told = story();
  EXPECT_EQ(told.losses, 1);
  ASSERT_GE(told.attempts.size(), 2U) << lines();
  EXPECT_EQ(told.attempts[1].vms, (std::vector<int>{0}));
  EXPECT_GE(told.attempts[1].from_step, 10);  // It kept its state.
  EXPECT_EQ(told.redone, 0);
  EXPECT_TRUE(told.vms[1].taken);
}

}  // namespace
}  // namespace stint
