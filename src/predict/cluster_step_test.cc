#include "predict/cluster_step.h"

#include <gtest/gtest.h>

#include "predict/predictor_fixture.h"

namespace stint {
namespace {

// 16 samples for each of two workers: forward 16 ms, backward 32 ms, update 2 ms; the ring sends
// 100 MB at 1 ns/byte, 100 ms from the start of backward, of which 32 are hidden.
TEST(ClusterStep, PutsTheLawAndTheProfileTogether) {
  const PredictFixture fixture;
  const auto resolved = fixture.resolved("2x slow.1", {.global_batch = 32});
  ASSERT_TRUE(resolved.ok());
  const ClusterView view(*resolved);
  const StepSetup setup = step_setup(fixture.job, view.workers(), fixture.law.fabric, {});
  const IterationParts parts = step_parts(setup);
  EXPECT_NEAR(parts.forward.in(kMillisecond), 16, 1e-6);
  EXPECT_NEAR(parts.backward.in(kMillisecond), 32, 1e-6);
  EXPECT_NEAR(parts.exposed_communication.in(kMillisecond), 68, 0.01);
  EXPECT_NEAR(alone_time(view.workers()).in(kMillisecond), 50, 1e-6);
}

// Times carried over to another device are unsure by 0.2, in the share of the iteration that is
// compute: half.
TEST(ClusterStep, DoubtAboutComputeCountsByItsShare) {
  const PredictFixture fixture;
  const auto resolved = fixture.resolved("1x fast.1", {.global_batch = 16});
  ASSERT_TRUE(resolved.ok());
  const ClusterView view(*resolved);
  const Seconds alone = alone_time(view.workers());
  EXPECT_NEAR(compute_deviation(view.workers(), alone), 0.2, 1e-9);
  EXPECT_NEAR(compute_deviation(view.workers(), 2 * alone), 0.1, 1e-9);
  EXPECT_GE(time_spread(fixture.job, fixture.law, nullptr, view.workers(), alone).above, 0.2);
}

// Two micro-steps of 16 + 32 ms, and one update of 2 ms.
TEST(ClusterStep, AWorkerAloneUpdatesOnceForAllMicroSteps) {
  const PredictFixture fixture;
  const auto resolved = fixture.resolved("slow.1", {.global_batch = 32, .accumulation = 2});
  ASSERT_TRUE(resolved.ok());
  const ClusterView view(*resolved);
  EXPECT_NEAR(alone_time(view.workers()).in(kMillisecond), 98, 1e-6);
}

}  // namespace
}  // namespace stint
