#include "predict/collective.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

// 1 GB/s: one nanosecond per byte.
constexpr Link kPlain{.inverse_bandwidth = 1 * kSecond / kGB, .latency = {}};
constexpr Link kSlow{.inverse_bandwidth = 1 * kSecond / kGB, .latency = 1 * kMillisecond};

// 4 workers, 1 GB/s, no latency: 2 · 3 steps of 25 MB = 150 ms.
TEST(RingAllreduce, MatchesHandComputedCase) {
  EXPECT_NEAR(ring_allreduce_time(100 * kMB, 4, kPlain).in(kMillisecond), 150.0, 1e-9);
}

// The same with 1 ms per step: 150 + 6.
TEST(RingAllreduce, PaysTheLatencyOfEachStep) {
  EXPECT_NEAR(ring_allreduce_time(100 * kMB, 4, kSlow).in(kMillisecond), 156.0, 1e-9);
  EXPECT_EQ(ring_allreduce_time(100 * kMB, 1, kSlow), Seconds{});
}

TEST(RingAllreduce, GrowsWithWorkersAndBytes) {
  for (int workers = 1; workers < 64; ++workers) {
    EXPECT_LT(ring_allreduce_time(kMB, workers, kSlow),
              ring_allreduce_time(kMB, workers + 1, kSlow));
    EXPECT_LE(ring_allreduce_time(kMB, workers, kSlow),
              ring_allreduce_time(2 * kMB, workers, kSlow));
  }
}

// 2 VMs of 4: inside 2 · 3/4 · 100 MB at 10 GB/s = 15 ms; between 2 · 1/2 · 100 MB at 1 GB/s =
// 100 ms.
TEST(HierarchicalAllreduce, MatchesHandComputedCase) {
  const Hierarchy cluster{.vms = 2,
                          .workers_per_vm = 4,
                          .inside = {.inverse_bandwidth = 0.1 * kSecond / kGB, .latency = {}},
                          .between = kPlain};
  EXPECT_NEAR(hierarchical_allreduce_time(100 * kMB, cluster).in(kMillisecond), 115.0, 1e-9);
}

TEST(HierarchicalAllreduce, WithOneWorkerPerVmIsARing) {
  const Hierarchy cluster{.vms = 8, .workers_per_vm = 1, .inside = kSlow, .between = kSlow};
  EXPECT_EQ(hierarchical_allreduce_time(kMB, cluster), ring_allreduce_time(kMB, 8, kSlow));
}

// 8 workers on 2 servers: each server takes and gives 8 · 50 MB = 400 ms each way.
TEST(ParameterServer, MatchesHandComputedCase) {
  EXPECT_NEAR(parameter_server_time(100 * kMB, 8, 2, kPlain).in(kMillisecond), 800.0, 1e-9);
}

// With as many servers as workers the worker's own NIC decides: 100 ms each way, plus 2 · 1 ms.
TEST(ParameterServer, IsBoundedByTheWorkersNic) {
  EXPECT_NEAR(parameter_server_time(100 * kMB, 4, 16, kSlow).in(kMillisecond), 202.0, 1e-9);
}

// Density 1 %, index as large as a value: 3 · 0.01 · 100 MB · 2 at 1 GB/s = 6 ms, plus 3 ms latency
// and 2 ms selection.
TEST(TopK, MatchesHandComputedCase) {
  const Sparsification sparse{
      .density = 0.01, .index_bytes_per_value = 1, .selection = 2 * kMillisecond};
  EXPECT_NEAR(top_k_time(100 * kMB, 4, kSlow, sparse).in(kMillisecond), 11.0, 1e-9);
  EXPECT_EQ(top_k_time(100 * kMB, 1, kSlow, sparse), Seconds{});
}

// A ring sends at most 2 S; top-k at density 10 % with indexes sends 0.2 (n − 1) S: beyond n = 11
// the ring is cheaper.
TEST(TopK, LosesToARingOnLargeClusters) {
  const Sparsification sparse{.density = 0.1, .index_bytes_per_value = 1, .selection = {}};
  EXPECT_LT(top_k_time(kGB, 4, kPlain, sparse), ring_allreduce_time(kGB, 4, kPlain));
  EXPECT_GT(top_k_time(kGB, 16, kPlain, sparse), ring_allreduce_time(kGB, 16, kPlain));
}

}  // namespace
}  // namespace stint
