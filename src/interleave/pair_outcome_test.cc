#include "interleave/pair_outcome.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace stint {
namespace {

SharedWork work(double iterations, double alone_s, double shared_s) {
  return {.iterations = iterations, .alone = alone_s * kSecond, .shared = shared_s * kSecond};
}

// Both have 10 iterations, 3 s alone and 4 s shared: done after 40 s instead of 60.
TEST(PairOutcome, OfEqualJobsEndsTogether) {
  const PairOutcome it = pair_outcome(work(10, 3, 4), work(10, 3, 4));
  EXPECT_NEAR(it.makespan.in(kSecond), 40, 1e-9);
  EXPECT_NEAR(it.together.in(kSecond), 40, 1e-9);
  EXPECT_NEAR(it.separate.in(kSecond), 60, 1e-9);
  EXPECT_NEAR(it.speedup(), 1.5, 1e-9);
  EXPECT_NEAR(it.slowdown[0], 4.0 / 3, 1e-9);
  EXPECT_NEAR(it.slowdown[1], 4.0 / 3, 1e-9);
}

// A: 10 iterations of 4 s shared, done after 40. B: 30 of 5 s shared has done 8 by then; the other
// 22 take 2 s each alone: 84. Alone they would have taken 30 + 60.
TEST(PairOutcome, LetsTheLongerJobGoOnAlone) {
  const PairOutcome it = pair_outcome(work(10, 3, 4), work(30, 2, 5));
  EXPECT_NEAR(it.end[0].in(kSecond), 40, 1e-9);
  EXPECT_NEAR(it.end[1].in(kSecond), 84, 1e-9);
  EXPECT_NEAR(it.together.in(kSecond), 40, 1e-9);
  EXPECT_NEAR(it.speedup(), 90.0 / 84, 1e-9);
  EXPECT_NEAR(it.slowdown[0], 40.0 / 30, 1e-9);
  EXPECT_NEAR(it.slowdown[1], 84.0 / 60, 1e-9);
}

TEST(PairOutcome, OfNothingToDoIsTheOtherJobAlone) {
  const PairOutcome it = pair_outcome(work(0, 3, 4), work(10, 2, 5));
  EXPECT_NEAR(it.makespan.in(kSecond), 20, 1e-9);
  EXPECT_NEAR(it.speedup(), 1, 1e-9);
  EXPECT_NEAR(it.slowdown[0], 1, 1e-9);
}

TEST(PairOutcomeProperty, IsSymmetricAndNoWorseThanOneAfterTheOtherWhereSharingPays) {
  constexpr int kSeed = 73;
  Random random(kSeed);
  for (int trial = 0; trial < 1000; ++trial) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", trial " << trial);
    const double a = random.uniform(0.1, 3);
    const double b = random.uniform(0.1, 3);
    // Both do an iteration in the time that they would take one after the other, or less.
    const double period = random.uniform(std::max(a, b), a + b);
    const SharedWork first = work(random.uniform(1, 100), a, period);
    const SharedWork second = work(random.uniform(1, 100), b, period);
    const PairOutcome it = pair_outcome(first, second);
    const PairOutcome other = pair_outcome(second, first);
    ASSERT_NEAR(it.makespan.in(kSecond), other.makespan.in(kSecond), 1e-9);
    ASSERT_NEAR(it.end[0].in(kSecond), other.end[1].in(kSecond), 1e-9);
    ASSERT_GE(it.speedup(), 1 - 1e-9);
    ASSERT_GE(it.slowdown[0], 1 - 1e-9);
    ASSERT_GE(it.slowdown[1], 1 - 1e-9);
  }
}

}  // namespace
}  // namespace stint
