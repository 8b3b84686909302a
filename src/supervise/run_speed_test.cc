#include "supervise/run_speed.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

/// The first two steps of workers do not count.
void warm_up(RunSpeed& speed) {
  speed.see(1000 * kSecond);
  speed.see(1000 * kSecond);
}

TEST(RunSpeed, IsKnownAfterNineSteps) {
  RunSpeed speed;
  speed.begin(10 * kSecond);
  warm_up(speed);
  for (int i = 1; i <= 8; ++i) speed.see(i * kSecond);
  EXPECT_FALSE(speed.median());
  EXPECT_FALSE(speed.ratio());
  speed.see(100 * kSecond);  // The median of 1 to 8 and 100 is 5.
  EXPECT_EQ(speed.median(), 5 * kSecond);
  EXPECT_NEAR(*speed.ratio(), 0.5, 1e-12);
}

TEST(RunSpeed, OfEarlierWorkersCountsWhileTheseAreNew) {
  RunSpeed speed;
  speed.begin(10 * kSecond);
  warm_up(speed);
  for (int i = 0; i < 9; ++i) speed.see(12 * kSecond);
  speed.begin(20 * kSecond);
  speed.see(20 * kSecond);
  EXPECT_FALSE(speed.median());
  EXPECT_NEAR(*speed.ratio(), 1.2, 1e-12);
  speed.forget();
  EXPECT_FALSE(speed.ratio());
}

// Nine steps of 9 or 11 s with 10 s predicted: five of 0.9 and four of 1.1 have the mean 0.98889
// and the variance (5 · 0.00790 + 4 · 0.01235) / 8 = 0.01111, so that three standard errors are 3
// √(0.01111 / 9) = 0.10541.
TEST(RunSpeed, IsHardlyWorseThanItsMeanAndThreeStandardErrors) {
  RunSpeed speed;
  speed.begin(10 * kSecond);
  warm_up(speed);
  for (int i = 0; i < 9; ++i) speed.see((i % 2 == 0 ? 9 : 11) * kSecond);
  EXPECT_NEAR(*speed.ratio_max(), 0.98889 + 0.10541, 1e-4);
  for (int i = 0; i < 9; ++i) speed.see(30 * kSecond);  // A sudden slowdown.
  EXPECT_NEAR(*speed.ratio_max(), 3, 1e-12);
}

TEST(ReplanTrigger, FiresOnceForTheSameWorkersAndThenAfterAnotherTenth) {
  ReplanTrigger trigger;
  EXPECT_FALSE(trigger.fires(1.25, 0.8, 1.25, 1));
  EXPECT_TRUE(trigger.fires(1.3, 0.8, 1.25, 1));
  EXPECT_FALSE(trigger.fires(2, 0.8, 1.25, 1));     // The same workers.
  EXPECT_FALSE(trigger.fires(1.42, 0.8, 1.25, 2));  // 1.3 × 1.1 = 1.43.
  EXPECT_TRUE(trigger.fires(1.44, 0.8, 1.25, 2));
  EXPECT_TRUE(trigger.fires(0.7, 0.8, 1.25, 3));
  trigger.forget();
  EXPECT_TRUE(trigger.fires(0.7, 0.8, 1.25, 3));
}

TEST(RunSpeed, SeveralStepsAtOnceShowAChangeAsSoonAsOneByOne) {
  RunSpeed speed;
  speed.begin(10 * kSecond);
  warm_up(speed);
  for (int i = 0; i < 9; ++i) speed.see(10 * kSecond);
  speed.see(20 * kSecond, 4);
  EXPECT_EQ(speed.ratio(), 1);
  speed.see(20 * kSecond, 1);
  EXPECT_EQ(speed.ratio(), 2);
  EXPECT_EQ(speed.ratio_first(), 1);  // They began as planned.
  speed.see(30 * kSecond, 1000);
  EXPECT_EQ(speed.ratio(), 3);
  speed.begin(10 * kSecond);
  EXPECT_FALSE(speed.ratio_first());
  speed.see(1000 * kSecond, 5);  // With those that do not count.
  EXPECT_FALSE(speed.median());
}

}  // namespace
}  // namespace stint
