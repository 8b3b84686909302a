// Tests of which machines train, and of scripts that take no orders.
#include <gtest/gtest.h>

#include "supervise/supervisor_fixture.h"

namespace stint {
namespace {

using Event = RunEventKind;
using Act = RunActionKind;

// A script without stint.Job.

RunTerms plain_terms(int machines) {
  RunTerms terms = simple_terms(machines);
  terms.plain = true;
  return terms;
}

// A replica of the model takes two machines: four train, and after a loss two of the other three.
TEST(SupervisorWorkers, OnlyWholeReplicasOfAModelTrain) {
  RunTerms terms = plain_terms(4);
  terms.machines_multiple = terms.machines_min = 2;
  SupervisedRun run(terms);
  run.begin();
  EXPECT_EQ(run.supervisor.attempt()->vms, (std::vector<int>{0, 1, 2, 3}));
  for (int i = 1; i <= 5; ++i) run.step(10 * i, i);
  run.tell(51, {.kind = Event::kVmLost, .vm = 1});
  run.tell(52, {.kind = Event::kLaunchRefused, .vm = 4});
  EXPECT_EQ(run.the(Act::kTrain).vms, (std::vector<int>{0, 2}));
  run.train(60, 0);
  run.step(70, 1);
  run.tell(71, {.kind = Event::kVmLost, .vm = 0});
  for (const RunAction& launch : run.all(Act::kLaunch)) {
    run.tell(72, {.kind = Event::kLaunchRefused, .vm = launch.vm});
  }
  EXPECT_EQ(run.supervisor.attempt()->vms, (std::vector<int>{2, 3}));  // The idle one joins.
}

TEST(SupervisorWorkers, FewerMachinesThanAReplicaWait) {
  RunTerms terms = plain_terms(2);
  terms.machines_multiple = terms.machines_min = 2;
  SupervisedRun run(terms);
  run.begin();
  run.step(10, 1);
  run.tell(11, {.kind = Event::kVmLost, .vm = 1});
  run.tell(12, {.kind = Event::kLaunchRefused, .vm = 2});
  EXPECT_FALSE(run.wants(Act::kTrain));
  run.tick(100);
  EXPECT_FALSE(run.wants(Act::kTrain));
}

TEST(SupervisorWorkers, APlainScriptIsTrainedWhenItEndsWellAndNothingIsCalledSaved) {
  SupervisedRun run(plain_terms(2));
  run.begin();
  for (int i = 1; i <= 120; ++i) run.step(10 * i, i);  // More steps than planned.
  EXPECT_FALSE(run.wants(Act::kSave));
  run.tell(1210, {.kind = Event::kWorkersDone, .attempt = 1});
  EXPECT_EQ(run.the(Act::kFinish).outcome, RunVerdict::kTrained);
  EXPECT_EQ(run.the(Act::kFinish).reason,
            "the script exited with code 0 on all machines, after step 120");
  EXPECT_EQ(run.supervisor.saved(), 0);
  EXPECT_EQ(run.supervisor.reached(), 120);
  EXPECT_TRUE(run.supervisor.trained());
}

TEST(SupervisorWorkers, WorkersThatTakeOrdersAndEndTooEarlyAreStartedAgain) {
  SupervisedRun run(simple_terms(2));
  run.begin();
  run.step(10, 1);
  run.tell(11, {.kind = Event::kWorkersDone, .attempt = 1});
  EXPECT_EQ(run.said(), "The workers ended after step 1 of 100; the workers restart.");
  EXPECT_TRUE(run.wants(Act::kTrain));
}

TEST(SupervisorWorkers, APlainScriptStartsAgainOnAllMachinesFromWhatItLoads) {
  SupervisedRun run(plain_terms(2));
  run.begin();
  for (int i = 1; i <= 30; ++i) run.step(10 * i, i);
  run.tell(301, {.kind = Event::kSaved, .step = 30});
  run.step(310, 31);
  run.tell(312, {.kind = Event::kVmLost, .vm = 0});
  run.tell(313, {.kind = Event::kLaunchRefused, .vm = 2});
  EXPECT_EQ(run.the(Act::kTrain).vms, (std::vector<int>{1}));
  EXPECT_EQ(run.supervisor.reached(), 30);  // The survivor of a plain script loses its state.
  run.train(320, 30);
  EXPECT_EQ(run.said(), "");
  EXPECT_EQ(run.supervisor.reached(), 30);
  // The script does not load it the next time.
  run.tell(330, {.kind = Event::kWorkerLost, .vm = 1, .attempt = 2, .code = 1});
  run.tick(400);
  run.train(410, 0);
  EXPECT_EQ(run.said(),
            "The script continues after step 0; it did not load its checkpoint of step 30.");
  EXPECT_EQ(run.supervisor.saved(), 0);
}

// A replacement that is on its way is waited for: the script starts again on all machines anyway.
TEST(SupervisorWorkers, APlainScriptWaitsForAReplacementThatIsOnItsWay) {
  SupervisedRun run(plain_terms(2));
  run.begin();
  for (int i = 1; i <= 5; ++i) run.step(10 * i, i);
  run.tell(51, {.kind = Event::kVmLost, .vm = 0});
  EXPECT_TRUE(run.wants(Act::kLaunch));
  EXPECT_FALSE(run.wants(Act::kTrain));
  run.tell(60, {.kind = Event::kVmUp, .vm = 2});
  EXPECT_EQ(run.the(Act::kTrain).vms, (std::vector<int>{2, 1}));
}

// At step 60 of 100 on one machine, 20 s each, a second one saves 400 s and costs 600 s again.
TEST(SupervisorWorkers, AMachineThatIsNotWorthARestartIsReleased) {
  SupervisedRun run(plain_terms(2));
  run.begin();
  run.tell(1, {.kind = Event::kVmLost, .vm = 1});
  run.tell(2, {.kind = Event::kLaunchRefused, .vm = 2});
  run.train(2, 0);
  for (int i = 1; i <= 60; ++i) {
    run.step(2 + 20 * i, i, 20 * kSecond);
    for (const RunAction& launch : run.all(Act::kLaunch)) {
      run.tell(2 + 20 * i, {.kind = Event::kLaunchRefused, .vm = launch.vm});
    }
  }
  run.tick(1300);
  EXPECT_FALSE(run.wants(Act::kLaunch));
}

// Steps are predicted to take 10 s; the limit is 5 min.
TEST(SupervisorWorkers, APlainScriptHangsWhenItMakesNoStepForFiveMinutes) {
  SupervisedRun run(plain_terms(2));
  run.tick(0);
  for (int vm = 0; vm < 2; ++vm) run.tell(0, {.kind = Event::kVmUp, .vm = vm});
  run.tick(86000);  // Before the first step it is unknown whether steps are visible.
  EXPECT_TRUE(run.actions.empty());
  run.train(86001, 0);
  run.step(86010, 1);
  run.tick(86309);
  EXPECT_EQ(run.said(), "");
  run.tick(86311);
  EXPECT_EQ(run.said(), "No step for 5 min; the workers restart.");
  EXPECT_TRUE(run.wants(Act::kTrain));
}

TEST(SupervisorWorkers, AScriptTurnsOutToBePlainOrNot) {
  SupervisedRun run(simple_terms(1));
  run.begin();
  run.tell(1, {.kind = Event::kPlain, .attempt = 7});
  EXPECT_FALSE(run.supervisor.plain());  // The event belongs to another attempt.
  run.tell(1, {.kind = Event::kPlain, .attempt = 1});
  EXPECT_TRUE(run.supervisor.plain());
  run.tell(2, {.kind = Event::kTakesOrders, .attempt = 1});
  EXPECT_FALSE(run.supervisor.plain());
}

TEST(SupervisorWorkers, APlainScriptIsStoppedWithoutASave) {
  SupervisedRun run(plain_terms(1));
  run.begin();
  run.step(20, 1);
  run.tell(21, {.kind = Event::kStop});
  EXPECT_EQ(run.the(Act::kFinish).outcome, RunVerdict::kStopped);
  EXPECT_FALSE(run.wants(Act::kSave));
}

// 100 steps of 10 s on two machines, of 20 s on one. A second machine for the last 99 steps saves
// 990 s; at step 60 of 100 it would save 400 s and cost 60 s for the start and 600 s again.
TEST(SupervisorWorkers, APlainScriptIsNotStartedAgainForLessThanItLoses) {
  for (const bool early : {true, false}) {
    SupervisedRun run(plain_terms(2));
    run.begin();
    run.tell(1, {.kind = Event::kVmLost, .vm = 1});
    run.tick(300);  // The replacement takes too long.
    run.train(301, 0);
    const int steps = early ? 1 : 60;
    for (int i = 1; i <= steps; ++i) run.step(301 + i, i, 20 * kSecond);
    run.tell(302 + steps, {.kind = Event::kVmUp, .vm = 2});
    EXPECT_EQ(run.wants(Act::kTrain), early);
    EXPECT_EQ(run.wants(Act::kRelease), !early);
  }
}

}  // namespace
}  // namespace stint
