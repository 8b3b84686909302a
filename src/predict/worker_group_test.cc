#include "predict/worker_group.h"

#include <array>
#include <gtest/gtest.h>
#include <vector>

#include "predict/predictor_fixture.h"

namespace stint {
namespace {

TEST(WorkerGroup, CountsVmsAndWorkersOfAllGroups) {
  std::array<WorkerGroup, 2> groups{WorkerGroup{.vms = 2, .workers_per_vm = 4},
                                    WorkerGroup{.vms = 3, .workers_per_vm = 1}};
  const Workers cluster{.groups = groups};
  EXPECT_EQ(cluster.vms(), 5);
  EXPECT_EQ(cluster.workers(), 11);
}

// On a T4 a batch of 10 takes 10 · 3 ms and an update of 2 ms.
TEST(WorkerGroup, AWorkerAloneComputesAndUpdates) {
  const PredictFixture fixture;
  const auto resolved = fixture.resolved("2x slow.1", {.global_batch = 20});
  ASSERT_TRUE(resolved.ok());
  EXPECT_NEAR(alone_time(resolved->groups[0].times, 10).in(kMillisecond), 32, 1e-9);
}

TEST(WorkerGroup, EqualWorkersShareEvenlyAndTheRestGoesToTheFirst) {
  const PredictFixture fixture;
  const auto resolved = fixture.resolved("3x slow.1", {.global_batch = 20});
  ASSERT_TRUE(resolved.ok());
  EXPECT_EQ(resolved->groups[0].batches, (std::vector<int>{7, 7, 6}));
}

}  // namespace
}  // namespace stint
