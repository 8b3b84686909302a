#include "run/runner.h"

#include <csignal>
#include <gtest/gtest.h>

#include "checkpoint/checkpoint_files.h"
#include "measure/measurement.h"
#include "run/runner_fixture.h"

namespace stint {
namespace {

TEST_F(RunnerTest, TrainsSavesAndGivesTheMachinesBack) {
  const auto end = run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->outcome, RunVerdict::kTrained) << end->reason;
  const auto found = latest(checkpoint_folder(folder_));
  ASSERT_TRUE(found.ok() && found->checkpoint);
  EXPECT_EQ(found->checkpoint->step, 20);
  EXPECT_EQ(found->checkpoint->shards.size(), 2U);
  const auto status = cluster().status();
  ASSERT_TRUE(status.ok());
  for (const VmStatus& vm : status->vms) EXPECT_EQ(vm.phase, VmPhase::kTaken) << vm.name;
  const RunStory told = story();
  EXPECT_EQ(told.outcome, RunVerdict::kTrained);
  EXPECT_EQ(told.attempts.size(), 1U);
  // The cost is the provider's.
  EXPECT_NEAR(told.cost.in(kDollar), (status->cost_spot + status->cost_on_demand).in(kDollar),
              1e-9);
}

// Two workers on each of two VMs: four shards, and two files of output for each VM.
TEST_F(RunnerTest, TrainsWithSeveralWorkersOnAVm) {
  record_.plan.machines[0].workers = 2;
  const auto end = run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->outcome, RunVerdict::kTrained) << end->reason;
  const auto found = latest(checkpoint_folder(folder_));
  ASSERT_TRUE(found.ok() && found->checkpoint);
  EXPECT_EQ(found->checkpoint->shards.size(), 4U);
  EXPECT_TRUE(std::filesystem::exists(log_folder(folder_) + "/vm2.2-worker.log"));
}

// A computer that was suspended for a day between the beginning of the run and that of its loop;
// the run would give up, because nothing was saved for a day.
TEST_F(RunnerTest, ASuspendBeforeTheFirstEventIsNoLackOfProgress) {
  record_.began = clock_.now();
  ASSERT_TRUE(write_file(record_path(folder_), write_run(record_)).ok());
  supervisor_ = make_supervisor(record_);
  clock_.jump(25 * kHour);
  const auto end = runner({}).run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->outcome, RunVerdict::kTrained) << end->reason;
}

// Losses are 1/n from both workers: 2/n of the global batch.
TEST_F(RunnerTest, NotesEveryStepAndEveryBill) {
  ASSERT_TRUE(run().ok());
  const auto read =
      read_measurements(*read_file(measurements_path(folder_)), measurements_path(folder_));
  ASSERT_TRUE(read.ok()) << read.error().message;
  std::int64_t steps = 0;
  int ups = 0;
  int charges = 0;
  int saves = 0;
  for (const Measurement& one : read->noun) {
    if (one.iteration) {
      EXPECT_EQ(one.iteration->number, ++steps);
      ASSERT_TRUE(one.iteration->loss);
      EXPECT_NEAR(*one.iteration->loss, 2.0 / static_cast<double>(steps), 1e-12);
    }
    ups += one.vm_up ? 1 : 0;
    charges += one.charge ? 1 : 0;
    saves += one.checkpoint ? 1 : 0;
  }
  EXPECT_EQ(steps, 20);
  EXPECT_EQ(ups, 2);
  EXPECT_EQ(charges, 2);
  EXPECT_GE(saves, 1);
}

TEST_F(RunnerTest, AnotherBatchStopsTheRunAndSaysWhy) {
  use_script(kTinyWorker, {"50", "-1"});
  const auto end = run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->outcome, RunVerdict::kGaveUp);
  EXPECT_NE(end->reason.find("a batch of 50 instead of the plan's 48"), std::string::npos)
      << end->reason;
  EXPECT_EQ(story().reached, 0);
}

TEST_F(RunnerTest, AScriptThatTrainsTooFewStepsStopsTheRunAndSaysSo) {
  use_script(R"(
import json, os, socket, time
control = socket.socket(fileno=int(os.environ["STINT_CONTROL"]))
control.sendall((json.dumps({"ready": {"step": -1, "batch": 48, "steps": 3}}) + "\n").encode())
control.recv(1)
)");
  const auto end = run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->outcome, RunVerdict::kGaveUp);
  EXPECT_TRUE(tells("the script trains 3 steps instead of the plan's 20")) << lines();
}

TEST_F(RunnerTest, WorkersGetTheirLayoutAndTheSamplesOfTheirDataRank) {
  use_script(R"(
import os
with open("seen-" + os.environ["RANK"], "w") as file:
    file.write(os.environ["STINT_LAYOUT"] + ", " + os.environ["STINT_BATCH_SIZE"])
)");
  record_.plain = true;
  record_.layout = "tp2 zero1";
  const auto end = run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->outcome, RunVerdict::kTrained) << end->reason;
  // Two workers hold one model, and both see all 48 samples.
  for (const char* rank : {"0", "1"}) {
    const auto seen = read_file(place_.path() + "/seen-" + rank);
    ASSERT_TRUE(seen.ok());
    EXPECT_EQ(*seen, "tp2 zero1, 48");
  }
}

TEST_F(RunnerTest, AnInterruptSavesAndStops) {
  record_.steps = 2000;
  record_.checkpoint.interval = 1 * kHour;
  RunListeners listeners;
  listeners.happened = [](const RunEvent& event, const std::vector<RunAction>& /*actions*/) {
    if (event.kind == RunEventKind::kStepDone && event.step == 5) ::raise(SIGINT);
  };
  const auto end = run(std::move(listeners));
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->outcome, RunVerdict::kStopped);
  EXPECT_EQ(end->reason, "a stop was requested");
  EXPECT_GE(story().saved, 5);
}

TEST_F(RunnerTest, GoesOnFromWhatIsSavedWhenItTakesOver) {
  record_.steps = 150;
  RunListeners listeners;
  bool stopped = false;
  listeners.happened = [&](const RunEvent& event, const std::vector<RunAction>& /*actions*/) {
    // Several steps may be one event.
    if (stopped || event.kind != RunEventKind::kStepDone || *event.step < 20) return;
    stopped = true;
    ::raise(SIGINT);
  };
  auto end = run(std::move(listeners));
  ASSERT_TRUE(end.ok()) << end.error().message;
  ASSERT_EQ(end->outcome, RunVerdict::kStopped);
  const std::int64_t saved = story().saved;
  EXPECT_GE(saved, 20);
  auto replayed = replay_run_folder(folder_);
  ASSERT_TRUE(replayed.ok());
  supervisor_ = std::move(replayed->supervisor);
  Runner second = runner({});
  ASSERT_TRUE(second.take_over().ok());
  end = second.run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->outcome, RunVerdict::kTrained) << end->reason;
  const RunStory told = story();
  EXPECT_EQ(told.attempts.back().from_step, saved);
  EXPECT_EQ(told.attempts.back().to_step, 150);
  EXPECT_TRUE(tells("resumed by a new process"));
}

TEST_F(RunnerTest, ANewPlanTakesEffectAsTheJournalTellsIt) {
  record_.steps = 150;
  // A step takes 20 ms where 5 ms were planned, so that the run asks for a new plan.
  for (RunStepTime& step : record_.plan.steps) step.mean = step.p10 = step.p90 = 5 * kMillisecond;
  int asked = 0;
  RunListeners listeners;
  listeners.replan = [&](const Supervisor& /*supervisor*/, const RunPlan& plan,
                         const std::string& /*reason*/) {
    if (++asked > 1) return Replanning{.reason = "stays"};
    RunPlan other = plan;
    other.generation = 2;
    other.machines[0].count = 1;
    other.machines[0].type = "local.large";
    other.steps = {{.machines = {1},
                    .mean = 20 * kMillisecond,
                    .p10 = 20 * kMillisecond,
                    .p90 = 20 * kMillisecond}};
    return Replanning{.plan = other, .reason = "one is enough"};
  };
  const auto end = run(std::move(listeners));
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->outcome, RunVerdict::kTrained) << end->reason;
  const RunStory told = story();
  EXPECT_TRUE(tells("one is enough"));
  EXPECT_EQ(told.vms.front().type, "local.small");
  EXPECT_EQ(told.vms.back().type, "local.large");
  EXPECT_EQ(told.attempts.front().predicted, 5 * kMillisecond);
  EXPECT_EQ(told.attempts.back().predicted, 20 * kMillisecond);
  // The journal replays to the same story.
  EXPECT_EQ(told.attempts.back().number, supervisor_->terms().slots.size() == 1 ? 2 : -1);
}

}  // namespace
}  // namespace stint
