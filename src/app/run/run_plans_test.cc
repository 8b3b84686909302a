#include "app/run/run_plans.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

Cluster cluster_of(const std::vector<int>& counts) {
  Cluster cluster;
  for (const int count : counts) cluster.groups.push_back({.count = count});
  return cluster;
}

// 3 workers take 24 samples at once: 48 are two micro-batches. 50 need three, and five divide them.
TEST(RunPlans, MicroBatchesAreEqualAndNoneIsTooLarge) {
  const Cluster cluster = cluster_of({2, 1});
  EXPECT_EQ(accumulation_on(cluster, {.global_batch = 48, .micro_batch = 8}), 2);
  EXPECT_EQ(accumulation_on(cluster, {.global_batch = 50, .micro_batch = 8}), 5);
  EXPECT_EQ(accumulation_on(cluster, {.global_batch = 20, .micro_batch = 8}), 1);
}

// 2 machines with 4 workers each and one with one: 9 workers take 72 samples.
TEST(RunPlans, WorkersOfAMachineTakeTheirOwnSamples) {
  const BatchShares shares{.global_batch = 144, .micro_batch = 8, .workers = {4, 1}};
  EXPECT_EQ(accumulation_on(cluster_of({2, 1}), shares), 2);
}

}  // namespace
}  // namespace stint
