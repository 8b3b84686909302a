#include "interleave/joint_memory.h"

#include <gtest/gtest.h>
#include <vector>

namespace stint {
namespace {

/// 1 + 1 + 2 + `activations` + 1 GB.
MemoryNeed need(double activations_gb) {
  return {.parameters = 1 * kGB,
          .gradients = 1 * kGB,
          .optimizer = 2 * kGB,
          .activations = activations_gb * kGB,
          .overhead = 1 * kGB};
}

// 8 and 11 GB, of the 95 % of 20 GB that can be used: 19 of 19.
TEST(SharedMemory, IsTheSumOfAllWorkers) {
  const std::vector<MemoryNeed> needs{need(3), need(6)};
  const MemoryVerdict verdict = shared_memory_verdict(needs, 20.001 * kGB);
  EXPECT_TRUE(verdict.fits);
  EXPECT_NEAR(verdict.needed.in(kGB), 19, 1e-9);
  EXPECT_FALSE(shared_memory_verdict(needs, 19.99 * kGB).fits);
}

TEST(SharedMemory, OfOneWorkerIsItsOwn) {
  const std::vector<MemoryNeed> needs{need(3)};
  const MemoryVerdict verdict = shared_memory_verdict(needs, 10 * kGB);
  EXPECT_EQ(verdict.needed, memory_verdict(need(3), 10 * kGB).needed);
  EXPECT_EQ(verdict.available, memory_verdict(need(3), 10 * kGB).available);
}

}  // namespace
}  // namespace stint
