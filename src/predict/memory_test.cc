#include "predict/memory.h"

#include <gtest/gtest.h>
#include <limits>

namespace stint {
namespace {

// What an allocator does not see, as the constant in memory.cc says.
constexpr Bytes kOutside = 640 * kMiB;

ComputeSample sample(const char* device, int batch, Bytes peak) {
  return {.device = device, .batch_per_worker = batch, .peak_memory = peak};
}

/// 100 MB of parameters and gradients each, 200 MB of optimizer state: 400 MB of states.
JobProfile job_with(std::vector<ComputeSample> samples) {
  return {.name = "net",
          .gradient_bytes = 100 * kMB,
          .parameter_bytes = 100 * kMB,
          .optimizer_bytes = 200 * kMB,
          .compute = std::move(samples)};
}

// Peaks of 1,300 MB at 8 and 2,100 MB at 16: 100 MB a sample, 500 MB fixed, of which the
// states are 400 MB. At 32: activations 3,200 MB; overhead 100 + 640 MiB + 100 of buckets.
TEST(MemoryNeed, IsAffineThroughThePeaks) {
  const auto need =
      memory_need(job_with({sample("T4", 8, 1300 * kMB), sample("T4", 16, 2100 * kMB)}), "T4", 32);
  ASSERT_TRUE(need.has_value());
  EXPECT_NEAR(need->activations.in(kMB), 3200, 1e-6);
  EXPECT_NEAR((need->overhead - kOutside).in(kMB), 200, 1e-6);
  EXPECT_NEAR((total(*need) - kOutside).in(kMB), 3800, 1e-6);
}

// Three peaks off the line: batches 1, 2, 3 at 500, 700, 600 MB. Mean 2 and 600; covariance
// (−1)(−100) + 0 + (1)(0) = 100, variance 2: 50 MB a sample, 500 MB fixed.
TEST(MemoryNeed, IsTheLeastSquaresLineThroughManyPeaks) {
  const auto need = memory_need(job_with({sample("T4", 1, 500 * kMB), sample("T4", 2, 700 * kMB),
                                          sample("T4", 3, 600 * kMB)}),
                                "T4", 4);
  ASSERT_TRUE(need.has_value());
  EXPECT_NEAR(need->activations.in(kMB), 200, 1e-6);
  EXPECT_NEAR((need->overhead - kOutside).in(kMB), 200, 1e-6);
}

// The line through 1,000 MB at 8 and 1,800 MB at 16 would leave 200 MB for 400 MB of states. With
// 400 MB fixed the slope is (8 · 600 + 16 · 1,400)/(64 + 256) = 27,200/320 = 85 MB.
TEST(MemoryNeed, NeverLeavesLessThanTheStates) {
  const auto need =
      memory_need(job_with({sample("T4", 8, 1000 * kMB), sample("T4", 16, 1800 * kMB)}), "T4", 10);
  ASSERT_TRUE(need.has_value());
  EXPECT_NEAR(need->activations.in(kMB), 850, 1e-6);
  EXPECT_NEAR((need->overhead - kOutside).in(kMB), 100, 1e-6);
}

// One peak: 1,200 MB at 8 less 400 MB of states is 100 MB a sample.
TEST(MemoryNeed, OnePeakGrowsWithTheBatchBeyondItsStates) {
  const auto need = memory_need(job_with({sample("T4", 8, 1200 * kMB)}), "T4", 4);
  ASSERT_TRUE(need.has_value());
  EXPECT_NEAR(need->activations.in(kMB), 400, 1e-6);
}

TEST(MemoryNeed, NeverFallsWithTheBatch) {
  const auto job = job_with({sample("T4", 8, 1800 * kMB), sample("T4", 16, 1300 * kMB)});
  const auto small = memory_need(job, "T4", 1);
  const auto large = memory_need(job, "T4", 64);
  ASSERT_TRUE(small && large);
  EXPECT_EQ(total(*small), total(*large));
}

TEST(MemoryNeed, BorrowsPeaksFromTheDeviceThatHasMost) {
  const auto job = job_with(
      {sample("K80", 8, 9000 * kMB), sample("T4", 8, 1300 * kMB), sample("T4", 16, 2100 * kMB)});
  const auto need = memory_need(job, "V100", 32);
  ASSERT_TRUE(need.has_value());
  EXPECT_NEAR(need->activations.in(kMB), 3200, 1e-6);
  // A device with a peak of its own uses that: (9,000 − 400)/8 = 1,075 MB a sample.
  const auto own = memory_need(job, "K80", 1);
  ASSERT_TRUE(own.has_value());
  EXPECT_NEAR(own->activations.in(kMB), 1075, 1e-6);
}

TEST(MemoryNeed, IsUnknownWithoutPeaks) {
  EXPECT_FALSE(memory_need(job_with({}), "T4", 8).has_value());
  const auto job = job_with({{.device = "T4", .batch_per_worker = 8}});
  EXPECT_FALSE(memory_need(job, "T4", 8).has_value());
}

// States unknown but for gradients of 100 MB: parameters count as much, the optimizer as nothing.
TEST(MemoryNeed, TakesParametersToBeAsLargeAsGradients) {
  const JobProfile job{
      .name = "net", .gradient_bytes = 100 * kMB, .compute = {sample("T4", 2, 400 * kMB)}};
  const auto need = memory_need(job, "T4", 2);
  ASSERT_TRUE(need.has_value());
  EXPECT_NEAR(need->parameters.in(kMB), 100, 1e-9);
  EXPECT_NEAR(need->optimizer.in(kMB), 0, 1e-9);
  EXPECT_NEAR(need->activations.in(kMB), 200, 1e-6);
}

// Of 1,000 MB 5 % stay free: 950 MB fit and 951 MB do not.
TEST(MemoryVerdict, KeepsAMarginFree) {
  EXPECT_TRUE(memory_verdict({.activations = 950 * kMB}, 1000 * kMB).fits);
  const MemoryVerdict verdict = memory_verdict({.activations = 951 * kMB}, 1000 * kMB);
  EXPECT_FALSE(verdict.fits);
  EXPECT_NEAR(verdict.needed.in(kMB), 951, 1e-9);
  EXPECT_NEAR(verdict.available.in(kMB), 950, 1e-9);
}

WorkerMemory on_t4(Bytes memory) {
  return {.device = "T4", .measured_there = true, .memory = memory};
}

// 400 MB of states fit into 1 GB, but not into 420 MB, of which 399 MB are usable.
TEST(WorkerVerdict, StatesThatAreTooLargeDoNotFitWithoutAnyPeak) {
  const auto job = job_with({{.device = "T4", .batch_per_worker = 8}});
  EXPECT_FALSE(worker_verdict(job, on_t4(1 * kGB), 8).has_value());
  EXPECT_EQ(largest_batch(job, on_t4(1 * kGB)), std::numeric_limits<int>::max());
  const auto verdict = worker_verdict(job, on_t4(420 * kMB), 1);
  ASSERT_TRUE(verdict.has_value());
  EXPECT_FALSE(verdict->fits);
  EXPECT_NEAR(verdict->needed.in(kMB), 400, 1e-9);
  EXPECT_FALSE(largest_batch(job, on_t4(420 * kMB)).has_value());
}

TEST(WorkerVerdict, IsUnknownWithoutTheMemoryOfTheDevice) {
  const auto job = job_with({sample("T4", 8, 1300 * kMB)});
  EXPECT_FALSE(worker_verdict(job, {.device = "T4", .measured_there = true}, 8).has_value());
}

// 2,100 MB at 16 ran on a T4 of 2,200 MB, though with 640 MiB outside, 100 MB of buckets and 5 %
// kept free it would need 2,871 of 2,090 MB. At 17 nobody has seen it run.
TEST(WorkerVerdict, BelievesAPeakOnItsDeviceAndBatch) {
  const auto job = job_with({sample("T4", 8, 1300 * kMB), sample("T4", 16, 2100 * kMB)});
  const auto measured = worker_verdict(job, on_t4(2200 * kMB), 16);
  ASSERT_TRUE(measured.has_value());
  EXPECT_TRUE(measured->fits);
  EXPECT_NEAR(measured->needed.in(kMB), 2100, 1e-9);
  EXPECT_NEAR(measured->available.in(kMB), 2200, 1e-9);
  EXPECT_TRUE(worker_verdict(job, on_t4(2200 * kMB), 12)->fits);
  EXPECT_FALSE(worker_verdict(job, on_t4(2200 * kMB), 17)->fits);
  EXPECT_EQ(largest_batch(job, on_t4(2200 * kMB)), 16);
}

TEST(WorkerVerdict, BelievesNoPeakOfAnotherDeviceOrAboveTheMemory) {
  const auto job = job_with({sample("T4", 8, 1300 * kMB), sample("T4", 16, 2100 * kMB)});
  const WorkerMemory elsewhere{.device = "T4", .measured_there = false, .memory = 2200 * kMB};
  EXPECT_FALSE(worker_verdict(job, elsewhere, 16)->fits);
  EXPECT_FALSE(worker_verdict(job, on_t4(2000 * kMB), 16)->fits);
  EXPECT_EQ(largest_batch(job, on_t4(2000 * kMB)), 8);
}

// 100 MB a sample on top of 500 + 100 + 640 MiB = 1,271.1 MB; of 4 GB 3,800 MB are usable, and
// (3,800 − 1,271.1)/100 = 25.3.
TEST(LargestBatch, FillsTheMemory) {
  const auto job = job_with({sample("T4", 8, 1300 * kMB), sample("T4", 16, 2100 * kMB)});
  EXPECT_EQ(largest_batch(job, on_t4(4 * kGB)), 25);
  EXPECT_TRUE(memory_verdict(*memory_need(job, "T4", 25), 4 * kGB).fits);
  EXPECT_FALSE(memory_verdict(*memory_need(job, "T4", 26), 4 * kGB).fits);
}

TEST(LargestBatch, StaysWithinWhatTheJobAllows) {
  auto job = job_with({sample("T4", 8, 1300 * kMB), sample("T4", 16, 2100 * kMB)});
  job.batch = BatchRange{.reference = 8, .max = 12};
  EXPECT_EQ(largest_batch(job, on_t4(4 * kGB)), 12);
}

TEST(LargestBatch, IsNothingWhenOneSampleDoesNotFit) {
  const auto job = job_with({sample("T4", 8, 1300 * kMB), sample("T4", 16, 2100 * kMB)});
  EXPECT_FALSE(largest_batch(job, on_t4(1 * kGB)).has_value());
}

TEST(LargestBatch, HasNoLimitWhenSamplesCostNothing) {
  const auto job = job_with({sample("T4", 8, 1300 * kMB), sample("T4", 16, 1300 * kMB)});
  EXPECT_EQ(largest_batch(job, on_t4(4 * kGB)), std::numeric_limits<int>::max());
}

}  // namespace
}  // namespace stint
