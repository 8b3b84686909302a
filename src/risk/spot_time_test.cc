#include "risk/spot_time.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "base/random.h"

namespace stint {
namespace {

constexpr double kE = 2.718281828459045;

SpotRun run_of(double hours, double losses_per_hour) {
  return {.work = hours * kHour,
          .loss_rate = losses_per_hour / kHour,
          .without_notice = 1,
          .stall = 2 * kMinute,
          .transfer = {},
          .recovery = {10 * kMinute, 5 * kMinute},
          .start_up = {3 * kMinute, 1 * kMinute}};
}

// One hour at a loss per hour, begun again at each: e − 1 hours, with a variance of e² − 2e − 1.
TEST(SpotTime, MatchesTheKnownMomentsOfRestarts) {
  SpotRun run = run_of(1, 1);
  run.recovery = {};
  run.start_up = {};
  const SpotTime time = spot_time(run, run.work);
  EXPECT_NEAR(time.mean.in(kHour), kE - 1, 1e-12);
  EXPECT_NEAR(std::pow(time.deviation.in(kHour), 2), kE * kE - 2 * kE - 1, 1e-12);
  EXPECT_NEAR(time.losses, kE - 1, 1e-12);
  EXPECT_NEAR(time.p_undisturbed, 1 / kE, 1e-12);
}

// With notice every loss is a pause: ten hours at half a loss per hour, five recoveries of ten
// minutes, each of which adds 10² + 5² min² to the variance.
TEST(SpotTime, PausesWhereEveryLossIsAnnounced) {
  SpotRun run = run_of(10, 0.5);
  run.without_notice = 0;
  const SpotTime time = spot_time(run, run.work);
  EXPECT_NEAR(time.mean.in(kMinute), 600 + 50 + 3, 1e-9);
  EXPECT_NEAR(std::pow(time.deviation.in(kMinute), 2), 5 * 125 + 1, 1e-6);
  EXPECT_EQ(best_spot_time(run).interval, run.work);
}

// Two hours in hourly parts: one save of two minutes, then an hour without one. With an hour of
// transfer the save at the first hour would not be safe before the end, and is not begun.
TEST(SpotTime, MakesNoSaveThatTheEndOvertakes) {
  SpotRun run = run_of(2, 0.5);
  const double first = std::exp(0.5 * 62 / 60) - 1;
  const double second = std::exp(0.5) - 1;
  const SpotTime time = spot_time(run, 1 * kHour);
  EXPECT_NEAR(time.mean.in(kMinute), 3 + (120 + 10) * (first + second), 1e-9);
  EXPECT_EQ(time.saving, 2 * kMinute);
  run.transfer = 1 * kHour;
  EXPECT_EQ(spot_time(run, 1 * kHour).saving, Seconds());
}

TEST(SpotTime, WithoutLossesIsWorkAndSaves) {
  const SpotTime time = spot_time(run_of(10, 0), 1 * kHour);
  EXPECT_NEAR(time.mean.in(kMinute), 600 + 9 * 2 + 3, 1e-9);
  EXPECT_EQ(time.redone, Seconds());
  EXPECT_NEAR(time.deviation.in(kMinute), 1, 1e-12);
  EXPECT_EQ(best_spot_time(run_of(10, 0)).saving, Seconds());
}

TEST(SpotTime, SharesItsPartsExactly) {
  const SpotTime time = spot_time(run_of(10, 0.3), 40 * kMinute);
  EXPECT_NEAR((time.useful + time.saving + time.redone + time.starting).in(kSecond),
              time.mean.in(kSecond), 1e-6);
  EXPECT_NEAR(time.starting.in(kMinute), 3 + 10 * time.losses, 1e-9);
}

SpotRun random_run(Random& random) {
  return {.work = random.uniform(1, 100) * kHour,
          .loss_rate = std::exp(random.uniform(-7, 1)) / kHour,
          .without_notice = random.uniform() < 0.3 ? 1 : random.uniform(),
          .stall = random.uniform(1, 300) * kSecond,
          .transfer = random.uniform() < 0.5 ? Seconds() : random.uniform(0, 600) * kSecond,
          .recovery = {random.uniform(0, 1800) * kSecond, random.uniform(0, 900) * kSecond},
          .start_up = {random.uniform(0, 600) * kSecond, random.uniform(0, 60) * kSecond}};
}

TEST(SpotTime, RisesWithEverythingThatHinders) {
  const unsigned seed = 11;
  SCOPED_TRACE(seed);
  Random random(seed);
  for (int i = 0; i < 2000; ++i) {
    const SpotRun run = random_run(random);
    const Seconds interval = random.uniform(0.2, 3) * kHour;
    const SpotTime time = spot_time(run, interval);
    const SpotTime best = best_spot_time(run);
    EXPECT_GE(time.mean, run.work + run.start_up.mean);
    EXPECT_GE(best.mean, run.work + run.start_up.mean);
    EXPECT_LE(best.mean.in(kSecond), 1.0001 * time.mean.in(kSecond));
    SpotRun worse[5] = {run, run, run, run, run};
    worse[0].loss_rate = 1.1 * run.loss_rate;
    worse[1].stall = 1.1 * run.stall;
    worse[2].recovery.mean = 1.1 * run.recovery.mean;
    worse[3].transfer = 1.1 * run.transfer;
    worse[4].without_notice = std::min(1.0, 1.1 * run.without_notice);
    for (int k = 0; k < 5; ++k) {
      // A longer transfer may drop the last save, which saves time where it was one too many.
      const bool comparable = k != 3;
      EXPECT_TRUE(!comparable || spot_time(worse[k], interval).mean >= time.mean) << k;
      EXPECT_GE(best_spot_time(worse[k]).mean.in(kSecond), best.mean.in(kSecond) * (1 - 1e-4)) << k;
    }
  }
}

TEST(BestSpotTime, EqualsAFineSearchOverIntervals) {
  const unsigned seed = 12;
  SCOPED_TRACE(seed);
  Random random(seed);
  for (int i = 0; i < 50; ++i) {
    const SpotRun run = random_run(random);
    Seconds least = spot_time(run, run.work).mean;
    for (Seconds interval = std::max(20 * kSecond, run.transfer); interval < run.work;
         interval = 1.003 * interval) {
      least = std::min(least, spot_time(run, interval).mean);
    }
    EXPECT_LE(best_spot_time(run).mean.in(kSecond), 1.001 * least.in(kSecond));
  }
}

// Twenty thousand losses an hour: not even a minute of work is completed.
TEST(SpotTime, IsInfiniteWhereNoSaveIsEverSafe) {
  const SpotTime time = spot_time(run_of(10, 20000), 10 * kMinute);
  EXPECT_TRUE(std::isinf(time.mean.in(kSecond)));
  EXPECT_EQ(time.probability_within(1000 * kHour), 0);
  EXPECT_TRUE(std::isinf(best_spot_time(run_of(10, 20000)).mean.in(kSecond)));
}

TEST(ProbabilityWithin, RisesFromNothingToOne) {
  const SpotTime time = best_spot_time(run_of(10, 0.1));
  double last = 0;
  for (double hours = 9; hours < 20; hours += 0.1) {
    const double p = time.probability_within(hours * kHour);
    EXPECT_GE(p, last);
    last = p;
  }
  EXPECT_EQ(time.probability_within(time.useful), 0);
  EXPECT_GT(last, 0.999);
  // Ten minutes after the shortest time nearly all undisturbed runs are done.
  const Seconds shortest = time.useful + time.saving;
  EXPECT_GT(time.probability_within(shortest + 10 * kMinute), time.p_undisturbed);
}

// Losses that never come leave the start-up's own distribution: half of it below its median, which
// for a lognormal time of mean 3 and deviation 1 is 3/√(1 + 1/9) = 2.846 min.
TEST(ProbabilityWithin, KnowsTheStartUp) {
  const SpotTime time = spot_time(run_of(1, 0), 1 * kHour);
  EXPECT_NEAR(time.probability_within(62.846 * kMinute), 0.5, 1e-3);
}

// The probability of ending within any time stays a rounding below one.
TEST(Quantile, EndsAtAProbabilityNextToOne) {
  const SpotTime time = spot_time(run_of(10, 0.5), 1 * kHour);
  const Seconds limit = time.quantile(std::nextafter(1.0, 0.0), 0.3);
  EXPECT_GT(limit, time.mean);
  EXPECT_TRUE(std::isfinite(limit.in(kSecond)));
}

}  // namespace
}  // namespace stint
