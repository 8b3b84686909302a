#include "simulate/reduction_flows.h"

#include <gtest/gtest.h>
#include <utility>
#include <vector>

namespace stint {
namespace {

/// Two VMs of 1 GB/s, over which a byte takes this job `cost` times as long.
StepSetup setup_of(double cost = 1) {
  return {.groups = {{.vms = 2,
                      .network = {.inverse_bandwidth = cost * kMillisecond / kMB, .latency = {}}}}};
}

/// The next arrivals, each of which is one.
ReductionFlows::Arrival next(ReductionFlows& flows) {
  for (int i = 0; i < 10; ++i) {
    const auto arrivals = flows.advance(flows.next_change());
    if (arrivals.empty()) continue;
    EXPECT_EQ(arrivals.size(), 1U);
    return arrivals[0];
  }
  ADD_FAILURE() << "nothing arrives";
  return {};
}

// 10 MB in 10 ms; then 20 MB more in 20.
TEST(ReductionFlows, PlayBucketAfterBucket) {
  const StepSetup setup = setup_of();
  ReductionFlows flows;
  const ClusterLinks links = add_links(flows.network(), setup, Detail::kEachGroup);
  const auto job = flows.add_job(collective_flows(flows.network(), setup, links));
  flows.start(job, 7, 10 * kMB);
  EXPECT_EQ(flows.flying(job), 1);
  EXPECT_EQ(next(flows).bucket, 7U);
  EXPECT_NEAR(flows.now().in(kMillisecond), 10, 1e-9);
  EXPECT_EQ(flows.flying(job), 0);
  flows.start(job, 8, 20 * kMB);
  EXPECT_EQ(next(flows).bucket, 8U);
  EXPECT_NEAR(flows.now().in(kMillisecond), 30, 1e-9);
}

/// When 10 MB of the first and 20 MB of the second arrive, in milliseconds; the first comes first.
std::pair<double, double> arrivals_of(const std::vector<StepSetup>& setups) {
  ReductionFlows flows;
  const auto links = add_shared_links(flows.network(), setups);
  for (std::size_t i = 0; i < 2; ++i) {
    flows.add_job(collective_flows(flows.network(), setups[i], links[i]));
  }
  flows.start(0, 0, 10 * kMB);
  flows.start(1, 0, 20 * kMB);
  EXPECT_EQ(next(flows).job, 0U);
  const double first = flows.now().in(kMillisecond);
  EXPECT_EQ(next(flows).job, 1U);
  return {first, flows.now().in(kMillisecond)};
}

// 10 MB of one job and 20 of another: 20 ms shared, then the other's 10 alone.
TEST(ReductionFlows, OfTwoJobsShareTheSameNics) {
  const auto [first, second] = arrivals_of({setup_of(), setup_of()});
  EXPECT_NEAR(first, 20, 1e-9);
  EXPECT_NEAR(second, 30, 1e-9);
}

// A byte of the second takes twice as long, alone and beside the first: at equal rates r with
// r + 2 r = 1 GB/s the first's 10 MB take 30 ms, and the second's other 10 take 20.
TEST(ReductionFlows, OfTwoJobsMayCostUnequally) {
  const auto [first, second] = arrivals_of({setup_of(1), setup_of(2)});
  EXPECT_NEAR(first, 30, 1e-9);
  EXPECT_NEAR(second, 50, 1e-9);
}

}  // namespace
}  // namespace stint
