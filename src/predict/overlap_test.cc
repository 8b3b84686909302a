#include "predict/overlap.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

#include "base/random.h"

namespace stint {
namespace {

using Buckets = std::vector<BucketTiming>;

BucketTiming bucket(double ready_ms, double communication_ms) {
  return {.ready = ready_ms * kMillisecond, .communication = communication_ms * kMillisecond};
}

// Ready at 10, 20, 30 and 15 each: 10–25, 25–40, 40–55; backward ends at 30, so 25 are exposed.
TEST(Overlap, QueuesBehindTheBucketBefore) {
  const Buckets buckets = {bucket(10, 15), bucket(20, 15), bucket(30, 15)};
  EXPECT_NEAR(last_arrival(buckets, 1).in(kMillisecond), 55, 1e-9);
  EXPECT_NEAR(exposed_communication(buckets, 1, 30 * kMillisecond).in(kMillisecond), 25, 1e-9);
}

// Short messages hide: only the last one, ready when backward ends, is exposed.
TEST(Overlap, HidesWhatFitsBehindBackward) {
  const Buckets buckets = {bucket(10, 5), bucket(20, 5), bucket(30, 5)};
  EXPECT_NEAR(exposed_communication(buckets, 1, 30 * kMillisecond).in(kMillisecond), 5, 1e-9);
  EXPECT_EQ(exposed_communication(buckets, 1, 50 * kMillisecond), Seconds{});
  EXPECT_EQ(last_arrival({}, 1), Seconds{});
}

// Two in flight: A alone 0–10 sends 10 of 20; then B joins and both run at half speed, so A's
// other 10 end at 30, when 10 of B's 20 are left, which end at 40.
TEST(Overlap, SharesTheLinkBetweenTwo) {
  const Buckets buckets = {bucket(0, 20), bucket(10, 20)};
  EXPECT_NEAR(last_arrival(buckets, 2).in(kMillisecond), 40, 1e-9);
}

// 10 ms of latency each. One in flight: 0–30, 30–60. Two: the first moves 10–20 alone; the second
// joins at 20, when 10 of the first are left, which take 20 to 40; the other 10 end at 50.
TEST(Overlap, LatencyPassesWhileAnotherBucketMoves) {
  const Buckets buckets = {{.communication = 20 * kMillisecond, .latency = 10 * kMillisecond},
                           {.ready = 10 * kMillisecond,
                            .communication = 20 * kMillisecond,
                            .latency = 10 * kMillisecond}};
  EXPECT_NEAR(last_arrival(buckets, 1).in(kMillisecond), 60, 1e-9);
  EXPECT_NEAR(last_arrival(buckets, 2).in(kMillisecond), 50, 1e-9);
}

// Whoever shares it, the link is busy for the same time.
TEST(Overlap, TheLinkFallsSilentAtTheSameTimeForAnyNumberInFlight) {
  constexpr int kSeed = 5;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  for (int trial = 0; trial < 300; ++trial) {
    Buckets buckets;
    double ready = 0;
    for (int i = 0; i < 1 + random.below(20); ++i) {
      ready += random.uniform(0, 10);
      buckets.push_back(bucket(ready, random.uniform(0.1, 20)));
    }
    const double alone = last_arrival(buckets, 1).in(kMillisecond);
    for (const int in_flight : {2, 3, 8}) {
      ASSERT_NEAR(last_arrival(buckets, in_flight).in(kMillisecond), alone, 1e-6);
    }
  }
}

TEST(Overlap, LaterOrLongerNeverArrivesEarlier) {
  Random random(6);
  for (int trial = 0; trial < 200; ++trial) {
    Buckets buckets = {bucket(1, 3), bucket(4, 2), bucket(5, 6), bucket(9, 1)};
    const Seconds before = last_arrival(buckets, 1);
    buckets[static_cast<std::size_t>(random.below(4))].communication +=
        random.uniform(0, 5) * kMillisecond;
    EXPECT_GE(last_arrival(buckets, 1), before);
  }
}

}  // namespace
}  // namespace stint
