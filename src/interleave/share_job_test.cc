#include "interleave/share_job.h"

#include <gtest/gtest.h>

#include "interleave/pairing_fixture.h"

namespace stint {
namespace {

// Forward 20, backward 40, sending 50 ms from the start of backward: 70 ms; one after the other
// 110. The prediction is 10 % above that, and so is the answer.
TEST(TimeWithoutOverlap, AddsUpComputingAndSending) {
  ShareJob job = plain_job("a", 60, 50);
  job.setup.buckets[0].ready = 0;
  job.alone = 1.1 * total(step_parts(job.setup));
  EXPECT_NEAR(job.alone.in(kMillisecond), 77, 1e-9);
  EXPECT_NEAR(time_without_overlap(job).in(kMillisecond), 121, 1e-9);
}

TEST(TimeWithoutOverlap, LeavesOutWhatSendingCostsBackward) {
  ShareJob job = plain_job("a", 60, 50);
  EXPECT_NEAR(time_without_overlap(job).in(kMillisecond), 110, 1e-9);
  job.setup.backward_slowdown = 0.25;  // Backward takes 50 ms while gradients leave.
  job.alone = total(step_parts(job.setup));
  EXPECT_NEAR(job.alone.in(kMillisecond), 120, 1e-9);
  EXPECT_NEAR(time_without_overlap(job).in(kMillisecond), 110, 1e-9);
}

// 60 ms of computing, 40 of them after sending of 50 ms began: 10 ms are exposed. A law may have
// split it differently.
TEST(WithNetwork, KeepsTheTimeOfAnIteration) {
  ShareJob job = plain_job("a", 60, 50);
  job.setup.buckets = {{.bytes = 20 * kMB, .ready = 0}, {.bytes = 30 * kMB, .ready = 0}};
  job.alone = total(step_parts(job.setup));
  job.overlap_known = false;
  for (const auto& [network, sync] :
       {std::pair(NetworkWhile::kIdle, 10.0), std::pair(NetworkWhile::kBusy, 50.0)}) {
    const ShareJob other = with_network(job, network);
    EXPECT_NEAR(total(step_parts(other.setup)).in(kMillisecond), 70, 1e-9);
    ASSERT_EQ(other.setup.buckets.size(), 1U);
    EXPECT_NEAR(bucket_time(other.setup.buckets[0].bytes, other.setup).in(kMillisecond), sync,
                1e-9);
  }
}

TEST(WithNetwork, ChangesNothingWhereOverlapIsKnown) {
  const ShareJob job = plain_job("a", 60, 50);
  const ShareJob other = with_network(job, NetworkWhile::kBusy);
  EXPECT_EQ(total(step_parts(other.setup)), job.alone);
  EXPECT_EQ(other.setup.buckets[0].ready, 1);
}

}  // namespace
}  // namespace stint
