#include "supervise/supervisor.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "supervise/supervisor_fixture.h"

namespace stint {
namespace {

using Event = RunEventKind;
using Act = RunActionKind;

TEST(Supervisor, LaunchesTrainsSavesAndFinishes) {
  SupervisedRun run(simple_terms(2));
  run.tick(0);
  ASSERT_EQ(run.all(Act::kLaunch).size(), 2U);
  EXPECT_EQ(run.the(Act::kLaunch).market, Market::kSpot);
  run.tell(0, {.kind = Event::kVmUp, .vm = 0});
  EXPECT_TRUE(run.actions.empty());  // The other machine is about to be up.
  run.tell(0, {.kind = Event::kVmUp, .vm = 1});
  EXPECT_EQ(run.the(Act::kTrain).vms, (std::vector<int>{0, 1}));
  run.train(10, 0);
  run.step(100, 100);
  EXPECT_EQ(run.the(Act::kSave).step, 100);
  run.save(110, 100);
  EXPECT_EQ(run.all(Act::kRelease).size(), 2U);
  EXPECT_EQ(run.actions.back().kind, Act::kFinish);
  EXPECT_EQ(run.actions.back().outcome, RunVerdict::kTrained);
  EXPECT_EQ(run.actions.back().reason, "all 100 steps are trained and saved");
  EXPECT_TRUE(run.supervisor.finished());
}

// Two machines at 0.0001 USD/s for 100 s, of which one is finally billed at 0.02 USD.
TEST(Supervisor, CountsWhatProvidersBill) {
  SupervisedRun run(simple_terms(2));
  run.begin();
  run.tick(100);
  EXPECT_NEAR(run.supervisor.cost().in(kDollar), 0.02, 1e-12);
  run.tell(100, {.kind = Event::kVmLost, .vm = 0});
  run.tell(100, {.kind = Event::kBilled, .vm = 0, .cost = 0.02 * kDollar});
  EXPECT_NEAR(run.supervisor.cost().in(kDollar), 0.03, 1e-12);
}

TEST(Supervisor, SavesAndReplacesOnANotice) {
  SupervisedRun run(simple_terms(2));
  run.begin();
  run.step(10, 1);
  run.tell(12, {.kind = Event::kNotice, .vm = 1, .duration = 120 * kSecond});
  EXPECT_EQ(run.the(Act::kSave).step, 1);
  EXPECT_EQ(run.the(Act::kLaunch).slot, 1);
  EXPECT_FALSE(run.wants(Act::kTrain));
  EXPECT_EQ(
      run.said(),
      "vm2 will be interrupted in 2 min; a spot machine is requested; checkpoint after step 1.");
  run.tell(13, {.kind = Event::kNotice, .vm = 1, .duration = 120 * kSecond});
  EXPECT_TRUE(run.actions.empty());
  run.save(20, 3);
  run.tell(60, {.kind = Event::kVmUp, .vm = 2});
  EXPECT_EQ(run.the(Act::kTrain).vms, (std::vector<int>{0, 2}));
  EXPECT_FALSE(run.wants(Act::kRelease));
  run.train(70, 5);  // The other machine is needed until now.
  EXPECT_EQ(run.the(Act::kRelease).vm, 1);
}

// Two steps of 10 s and the checkpoint of 10 s do not fit into 25 s.
TEST(Supervisor, DoesNotSaveWhatWouldNotBeSafeInTime) {
  SupervisedRun run(simple_terms(2));
  run.begin();
  run.step(10, 1);
  run.tell(12, {.kind = Event::kNotice, .vm = 1, .duration = 25 * kSecond});
  EXPECT_FALSE(run.wants(Act::kSave));
  EXPECT_TRUE(run.wants(Act::kLaunch));
}

TEST(Supervisor, GoesOnWithSurvivors) {
  SupervisedRun run(simple_terms(2));
  run.begin();
  run.step(10, 1);
  run.tell(12, {.kind = Event::kVmLost, .vm = 0});
  EXPECT_EQ(run.the(Act::kTrain).vms, (std::vector<int>{1}));
  EXPECT_EQ(run.the(Act::kTrain).attempt, 2);
  EXPECT_EQ(run.supervisor.reached(), 1);
  EXPECT_EQ(run.said(), "vm1 is lost; a spot machine is requested; 1 machine continues.");
  run.train(20, 1);
  run.tell(30, {.kind = Event::kVmLost, .vm = 1});
  EXPECT_EQ(run.supervisor.reached(), 0);  // No machine has the state, and nothing is saved.
}

// With 10 s to regroup the workers pause for 0, 10, 20 and 40 s. A step that is not saved is no
// progress: counting steps led to 65 restarts in 75 s.
TEST(Supervisor, StartsWorkersAgainLaterEachTimeAndGivesUpWithoutSavedProgress) {
  SupervisedRun run(simple_terms(2));
  run.begin();
  const char* const kWhen[] = {"", " in 10 s", " in 20 s", " in 40 s"};
  double now = 0;
  for (int i = 0; i < 5; ++i) {
    const int attempt = run.supervisor.attempt()->number;
    run.step(now += 1, 1);
    run.tell(now, {.kind = Event::kWorkerLost, .vm = 0, .attempt = attempt, .code = 3});
    if (i == 4) break;
    run.tell(now, {.kind = Event::kWorkerLost,
                   .vm = 1,
                   .attempt = attempt,
                   .code = 3,
                   .reason = "out of memory"});
    EXPECT_TRUE(run.actions.empty());  // The event belongs to an earlier attempt.
    now += i == 0 ? 0 : 10 * (1 << (i - 1));
    run.tick(now - 0.1);
    if (i > 0) EXPECT_FALSE(run.wants(Act::kTrain)) << kWhen[i];
    run.tick(now);
    EXPECT_TRUE(run.supervisor.attempt()) << kWhen[i];
    run.train(now, 0);
  }
  EXPECT_EQ(run.actions.back().outcome, RunVerdict::kGaveUp);
  EXPECT_EQ(run.actions.back().reason,
            "workers failed 5 times without newly saved progress, last: the worker on vm1 exited "
            "with code 3");
}

TEST(Supervisor, ShowsTheLastLinesOfAWorkerThatFailed) {
  SupervisedRun run(simple_terms(2));
  run.begin();
  const int attempt = run.supervisor.attempt()->number;
  run.tell(1, {.kind = Event::kWorkerLost,
               .vm = 1,
               .attempt = attempt,
               .code = 1,
               .reason = "  ValueError: bad\nAll of its output: stint logs a --rank 1"});
  EXPECT_EQ(run.said(),
            "The worker on vm2 exited with code 1; the workers restart.\n  ValueError: bad\n"
            "All of its output: stint logs a --rank 1");
}

TEST(Supervisor, SavedProgressForgivesFailures) {
  SupervisedRun run(simple_terms(1));
  run.begin();
  double now = 0;
  for (int i = 1; i <= 12; ++i) {
    const int attempt = run.supervisor.attempt()->number;
    run.tell(now += 1, {.kind = Event::kSaved, .step = i});
    run.tell(now += 1, {.kind = Event::kWorkerLost, .vm = 0, .attempt = attempt, .code = 1});
    // There is no pause: it is the first failure since then.
    ASSERT_TRUE(run.wants(Act::kTrain)) << i;
    run.train(now, i);
  }
}

TEST(Supervisor, AsksForAPlanWhenSpeedDriftsAndNotAgainForTheSame) {
  SupervisedRun run(simple_terms(2));
  run.begin();
  // The first two do not count.
  for (int i = 1; i <= 10; ++i) run.step(13 * i, i, 13 * kSecond);
  EXPECT_FALSE(run.wants(Act::kReplan));
  run.step(13 * 11, 11, 13 * kSecond);
  EXPECT_EQ(run.the(Act::kReplan).reason, "steps take 13 s instead of 10 s");
  run.step(13 * 12, 12, 20 * kSecond);
  EXPECT_FALSE(run.wants(Act::kReplan));
}

TEST(Supervisor, AsksForAPlanWhenPricesMoveByMoreThanATenth) {
  SupervisedRun run(simple_terms(2));
  run.begin();
  run.tell(10, {.kind = Event::kPrices, .spot = 0.39 * kDollar / kHour});
  EXPECT_FALSE(run.wants(Act::kReplan));
  run.tell(20, {.kind = Event::kPrices, .spot = 0.54 * kDollar / kHour});
  EXPECT_EQ(run.the(Act::kReplan).reason, "spot machines cost 1.50 times the price of the plan");
  run.tell(30, {.kind = Event::kPrices, .spot = 0.55 * kDollar / kHour});
  EXPECT_FALSE(run.wants(Act::kReplan));
  run.tell(25, {.kind = Event::kPrices, .spot = 9 * kDollar / kHour});  // An outdated report.
  EXPECT_EQ(run.supervisor.terms().slots[0].spot, 0.55 * kDollar / kHour);
  run.tell(40, {.kind = Event::kPrices, .type = "b", .spot = 9 * kDollar / kHour});
  EXPECT_EQ(run.supervisor.terms().slots[0].spot, 0.55 * kDollar / kHour);
}

TEST(Supervisor, SavesOnlyWhileReceiversAreThereAndAgainWhenOneWasReplaced) {
  RunTerms terms = simple_terms(1);
  terms.slots.push_back(receiver_slot());
  SupervisedRun run(terms);
  run.tick(0);
  EXPECT_EQ(run.the(Act::kLaunch).slot, 1);  // First.
  EXPECT_EQ(run.the(Act::kLaunch).market, Market::kOnDemand);
  run.begin();
  EXPECT_EQ(run.supervisor.attempt()->vms, (std::vector<int>{1}));
  run.step(700, 35);
  ASSERT_TRUE(run.wants(Act::kSave));
  run.save(710, 36);
  EXPECT_EQ(run.supervisor.saved(), 36);
  run.tell(720, {.kind = Event::kVmLost, .vm = 0});
  EXPECT_EQ(run.the(Act::kLaunch).slot, 1);
  run.step(740, 37);
  run.tell(745, {.kind = Event::kNotice, .vm = 1, .duration = 500 * kSecond});
  EXPECT_FALSE(run.wants(Act::kSave));
  EXPECT_TRUE(run.supervisor.receivers().empty());
  run.tell(780, {.kind = Event::kVmUp, .vm = 2});
  EXPECT_TRUE(run.wants(Act::kSave));
  EXPECT_EQ(run.supervisor.receivers(), (std::vector<int>{2}));
}

TEST(Supervisor, BelievesThatACheckpointIsGoneOnlyWhenItsReceiverIs) {
  RunTerms terms = simple_terms(1);
  terms.slots.push_back(receiver_slot());
  for (const bool receiver_lost : {false, true}) {
    SupervisedRun run(terms);
    run.begin();
    run.step(700, 35);
    run.all(Act::kSave);
    run.save(710, 36);
    if (receiver_lost) run.tell(720, {.kind = Event::kVmLost, .vm = 0});
    run.tell(720, {.kind = Event::kVmLost, .vm = 1});
    run.tell(760, {.kind = Event::kVmUp, .vm = 2});
    run.tell(760, {.kind = Event::kVmUp, .vm = 3});
    run.train(780, 12);
    EXPECT_EQ(run.supervisor.saved(), receiver_lost ? 12 : 36);
  }
}

TEST(Supervisor, GivesBackMachinesThatComeTooLate) {
  SupervisedRun run(simple_terms(1));
  run.tick(0);
  run.tell(1, {.kind = Event::kStop});
  EXPECT_EQ(run.the(Act::kRelease).vm, 0);
  EXPECT_EQ(run.the(Act::kFinish).outcome, RunVerdict::kStopped);
  run.tell(2, {.kind = Event::kVmUp, .vm = 0});
  EXPECT_EQ(run.the(Act::kRelease).vm, 0);
}

TEST(Supervisor, TakesNoHarmFromNonsense) {
  SupervisedRun run(simple_terms(2));
  run.begin();
  run.step(10, 1);
  const double infinite = std::numeric_limits<double>::infinity();
  for (const auto& name : names_of(Event{})) {
    if (name.first == Event::kStop || name.first == Event::kResumed) continue;
    for (const int number : {-1, 1000000}) {
      run.tell(10, {.kind = name.first,
                    .vm = number,
                    .attempt = number,
                    .step = number,
                    .duration = -1 * kSecond,
                    .count = -1,
                    .spot = std::nan("") * kDollar / kHour,
                    .cost = -infinite * kDollar});
      EXPECT_TRUE(run.actions.empty()) << name.second;
    }
  }
  run.tell(infinite, {});
  EXPECT_EQ(run.supervisor.now(), 10 * kSecond);
  EXPECT_EQ(run.supervisor.reached(), 1);
}

TEST(Supervisor, BelievesThatAPlainScriptIsTrainedWhenItSaysSo) {
  SupervisedRun run(simple_terms(2));
  run.begin();
  run.tell(900, {.kind = Event::kWorkersDone, .attempt = 1});
  EXPECT_EQ(run.the(Act::kFinish).outcome, RunVerdict::kTrained);
}

TEST(Supervisor, BeginsAgainFromWhatIsSavedWhenANewProcessTakesOver) {
  SupervisedRun run(simple_terms(2));
  run.begin();
  run.step(10, 1);
  run.tell(11, {.kind = Event::kStop});
  run.tell(12, {.kind = Event::kResumed, .step = 0});
  EXPECT_FALSE(run.supervisor.finished());
  EXPECT_EQ(run.supervisor.reached(), 0);
  EXPECT_EQ(run.supervisor.saved(), 0);
}

// A laptop is suspended for a day in the middle of a step, while a checkpoint is on its way. Two
// machines at 0.0001 USD/s stand for 86,430 s.
TEST(Supervisor, TimeInWhichNobodyListenedCountsForTheCostButNotAgainstWorkers) {
  SupervisedRun run(simple_terms(2));
  run.begin();
  run.step(10, 1);
  run.tell(12, {.kind = Event::kNotice, .vm = 1, .duration = 120 * kSecond});
  ASSERT_TRUE(run.wants(Act::kSave));
  ASSERT_TRUE(run.wants(Act::kLaunch));  // Of the successor, which is not up yet.
  run.tell(86430, {.kind = Event::kSlept, .duration = 86417 * kSecond});
  EXPECT_FALSE(run.wants(Act::kFinish));
  EXPECT_FALSE(run.supervisor.finished());
  EXPECT_EQ(run.supervisor.vms()[2].phase, RunVmPhase::kAsked);
  EXPECT_NEAR(run.supervisor.cost().in(kDollar), 17.286, 1e-9);
  run.save(86431, 3);
  EXPECT_EQ(run.supervisor.saved(), 3);
  run.step(86440, 4);
  run.tick(86441);
  EXPECT_FALSE(run.supervisor.finished());
  // Without that event the time counts.
  run.tick(86441 + 86400);
  EXPECT_TRUE(run.wants(Act::kFinish) || run.supervisor.attempt()->broken ||
              run.wants(Act::kTrain));
}

TEST(Supervisor, TheDeadlinePassesWhileNobodyListens) {
  RunTerms terms = simple_terms(2);
  terms.deadline = 1 * kHour;
  SupervisedRun run(terms);
  run.begin();
  run.step(10, 1);
  run.tell(4000, {.kind = Event::kSlept, .duration = 3985 * kSecond});
  EXPECT_TRUE(run.supervisor.late());
  EXPECT_EQ(run.said(),
            "The deadline has passed; training continues with the machines of the plan.");
  EXPECT_FALSE(run.wants(Act::kFinish));
}

// An event that lies about its duration must not let the supervisor wait for ever.
TEST(Supervisor, NothingIsExcusedBeyondNow) {
  SupervisedRun run(simple_terms(2));
  run.begin();
  run.step(10, 1);
  run.tell(20, {.kind = Event::kSlept, .duration = 1e9 * kSecond});
  run.tick(20 + 24 * 3600 + 1);
  EXPECT_TRUE(run.wants(Act::kFinish) || run.wants(Act::kTrain));
}

}  // namespace
}  // namespace stint
