#include "supervise/rehearsal_run.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

RunTerms one_machine() {
  RunTerms terms;
  terms.slots.push_back(
      {.market = Market::kSpot, .spot = 1 * kDollar / kHour, .on_demand = 3 * kDollar / kHour});
  terms.steps = 50;
  terms.step_time = [](std::span<const int> /*slots*/) { return 10 * kSecond; };
  return terms;
}

TEST(RehearsalRun, IsTheSameForTheSameSeed) {
  const RehearsalWorld world{.pools = {{.hazard = Hazard::constant(1 / (5 * kMinute))}},
                             .slowness_deviation = 0.3};
  const RehearsedRun one = rehearse_once(one_machine(), world, {}, 3, nullptr);
  const RehearsedRun two = rehearse_once(one_machine(), world, {}, 3, nullptr);
  const RehearsedRun other = rehearse_once(one_machine(), world, {}, 4, nullptr);
  EXPECT_EQ(one.time, two.time);
  EXPECT_EQ(one.cost, two.cost);
  EXPECT_NE(one.time, other.time);
}

// Up at 40 s, training at 60 s, no spot capacity from 300 s to 1000 s: the 24 steps that were done
// are lost, because none was saved. From 1000 s on 60 s of start, 500 s of steps and 10 s for the
// checkpoint: 1570 s. The paid times are 260 s and 530 s.
TEST(RehearsalRun, DoesAgainWhatWasLost) {
  const RehearsalWorld world{
      .capacity = {{.at = 300 * kSecond, .machines = 0}, {.at = 1000 * kSecond, .machines = 1}}};
  const RehearsedRun run = rehearse_once(one_machine(), world, {}, 1, nullptr);
  EXPECT_EQ(run.outcome, RunVerdict::kTrained);
  EXPECT_EQ(run.losses, 1);
  EXPECT_NEAR(run.time.in(kSecond), 1570, 1e-6);
  EXPECT_NEAR(run.cost.in(kDollar), 790.0 / 3600, 1e-9);
  EXPECT_NEAR(run.parts.redone.in(kDollar), 240.0 / 3600, 1e-9);
  EXPECT_NEAR(run.parts.starting.in(kDollar), 40.0 / 3600, 1e-9);
}

// A script that takes no orders: up at 40 s, training at 60 s; no spot capacity from 300 s to 1000
// s. It saves every 10 steps: 20 of 24 steps count, and 30 are left: 1000 + 60 + 300 s.
TEST(RehearsalRun, APlainScriptContinuesFromItsOwnCheckpoint) {
  const RehearsalWorld world{
      .capacity = {{.at = 300 * kSecond, .machines = 0}, {.at = 1000 * kSecond, .machines = 1}}};
  const RehearsedRun run =
      rehearse_once(one_machine(), world, {.plain = true, .saves_every = 10}, 1, nullptr);
  EXPECT_EQ(run.outcome, RunVerdict::kTrained);
  EXPECT_NEAR(run.time.in(kSecond), 1360, 1e-6);
  const RehearsedRun without = rehearse_once(one_machine(), world, {.plain = true}, 1, nullptr);
  EXPECT_NEAR(without.time.in(kSecond), 1560, 1e-6);
  EXPECT_NEAR(without.parts.redone.in(kDollar), 240.0 / 3600, 1e-9);
}

// 500 s of work and a loss every 20 s: the script never finishes.
TEST(RehearsalRun, APlainScriptThatNeverGetsToItsEndIsGivenUp) {
  const RehearsalWorld world{.pools = {{.hazard = Hazard::constant(1 / (20 * kSecond))}}};
  const RehearsedRun run = rehearse_once(one_machine(), world, {.plain = true}, 1, nullptr);
  EXPECT_EQ(run.outcome, RunVerdict::kGaveUp);
  EXPECT_NEAR(run.time.in(kSecond), 20 * 560, 200);
}

// 30 of 50 steps are done, 10 of them unsaved; without a loss 20 are left.
TEST(RehearsalRun, APlainScriptThatTrainsKeepsWhatItHasNotSaved) {
  const RunSoFar so_far{.steps = 20,
                        .machines = {{.slot = 0, .market = Market::kSpot}},
                        .plain = true,
                        .unsaved = 10};
  const RehearsedRun run = rehearse_once(one_machine(), {.regroup = {}}, so_far, 1, nullptr);
  EXPECT_NEAR(run.time.in(kSecond), 200, 15);
}

// As in DoesAgainWhatWasLost, but the machine that spot does not have comes on demand: requested at
// 300 s, up at 340 s, training at 360 s. 500 s of steps and 10 s for the checkpoint end at 870 s,
// and 530 s are paid at 3 USD/h.
TEST(RehearsalRun, FillsUpOnDemandWhileSpotHasNone) {
  const RehearsalWorld world{
      .capacity = {{.at = 300 * kSecond, .machines = 0}, {.at = 5000 * kSecond, .machines = 1}}};
  RunTerms terms = one_machine();
  terms.fills_up = true;
  const RehearsedRun run = rehearse_once(terms, world, {}, 1, nullptr);
  EXPECT_EQ(run.outcome, RunVerdict::kTrained);
  EXPECT_NEAR(run.time.in(kSecond), 870, 1e-6);
  EXPECT_NEAR(run.cost.in(kDollar), (260 + 3 * 530) / 3600.0, 1e-9);
}

// When spot has a machine again at 400 s, it takes over: it is up at 440 s, while the other trains
// from 360 s on; its state is saved before.
TEST(RehearsalRun, ReturnsToSpot) {
  const RehearsalWorld world{
      .capacity = {{.at = 300 * kSecond, .machines = 0}, {.at = 400 * kSecond, .machines = 1}}};
  RunTerms terms = one_machine();
  terms.fills_up = true;
  const RehearsedRun run = rehearse_once(terms, world, {}, 1, nullptr);
  EXPECT_EQ(run.outcome, RunVerdict::kTrained);
  EXPECT_EQ(run.losses, 1);
  EXPECT_LT(run.time.in(kSecond), 960);
  EXPECT_LT(run.cost.in(kDollar), (260 + 3 * 200 + 500) / 3600.0);
}

// Up at 40 s, done at 570 s: 270 s at 1 USD/h, and 260 s at twice that from 310 s on.
TEST(RehearsalRun, PaysThePriceOfTheMoment) {
  const RehearsalWorld world{.prices = {{.at = 310 * kSecond, .spot = 2 * kDollar / kHour}}};
  const RehearsedRun run = rehearse_once(one_machine(), world, {}, 1, nullptr);
  EXPECT_NEAR(run.time.in(kSecond), 570, 1e-6);
  EXPECT_NEAR(run.cost.in(kDollar), (270 + 2 * 260) / 3600.0, 1e-9);
}

// Two machines of which one is lost at 300 s and back at 1000 s. The one that is left keeps the
// state of 24 steps, and nothing is redone; where each has a half of it, all is.
TEST(RehearsalRun, ASplitStateIsLostWithAnyMachine) {
  RunTerms terms = one_machine();
  terms.slots.push_back(terms.slots.front());
  terms.machines_min = 2;
  RehearsalWorld world{.capacity = {{.at = {}, .machines = 2},
                                    {.at = 300 * kSecond, .machines = 1},
                                    {.at = 1000 * kSecond, .machines = 2}}};
  const RehearsedRun kept = rehearse_once(terms, world, {}, 1, nullptr);
  world.state_is_split = true;
  const RehearsedRun lost = rehearse_once(terms, world, {}, 1, nullptr);
  EXPECT_EQ(kept.interruptions, 1);
  EXPECT_EQ(kept.parts.redone, Dollars{});
  EXPECT_NEAR((lost.time - kept.time).in(kSecond), 240, 1e-6);
}

// No capacity for a day.
TEST(RehearsalRun, EndsWhenTheSupervisorGivesUp) {
  const RehearsalWorld world{.capacity = {{.at = {}, .machines = 0}}};
  const RehearsedRun run = rehearse_once(one_machine(), world, {}, 1, nullptr);
  EXPECT_EQ(run.outcome, RunVerdict::kGaveUp);
  EXPECT_GT(run.time, 24 * kHour);
  EXPECT_EQ(run.cost, Dollars{});
}

}  // namespace
}  // namespace stint
