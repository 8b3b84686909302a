#include "simulate/spot_run.h"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

#include "risk/checkpoint_schedule.h"

namespace stint {
namespace {

// Ten hours, saved every two with a stall of 0.1 h and a transfer of 0.5 h.
SavedWork job() {
  return {.work = 10 * kHour,
          .save = {.stall = 0.1 * kHour, .transfer = 0.5 * kHour, .restore = {}},
          .schedule = {.interval = 2 * kHour}};
}

double hours(Seconds time) { return time.in(kHour); }

// Saves at 2, 4, 6 and 8 h of work; the one at 10 h would be of no use.
TEST(Train, TakesTheWorkAndItsSaves) {
  const Stretch stretch = train(job(), {}, kNever);
  EXPECT_TRUE(stretch.done);
  EXPECT_NEAR(hours(stretch.time), 10.4, 1e-9);
  EXPECT_EQ(stretch.end.saves, 4);
  EXPECT_NEAR(hours(stretch.end.stalled), 0.4, 1e-9);
  EXPECT_NEAR(hours(stretch.safe.work), 10, 1e-9);
}

// Work of 8.4 h leaves 0.4 h after the fourth save, which would not be safe before the end.
TEST(Train, BeginsNoSaveThatTheEndOvertakes) {
  SavedWork shorter = job();
  shorter.work = 8.4 * kHour;
  EXPECT_EQ(train(shorter, {}, kNever).end.saves, 3);
}

// The first save begins at 2 h, ends at 2.1 h and is safe at 2.6 h.
TEST(Train, KeepsOnlyWhatIsSafe) {
  const Stretch early = train(job(), {}, 2.5 * kHour);
  EXPECT_NEAR(hours(early.end.work), 2.4, 1e-9);
  EXPECT_NEAR(hours(early.safe.work), 0, 1e-9);
  const Stretch late = train(job(), {}, 2.7 * kHour);
  EXPECT_NEAR(hours(late.safe.work), 2, 1e-9);
  EXPECT_NEAR(hours(late.safe.stalled), 0.1, 1e-9);
  EXPECT_FALSE(late.done);
  // It goes on from there to the second save, 1.9 h after the start if none was in between.
  const Stretch next = train(job(), late.safe, 2.6 * kHour);
  EXPECT_NEAR(hours(next.safe.work), 4, 1e-9);
}

// Interrupted in the middle of the stall, with notice: the rest of it follows.
TEST(Train, EndsAStallThatWasInterrupted) {
  const Stretch stretch = train(job(), {}, 2.04 * kHour);
  EXPECT_NEAR(hours(stretch.end.stall_left), 0.06, 1e-9);
  const Stretch rest = train(job(), stretch.end, kNever);
  EXPECT_NEAR(hours(stretch.time + rest.time), 10.4, 1e-9);
}

// By time since the start: saves at 1 h and 3 h, then every 2 h.
TEST(Train, SavesByTheTimeSinceTheStart) {
  SavedWork by_time = job();
  by_time.schedule = {.begins = {1 * kHour, 3 * kHour}};
  const Stretch stretch = train(by_time, {}, 5.7 * kHour);
  EXPECT_EQ(stretch.end.saves, 3);
  EXPECT_NEAR(hours(stretch.safe.work), 4.8, 1e-9);  // Saved at 5 h, after two stalls.
  EXPECT_NEAR(hours(stretch.end.work), 5.4, 1e-9);
}

TEST(Train, WithoutAScheduleNeverSaves) {
  SavedWork bare = job();
  bare.schedule = {};
  const Stretch stretch = train(bare, {}, 9 * kHour);
  EXPECT_EQ(stretch.end.saves, 0);
  EXPECT_EQ(stretch.safe.work, Seconds());
}

constexpr int kRuns = 20000;

// Eight spot machines at a dollar per hour, with this loss rate per hour each.
RunSetup setup_of(double losses_per_hour, Seconds interval) {
  return {.groups = {{.pool = {.count = 8,
                               .hazard = Hazard::constant(losses_per_hour / kHour),
                               .wait = {.at_once = 0.6, .otherwise = {20 * kMinute, 10 * kMinute}}},
                      .price = 1 * kDollar / kHour,
                      .price_on_demand = 3 * kDollar / kHour}},
          .job = {.work = 24 * kHour,
                  .save = {.stall = 30 * kSecond, .transfer = {}, .restore = 1 * kMinute},
                  .schedule = {.interval = interval}},
          .exposed_communication = 0.25,
          .start_up = {5 * kMinute, 2 * kMinute},
          .anchors = 0.5 * kDollar / kHour,
          .storage = 0.01 * kDollar / kHour};
}

// The same run for the closed form. A wait of 20 ± 10 min with a chance of 0.4: mean 8 min, second
// moment 0.4 · (400 + 100) = 200 min²; the start-up adds 5 ± 2 min and the restore one minute.
SpotRun closed_form(const RunSetup& setup) {
  const RunGroup& group = setup.groups[0];
  return {.work = setup.job.work,
          .loss_rate = group.pool.count * group.pool.hazard.rate(Seconds()),
          .without_notice = setup.without_notice,
          .stall = setup.job.save.stall,
          .transfer = setup.job.save.transfer,
          .recovery = {14 * kMinute, std::sqrt(200.0 - 64 + 4) * kMinute},
          .start_up = setup.start_up};
}

void expect_equal(const RunSetup& setup, std::uint64_t seed) {
  SCOPED_TRACE(seed);
  const SpotTime expected = spot_time(closed_form(setup), setup.job.schedule.interval);
  const auto outcomes = simulate_runs(setup, kRuns, seed);
  const RunSummary runs = summary_of(outcomes, {});
  EXPECT_EQ(runs.finished, 1);
  EXPECT_NEAR((runs.time.mean - expected.mean) / runs.time.standard_error, 0, 3);
  // The deviation of a sample of this size errs by about a hundredth.
  const Seconds deviation = std::sqrt(double{kRuns}) * runs.time.standard_error;
  EXPECT_NEAR(deviation / expected.deviation, 1, 0.04);
  EXPECT_NEAR(runs.losses / expected.losses, 1, 0.03);
  const double rate = 8 / kHour.in(kSecond);  // Dollars per second, without anchors.
  EXPECT_NEAR(runs.bill.saving.in(kDollar), rate * expected.saving.in(kSecond), 1e-6);
  EXPECT_NEAR(runs.bill.work_redone.in(kDollar) / (rate * expected.redone.in(kSecond)), 1, 0.03);
  EXPECT_NEAR(expected.probability_within(runs.time.p10), 0.1, 0.05);
  EXPECT_NEAR(expected.probability_within(runs.time.p50), 0.5, 0.05);
  EXPECT_NEAR(expected.probability_within(runs.time.p90), 0.9, 0.02);
}

TEST(SpotRun, TakesAsLongAsTheClosedFormSays) {
  for (const double losses : {0.005, 0.05, 0.2}) {
    RunSetup setup = setup_of(losses, 45 * kMinute);
    setup.lost_while_waiting = false;
    expect_equal(setup, 1);
  }
}

TEST(SpotRun, TakesAsLongAsTheClosedFormSaysForSavesBesideTraining) {
  RunSetup setup = setup_of(0.1, 30 * kMinute);
  setup.lost_while_waiting = false;
  setup.job.save.transfer = 20 * kMinute;
  expect_equal(setup, 2);
}

TEST(SpotRun, TakesAsLongAsTheClosedFormSaysForLossesWithNotice) {
  RunSetup setup = setup_of(0.1, 2 * kHour);
  setup.lost_while_waiting = false;
  setup.without_notice = 0.3;
  expect_equal(setup, 3);
  setup.job.save.transfer = 5 * kMinute;  // To first order only.
  expect_equal(setup, 4);
}

// One machine after the other, each saved at the ages that the schedule gives: over 400 hours the
// share of the time that is wasted is that of one life.
TEST(SpotRun, WastesAsMuchAsTheScheduleByAgeExpects) {
  const Hazard bathtub({{Seconds(), 1 / kHour}, {1 * kHour, 0.05 / kHour}, {6 * kHour, 1 / kHour}});
  RunSetup setup = setup_of(0, kNever);
  setup.groups[0].pool = {.count = 1, .hazard = bathtub};
  setup.job.work = 400 * kHour;
  setup.job.save = {.stall = 3 * kMinute, .transfer = 5 * kMinute, .restore = {}};
  setup.without_notice = 0.8;
  const auto plan =
      plan_saves({.hazard = bathtub, .without_notice = 0.8, .horizon = 30 * kHour}, setup.job.save);
  ASSERT_TRUE(plan.ok());
  setup.job.schedule = {.begins = plan->begins};
  setup.lost_while_waiting = false;
  const Bill bill = summary_of(simulate_runs(setup, 300, 8), {}).bill;
  const Dollars wasted = bill.saving + bill.work_redone;
  const double share = wasted / (wasted + bill.compute + bill.exposed_communication);
  EXPECT_NEAR(share / plan->waste.fraction(), 1, 0.02);
}

// 24 h with a save of 30 s after each of the first 23.
TEST(SpotRun, WithoutLossesTakesTheWorkAndItsSaves) {
  RunSetup setup = setup_of(0, 1 * kHour);
  setup.start_up = {5 * kMinute, Seconds()};
  const RunOutcome outcome = simulate_run(setup, Random(1));
  const double hours = 24 + 23 * 30 / 3600.0 + 5 / 60.0;
  EXPECT_NEAR(outcome.time.in(kHour), hours, 1e-9);
  EXPECT_EQ(outcome.losses, 0);
  EXPECT_NEAR(outcome.bill.compute.in(kDollar), 8 * 24 * 0.75, 1e-9);
  EXPECT_NEAR(outcome.bill.exposed_communication.in(kDollar), 8 * 24 * 0.25, 1e-9);
  EXPECT_NEAR(outcome.bill.saving.in(kDollar), 8 * 23 * 30 / 3600.0, 1e-9);
  EXPECT_NEAR(outcome.bill.set_up.in(kDollar), 8 * 5 / 60.0, 1e-9);
  EXPECT_NEAR(outcome.bill.anchors.in(kDollar), 0.5 * hours, 1e-9);
  EXPECT_NEAR(outcome.bill.storage.in(kDollar), 0.01 * hours, 1e-9);
  EXPECT_EQ(outcome.bill.work_redone, Dollars());
  EXPECT_EQ(outcome.bill.idle, Dollars());
}

// Whatever happens, eight machines are paid for all the time but that in which some are missing.
TEST(SpotRun, PaysEveryPartOnce) {
  RunSetup setup = setup_of(0.1, 30 * kMinute);
  setup.groups[0].pool.wait = {};  // Machines are available at once: none is ever missing.
  setup.groups[0].pool.shock = {.share = 0.3, .chance = 0.5};
  setup.without_notice = 0.5;
  for (const RunOutcome& outcome : simulate_runs(setup, 200, 7)) {
    EXPECT_NEAR(total(outcome.bill).in(kDollar), 8.51 * outcome.time.in(kHour), 1e-6);
    EXPECT_GE(outcome.machines_lost, outcome.losses);
  }
}

TEST(SpotRun, RepeatsForTheSameSeed) {
  const RunSetup setup = setup_of(0.2, 30 * kMinute);
  const RunOutcome one = simulate_run(setup, Random(3));
  const RunOutcome same = simulate_run(setup, Random(3));
  const RunOutcome other = simulate_run(setup, Random(4));
  EXPECT_EQ(one.time, same.time);
  EXPECT_EQ(total(one.bill), total(same.bill));
  EXPECT_NE(one.time, other.time);
}

// Losses while the gang waits make it wait longer.
TEST(SpotRun, IsSlowerWhereMachinesAreLostWhileOthersWait) {
  RunSetup setup = setup_of(0.2, 30 * kMinute);
  const Seconds risky = summary_of(simulate_runs(setup, 2000, 5), {}).time.mean;
  setup.lost_while_waiting = false;
  EXPECT_GT(risky, 1.05 * summary_of(simulate_runs(setup, 2000, 5), {}).time.mean);
}

// With no spot machine ever coming back, each loss leaves one more on demand after ten minutes.
TEST(SpotRun, BuysOnDemandWhenItsPatienceIsOver) {
  RunSetup setup = setup_of(0.2, 30 * kMinute);
  setup.groups[0].pool.wait = {.at_once = 0, .otherwise = {1000 * kHour, Seconds()}};
  setup.patience = 10 * kMinute;
  for (const RunOutcome& outcome : simulate_runs(setup, 100, 6)) {
    EXPECT_TRUE(outcome.finished);
    EXPECT_LE(outcome.machines_lost, 8);
  }
  setup.patience = {};
  const RunSummary forlorn = summary_of(simulate_runs(setup, 100, 6), 48 * kHour);
  EXPECT_LT(forlorn.finished, 0.01);
  EXPECT_EQ(forlorn.p_deadline, forlorn.finished);
}

TEST(SpotRun, NeverLosesMachinesOnDemand) {
  RunSetup setup = setup_of(5, 30 * kMinute);
  setup.groups[0].market = Market::kOnDemand;
  EXPECT_EQ(simulate_run(setup, Random(1)).losses, 0);
}

// Three machines for an hour without saves. Ticks of half an hour: 3, 2, 2, 3, 3, 3. Half an hour
// is lost with the third machine, the two others wait an hour, all start again at 1.5 h and are
// done at 2.5 h. At a dollar per hour: redone 1.5, idle 2, compute 3.
TEST(SpotReplay, FollowsTheTrace) {
  RunSetup setup = setup_of(0, kNever);
  setup.groups[0].pool.count = 3;
  setup.job.work = 1 * kHour;
  setup.job.save.restore = {};
  setup.start_up = {};
  setup.exposed_communication = 0;
  const AvailabilityTrace trace{.name = "", .gap = 30 * kMinute, .counts = {3, 2, 2, 3, 3, 3}};
  const RunOutcome outcome = replay_run(setup, trace, Seconds(), Random(1));
  EXPECT_NEAR(outcome.time.in(kHour), 2.5, 1e-9);
  EXPECT_EQ(outcome.losses, 1);
  EXPECT_EQ(outcome.machines_lost, 1);
  EXPECT_NEAR(outcome.bill.work_redone.in(kDollar), 1.5, 1e-9);
  EXPECT_NEAR(outcome.bill.idle.in(kDollar), 2, 1e-9);
  EXPECT_NEAR(outcome.bill.compute.in(kDollar), 3, 1e-9);
  // With a notice nothing is redone.
  setup.without_notice = 0;
  EXPECT_NEAR(replay_run(setup, trace, Seconds(), Random(1)).time.in(kHour), 2, 1e-9);
  // A machine on demand after ten minutes: 30 + 10 + 60 min.
  setup.without_notice = 1;
  setup.patience = 10 * kMinute;
  EXPECT_NEAR(replay_run(setup, trace, Seconds(), Random(1)).time.in(kMinute), 100, 1e-9);
}

// A trace that never has enough is given up, after twenty times the work.
TEST(SpotReplay, GivesUpWhereThereAreNeverEnough) {
  RunSetup setup = setup_of(0, kNever);
  const AvailabilityTrace trace{.name = "", .gap = 30 * kMinute, .counts = {7, 6, 5}};
  const auto outcomes = replay_runs(setup, trace, 5, 1);
  for (const RunOutcome& outcome : outcomes) {
    EXPECT_FALSE(outcome.finished);
    EXPECT_GE(outcome.time, 480 * kHour);
    EXPECT_TRUE(std::isfinite(total(outcome.bill).in(kDollar)));
  }
}

// The median of 1, …, 5 is 3, a tenth of the way from 1 to 5 is 1.4, the mean's standard error is
// √2/√5.
TEST(RunSummary, TellsMeanAndQuantiles) {
  std::vector<RunOutcome> outcomes;
  for (int i = 1; i <= 5; ++i) {
    outcomes.push_back({.time = i * kSecond, .finished = i != 2});
    outcomes.back().bill.idle = i * kDollar;
  }
  const RunSummary summary = summary_of(outcomes, 3 * kSecond);
  EXPECT_DOUBLE_EQ(summary.time.p50.in(kSecond), 3);
  EXPECT_DOUBLE_EQ(summary.time.p10.in(kSecond), 1.4);
  EXPECT_DOUBLE_EQ(summary.cost.p90.in(kDollar), 4.6);
  EXPECT_DOUBLE_EQ(summary.time.standard_error.in(kSecond), std::sqrt(0.4));
  EXPECT_DOUBLE_EQ(summary.bill.idle.in(kDollar), 3);
  EXPECT_NEAR(*summary.p_deadline, 0.4, 1e-12);  // The second was not finished.
}

}  // namespace

}  // namespace stint
