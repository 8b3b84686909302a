// Tests of workers that fail or hang, and of machines that are lost.
#include <cstdlib>
#include <gtest/gtest.h>

#include "run/runner_fixture.h"

namespace stint {
namespace {

TEST_F(RunnerTest, WorkersThatKeepFailingEndTheRunWithTheirLastWords) {
  use_script(kTinyWorker, {"0", "0"});
  const auto end = run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->outcome, RunVerdict::kGaveUp);
  EXPECT_NE(end->reason.find("workers failed 5 times without newly saved progress"),
            std::string::npos)
      << end->reason;
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

TEST_F(RunnerTest, WorkersGetNoVariableThatNobodyNamed) {
  for (const char* name : {"AWS_SECRET_ACCESS_KEY", "WANDB_API_KEY", "EDITOR", "HF_TOKEN"}) {
    ::setenv(name, "secret", 1);
  }
  ::setenv("NCCL_DEBUG", "INFO", 1);
  record_.environment = {"WANDB_API_KEY"};
  use_script(R"(
import os
for name in ("AWS_SECRET_ACCESS_KEY", "EDITOR", "HF_TOKEN"):
    assert name not in os.environ, name
assert os.environ["WANDB_API_KEY"] == "secret"
assert os.environ["NCCL_DEBUG"] == "INFO" and os.environ["PATH"] and os.environ["STINT_VM"]
assert b"AWS_SECRET" not in open("/proc/self/environ", "rb").read()
)");
  const auto end = run();
  for (const char* name :
       {"AWS_SECRET_ACCESS_KEY", "WANDB_API_KEY", "EDITOR", "HF_TOKEN", "NCCL_DEBUG"}) {
    ::unsetenv(name);
  }
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->outcome, RunVerdict::kTrained) << end->reason;
}

/// The messages of the hook in a script, without PyTorch: `steps` steps of 20 ms from `base` on.
constexpr const char* kPlainWorker = R"(
import json, os, socket, sys, time
control = socket.socket(fileno=int(os.environ["STINT_CONTROL"]))
attempt, rank = int(os.environ["STINT_ATTEMPT"]), int(os.environ["RANK"])
def tell(kind, **facts):
    control.sendall((json.dumps({kind: {"attempt": attempt, **facts}}) + "\n").encode())
path = os.path.join(os.environ["STINT_CHECKPOINT_DIR"], "steps")
base = int(open(path).read()) if os.path.exists(path) else 0
for step in range(1, int(os.environ["STINT_STEPS"]) - base + 1):
    time.sleep(0.02)
    tell("counted", steps=step, base=base if rank == 0 else 0, time_s=0.02)
    if rank == 0 and (base + step) % 10 == 0:
        open(path, "w").write(str(base + step))
        tell("wrote_checkpoint", path=path, step=base + step)
)";

TEST_F(RunnerTest, AScriptWithoutAHookThatEndsWellIsTrained) {
  record_.plain = true;
  use_script("import time\ntime.sleep(1)\n");
  const auto end = run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->outcome, RunVerdict::kTrained) << end->reason;
  EXPECT_EQ(end->reason, "the script exited with code 0 on all machines, after step 0");
  EXPECT_EQ(story().attempts.size(), 1U);
}

TEST_F(RunnerTest, StepsOfAPlainScriptAreCountedAndItsCheckpointsSeen) {
  use_script(kPlainWorker);  // The script is believed to take orders until its first message.
  const auto end = run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->reason, "the script exited with code 0 on all machines, after step 20") << lines();
  EXPECT_EQ(supervisor_->reached(), 20);
  EXPECT_EQ(supervisor_->saved(), 20);
  EXPECT_EQ(story().saves, 2);
  EXPECT_EQ(story().attempts.size(), 1U);
  EXPECT_TRUE(tells("the script saved a checkpoint at step 10 in "));
}

TEST_F(RunnerTest, APlainScriptThatLosesAMachineContinuesFromItsCheckpoint) {
  record_.plain = true;
  record_.steps = 200;
  record_.regroup = 100 * kMillisecond;
  use_script(kPlainWorker);
  bool lost = false;
  RunListeners listeners;
  listeners.happened = [&](const RunEvent& event, const std::vector<RunAction>& /*actions*/) {
    if (event.kind == RunEventKind::kStepDone && event.step >= 25 && !lost) {
      lost = true;
      (void)cluster().preempt("vm2", Seconds{});
    }
  };
  const auto end = run(std::move(listeners));
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->outcome, RunVerdict::kTrained) << end->reason;
  const RunStory told = story();
  ASSERT_GE(told.attempts.size(), 2U) << lines();
  EXPECT_GE(told.attempts[1].from_step, 20) << lines();
  EXPECT_EQ(told.attempts[1].from_step % 10, 0);
  EXPECT_EQ(supervisor_->reached(), 200);
}

// Rank 1 fails; rank 0 then loses its connection and aborts before rank 1 ends.
TEST_F(RunnerTest, TheWorkerThatFailedFirstIsShown) {
  record_.plain = true;
  use_script(R"(
import json, os, socket, sys, time
control = socket.socket(fileno=int(os.environ["STINT_CONTROL"]))
def failed(when, text):
    control.sendall((json.dumps({"failed": {"attempt": int(os.environ["STINT_ATTEMPT"]),
                                            "time": when, "text": text}}) + "\n").encode())
if os.environ["RANK"] == "1":
    failed(1.0, "Traceback\nValueError: bad sample")
    time.sleep(0.5)
    sys.exit(1)
failed(2.0, "terminate called: Connection closed by peer")
sys.exit(134)
)");
  const auto end = run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->outcome, RunVerdict::kGaveUp);
  EXPECT_NE(end->reason.find("vm2 exited with code 1\n  Traceback\n  ValueError: bad sample\n"
                             "All of its output: stint logs "),
            std::string::npos)
      << end->reason;
  EXPECT_NE(end->reason.find(" --rank 1"), std::string::npos) << end->reason;
}

TEST_F(RunnerTest, AMachineThatIsTakenBackIsReplacedAndTheOtherGoesOn) {
  record_.steps = 500;
  record_.regroup = 100 * kMillisecond;
  record_.start_up = 2 * kSecond;  // Longer than a busy computer takes to launch a machine.
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
  EXPECT_GE(told.attempts[1].from_step, 10);  // The worker kept its state.
  EXPECT_EQ(told.redone, 0);
  EXPECT_TRUE(told.vms[1].taken);
}

}  // namespace
}  // namespace stint
