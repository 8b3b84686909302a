#include <gtest/gtest.h>

#include "risk/deadline_baselines.h"
#include "supervise/supervisor.h"
#include "supervise/supervisor_fixture.h"

namespace stint {
namespace {

using Event = RunEventKind;
using Act = RunActionKind;

TEST(SupervisorOrders, AskAgainForSpotMachinesLessAndLessOften) {
  SupervisedRun run(simple_terms(2));
  run.begin();
  run.step(10, 1);
  run.tell(10, {.kind = Event::kVmLost, .vm = 0});
  EXPECT_EQ(run.supervisor.attempt()->vms, (std::vector<int>{1}));
  run.tell(10, {.kind = Event::kLaunchRefused, .vm = 2, .reason = "no capacity"});
  EXPECT_EQ(run.said(), "A spot machine was refused (no capacity); retry in 60 s.");
  EXPECT_FALSE(run.wants(Act::kLaunch));
  run.train(10, 1);
  run.tick(69);
  EXPECT_FALSE(run.wants(Act::kLaunch));
  run.tick(70);
  EXPECT_EQ(run.the(Act::kLaunch).vm, 3);
  run.tell(70, {.kind = Event::kLaunchRefused, .vm = 3, .reason = "no capacity"});
  EXPECT_TRUE(run.actions.empty());  // The remark is made once.
  run.tick(189);
  EXPECT_FALSE(run.wants(Act::kLaunch));
  run.tick(190);
  EXPECT_TRUE(run.wants(Act::kLaunch));
}

TEST(SupervisorOrders, WaitWithTooFewMachines) {
  RunTerms terms = simple_terms(2);
  terms.machines_min = 2;
  SupervisedRun run(terms);
  run.begin();
  run.step(10, 1);
  run.tell(10, {.kind = Event::kVmLost, .vm = 0});
  EXPECT_FALSE(run.supervisor.attempt());
  EXPECT_EQ(run.said(),
            "vm1 is lost; a spot machine is requested; training waits for a replacement.");
  run.tell(50, {.kind = Event::kVmUp, .vm = 2});
  EXPECT_EQ(run.the(Act::kTrain).vms, (std::vector<int>{2, 1}));
}

TEST(SupervisorOrders, DoNotAskForMoreSpotMachinesThanThereAre) {
  SupervisedRun run(simple_terms(2));
  run.tell(0, {.kind = Event::kCapacity, .count = 1});
  EXPECT_EQ(run.all(Act::kLaunch).size(), 1U);
  run.tell(40, {.kind = Event::kVmUp, .vm = 0});
  run.tick(599);
  EXPECT_FALSE(run.wants(Act::kLaunch));
  run.tick(601);  // The reported capacity is ten ticks old.
  EXPECT_TRUE(run.wants(Act::kLaunch));
}

TEST(SupervisorOrders, LeaveAMachineBeforeItGoes) {
  SupervisedRun run(simple_terms(2));
  run.begin();
  run.tell(10, {.kind = Event::kNotice, .vm = 0, .duration = 120 * kSecond});
  run.tick(109);
  EXPECT_FALSE(run.wants(Act::kTrain));
  run.tick(111);  // Two regroups before 130 s.
  EXPECT_EQ(run.the(Act::kTrain).vms, (std::vector<int>{1}));
}

// 99 steps of 20 s are left, and take half as long with a second machine.
TEST(SupervisorOrders, GrowWhenThatPays) {
  SupervisedRun run(simple_terms(2));
  run.begin();
  run.step(10, 1);
  run.tell(10, {.kind = Event::kVmLost, .vm = 0});
  run.train(20, 1);
  run.tell(50, {.kind = Event::kVmUp, .vm = 2});
  EXPECT_EQ(run.the(Act::kTrain).vms, (std::vector<int>{2, 1}));
}

// For two steps of 20 s on the remaining machine, 40 s, a machine that is up in 60 s is useless.
TEST(SupervisorOrders, AskForNothingThatWouldComeAtTheEnd) {
  SupervisedRun run(simple_terms(2));
  run.begin();
  run.step(980, 98);
  run.tell(981, {.kind = Event::kVmLost, .vm = 0});
  EXPECT_TRUE(run.wants(Act::kTrain));
  run.train(990, 98);
  EXPECT_FALSE(run.wants(Act::kLaunch));
}

TEST(SupervisorOrders, SaveEverySoOften) {
  SupervisedRun run(simple_terms(2));
  run.begin();
  run.step(599, 50);
  EXPECT_FALSE(run.wants(Act::kSave));
  run.tick(600);
  ASSERT_TRUE(run.wants(Act::kSave));
  run.tick(601);
  EXPECT_FALSE(run.wants(Act::kSave));
  run.tick(762);  // Ten times 10 s and a tick without an answer.
  EXPECT_FALSE(run.wants(Act::kSave));
  run.tick(822);  // It is tried again a tick later.
  EXPECT_TRUE(run.wants(Act::kSave));
}

TEST(SupervisorOrders, GiveUpWhenTheLastStepCannotBeSaved) {
  SupervisedRun run(simple_terms(2));
  run.begin();
  run.step(10, 100);
  int said = 0;
  for (int i = 0; i < 10; ++i) {
    run.tick(10 + 60 * i);
    run.tell(10 + 60 * i, {.kind = Event::kSaveFailed, .reason = "the disk is full"});
    said += run.wants(Act::kSay) ? 1 : 0;
  }
  EXPECT_EQ(said, 1);
  EXPECT_EQ(run.actions.back().outcome, RunVerdict::kGaveUp);
  EXPECT_EQ(run.actions.back().reason, "no checkpoint could be written: the disk is full");
}

// Two machines cost 0.0002 USD/s. Two checkpoints, two steps and a tick are 100 s or 0.02 USD: 0.1
// USD leaves 0.08 USD, which pay for 400 s.
TEST(SupervisorOrders, StopInTimeToSaveWithinTheBudget) {
  RunTerms terms = simple_terms(2);
  terms.budget = 0.1 * kDollar;
  SupervisedRun run(terms);
  run.begin();
  run.step(399, 39);
  EXPECT_FALSE(run.wants(Act::kSave));
  run.tick(401);
  ASSERT_TRUE(run.wants(Act::kSave));
  EXPECT_FALSE(run.supervisor.finished());
  run.save(420, 41);
  EXPECT_EQ(run.the(Act::kFinish).outcome, RunVerdict::kGaveUp);
  EXPECT_EQ(run.the(Act::kFinish).reason, "the budget of 0.10 USD is spent");
  EXPECT_FALSE(run.supervisor.over_budget());
  run.tell(430, {.kind = Event::kBilled, .vm = 0, .cost = 0.06 * kDollar});
  EXPECT_EQ(run.said(), "The budget of 0.10 USD is exceeded by 0.0020 USD.");
}

TEST(SupervisorOrders, LosePatience) {
  RunTerms terms = simple_terms(1);
  terms.patience = 1 * kHour;
  SupervisedRun run(terms);
  run.tick(0);
  run.tell(0, {.kind = Event::kLaunchRefused, .vm = 0});
  run.tick(3601);
  EXPECT_EQ(run.actions.back().reason, "no checkpoint for 60 min");
}

TEST(SupervisorOrders, StartWorkersAgainThatDoNothing) {
  SupervisedRun run(simple_terms(2));
  run.begin();
  run.step(10, 1);
  run.tick(400);  // Twenty steps of 10 s, two starts of 70 s and a tick are 400 s.
  EXPECT_FALSE(run.wants(Act::kTrain));
  run.tick(411);
  EXPECT_EQ(run.the(Act::kTrain).attempt, 2);
  run.tick(612);  // The workers do not even start within 200 s.
  EXPECT_FALSE(run.wants(Act::kTrain));
  run.tick(623);  // After a pause of 10 s.
  EXPECT_EQ(run.the(Act::kTrain).attempt, 3);
}

TEST(SupervisorOrders, AskForAnotherMachineInPlaceOfOneThatNeverComes) {
  SupervisedRun run(simple_terms(1));
  run.tick(0);
  run.tick(421);  // Five starts of 60 s and two ticks.
  EXPECT_EQ(run.the(Act::kRelease).vm, 0);
  run.tick(481);
  EXPECT_EQ(run.the(Act::kLaunch).vm, 1);
}

TEST(SupervisorOrders, BuyForTheDeadlineAndAskEachTick) {
  RunTerms terms = simple_terms(2);
  terms.deadline = 3000 * kSecond;
  SupervisedRun run(terms);
  run.tick(0);
  EXPECT_EQ(run.the(Act::kLaunch).market, Market::kSpot);
  for (const int vm : {0, 1}) run.tell(0, {.kind = Event::kLaunchRefused, .vm = vm});
  // 1250 s of steps at the slow end of the interval, and 220 s.
  run.tick(1531);
  ASSERT_EQ(run.all(Act::kLaunch).size(), 2U);
  EXPECT_EQ(run.the(Act::kLaunch).market, Market::kOnDemand);
  EXPECT_EQ(run.said(), "24 min left until the deadline: all machines switch to on-demand.");
  const int vm = run.the(Act::kLaunch).vm;
  run.tell(1532, {.kind = Event::kLaunchRefused, .vm = vm, .reason = "no capacity"});
  EXPECT_EQ(run.said(),
            "An on-demand machine was refused (no capacity); retry every 60 s, "
            "because of the deadline.");
  run.tick(1592);
  EXPECT_EQ(run.all(Act::kLaunch).size(), 1U);
}

TEST(SupervisorOrders, SayThatADeadlineCannotBeKept) {
  RunTerms terms = simple_terms(2);
  terms.deadline = 500 * kSecond;
  SupervisedRun run(terms);
  run.tick(0);
  EXPECT_EQ(run.the(Act::kReplan).reason, "these machines cannot meet the deadline");
  EXPECT_EQ(run.all(Act::kSay).back().reason,
            "Even with all machines on-demand, the deadline is missed by about 10 min.");
  run.tick(501);
  EXPECT_TRUE(run.supervisor.late());
  EXPECT_EQ(run.all(Act::kSay).back().reason,
            "The deadline has passed; training continues with the machines of the plan.");
}

TEST(SupervisorOrders, FollowThePolicyFromTickToTick) {
  RunTerms terms = simple_terms(2);
  terms.deadline = 2 * kHour;
  SupervisedRun run(terms, std::make_unique<SpotOnly>());
  run.begin();
  EXPECT_EQ(run.supervisor.vms()[0].market, Market::kSpot);
  run.step(10, 1);
  run.tell(20, {.kind = Event::kCapacity, .count = 1});
  run.tell(30, {.kind = Event::kVmLost, .vm = 0});
  EXPECT_EQ(run.the(Act::kTrain).vms, (std::vector<int>{1}));
  EXPECT_FALSE(run.wants(Act::kLaunch));
  run.train(40, 1);
  run.tell(65, {.kind = Event::kCapacity, .count = 2});
  EXPECT_EQ(run.the(Act::kLaunch).market, Market::kSpot);
}

// With one machine of two the run may not train, and a machine that does not train is not paid for.
TEST(SupervisorOrders, HoldNothingWhileThePolicyHoldsTooLittle) {
  RunTerms terms = simple_terms(2);
  terms.deadline = 4 * kHour;
  terms.machines_min = 2;
  SupervisedRun run(terms, std::make_unique<SpotOnly>());
  run.begin();
  run.step(10, 1);
  run.tell(20, {.kind = Event::kCapacity, .count = 1});
  run.tell(30, {.kind = Event::kVmLost, .vm = 0});
  run.tick(61);
  EXPECT_EQ(run.the(Act::kRelease).vm, 1);
}

// The old machine trains until the new ones can; no other has its state, so that it is saved first.
TEST(SupervisorOrders, FollowANewPlanWhenItsMachinesAreThere) {
  SupervisedRun run(simple_terms(1));
  run.begin();
  run.step(20, 1, 20 * kSecond);
  RunTerms next = simple_terms(2);
  next.steps = 1;  // The number of steps of the run stays.
  for (RunSlot& slot : next.slots) slot.type = "b";
  run.supervisor.change_terms(next);
  run.tell(30, {.kind = Event::kTerms});
  EXPECT_EQ(run.supervisor.terms().steps, 100);
  EXPECT_EQ(run.all(Act::kLaunch).size(), 2U);
  EXPECT_FALSE(run.wants(Act::kRelease));
  run.tell(70, {.kind = Event::kVmUp, .vm = 1});
  EXPECT_TRUE(run.actions.empty());
  run.tell(71, {.kind = Event::kVmUp, .vm = 2});
  ASSERT_TRUE(run.wants(Act::kSave));
  EXPECT_FALSE(run.wants(Act::kTrain));
  run.save(80, 3);
  EXPECT_EQ(run.the(Act::kTrain).vms, (std::vector<int>{1, 2}));
  EXPECT_EQ(run.the(Act::kTrain).step, 3);
  EXPECT_FALSE(run.wants(Act::kRelease));
  run.train(100, 3);
  EXPECT_EQ(run.the(Act::kRelease).vm, 0);
}

TEST(SupervisorOrders, KeepMachinesThatANewPlanHasAPlaceFor) {
  SupervisedRun run(simple_terms(2));
  run.begin();
  run.step(10, 1);
  run.supervisor.change_terms(simple_terms(3));
  run.tell(20, {.kind = Event::kTerms});
  EXPECT_EQ(run.all(Act::kLaunch).size(), 1U);
  run.tell(60, {.kind = Event::kVmUp, .vm = 2});
  EXPECT_EQ(run.the(Act::kTrain).vms, (std::vector<int>{0, 1, 2}));
}

// The acknowledged checkpoint stays where it is until it is stored elsewhere.
TEST(SupervisorOrders, KeepOldReceiversUntilTheNewOnesHaveACheckpoint) {
  RunTerms terms = simple_terms(1);
  terms.slots.push_back(receiver_slot());
  SupervisedRun run(terms);
  run.begin();
  run.step(20, 1, 20 * kSecond);
  terms.slots[1].type = "s";
  run.supervisor.change_terms(terms);
  run.tell(30, {.kind = Event::kTerms});
  EXPECT_EQ(run.all(Act::kLaunch).size(), 1U);
  EXPECT_FALSE(run.wants(Act::kRelease));
  ASSERT_TRUE(run.wants(Act::kTrain));  // The same machines, by the new plan.
  run.train(40, 1);
  EXPECT_FALSE(run.wants(Act::kSave));
  run.tell(60, {.kind = Event::kVmUp, .vm = 2});
  ASSERT_TRUE(run.wants(Act::kSave));
  EXPECT_FALSE(run.wants(Act::kRelease));
  run.save(80, 2);
  EXPECT_EQ(run.the(Act::kRelease).vm, 0);
}

TEST(SupervisorOrders, SaveBeforeTheyStop) {
  SupervisedRun run(simple_terms(2));
  run.begin();
  run.step(10, 1);
  run.tell(11, {.kind = Event::kStop});
  ASSERT_TRUE(run.wants(Act::kSave));
  run.step(20, 2);
  EXPECT_FALSE(run.supervisor.finished());
  run.save(25, 2);
  EXPECT_EQ(run.the(Act::kFinish).outcome, RunVerdict::kStopped);
}

TEST(SupervisorOrders, StopWithoutASaveThatFailsTwice) {
  SupervisedRun run(simple_terms(2));
  run.begin();
  run.step(10, 1);
  run.tell(11, {.kind = Event::kStop});
  run.tell(12, {.kind = Event::kSaveFailed});
  EXPECT_TRUE(run.wants(Act::kSave));
  run.tell(13, {.kind = Event::kSaveFailed});
  EXPECT_TRUE(run.supervisor.finished());
}

// The new plan has machines of another kind and 21 steps in total; before they are up the old
// workers, whose plan has 30 steps, have exceeded them.
TEST(SupervisorOrders, WorkersOfAnOlderPlanMayTrainMoreStepsThanTheNewOneHas) {
  RunTerms terms = simple_terms(1);
  terms.steps = 30;
  SupervisedRun run(terms);
  run.begin();
  run.step(10, 9);
  RunTerms fewer = simple_terms(2);
  for (RunSlot& slot : fewer.slots) slot.type = "b";
  fewer.steps = 21;
  run.supervisor.change_terms(fewer);
  run.tell(11, {.kind = RunEventKind::kTerms, .count = 2});
  EXPECT_TRUE(run.wants(RunActionKind::kLaunch));
  run.step(20, 25);
  EXPECT_EQ(run.supervisor.reached(), 25);
  // As far as this supervisor knows that is the last step.
  EXPECT_TRUE(run.wants(RunActionKind::kSave));
  run.step(30, 30);
  run.save(31, 30);
  EXPECT_TRUE(run.supervisor.finished());
  EXPECT_EQ(run.the(RunActionKind::kFinish).outcome, RunVerdict::kTrained);
  // A step beyond every plan is still impossible.
  SupervisedRun other(simple_terms(1));
  other.begin();
  other.step(10, 101);
  EXPECT_EQ(other.supervisor.reached(), 0);
}

/// Moves to a machine of another type after five steps on one machine; returns the new machine.
int move_to_another_type(SupervisedRun& run) {
  run.begin();
  run.step(10, 5);
  RunTerms others = simple_terms(1);
  others.slots[0].type = "b";
  run.supervisor.change_terms(others);
  run.tell(11, {.kind = RunEventKind::kTerms, .count = 2});
  const int newcomer = run.the(RunActionKind::kLaunch).vm;
  run.tell(20, {.kind = RunEventKind::kVmUp, .vm = newcomer});
  return newcomer;
}

// None of the new machines has the state: no step is trained after the checkpoint.
TEST(SupervisorOrders, AMoveToOtherMachinesHaltsWorkersAtItsSave) {
  SupervisedRun run(simple_terms(1));
  const int newcomer = move_to_another_type(run);
  ASSERT_TRUE(run.wants(RunActionKind::kSave));
  EXPECT_TRUE(run.the(RunActionKind::kSave).halt);
  run.save(22, 6);
  ASSERT_TRUE(run.wants(RunActionKind::kTrain));
  EXPECT_EQ(run.the(RunActionKind::kTrain).vms, std::vector<int>{newcomer});
  EXPECT_EQ(run.the(RunActionKind::kTrain).step, 6);
}

// The new machine is lost before the checkpoint is safe: another checkpoint lets the paused workers
// continue.
TEST(SupervisorOrders, WorkersThatHaltedForAMoveThatIsOffGoOn) {
  SupervisedRun run(simple_terms(1));
  const int newcomer = move_to_another_type(run);
  ASSERT_TRUE(run.the(RunActionKind::kSave).halt);
  run.tell(21, {.kind = RunEventKind::kVmLost, .vm = newcomer});
  run.save(22, 6);
  ASSERT_TRUE(run.wants(RunActionKind::kSave));
  EXPECT_FALSE(run.the(RunActionKind::kSave).halt);
}

}  // namespace
}  // namespace stint
