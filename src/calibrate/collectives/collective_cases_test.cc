#include "calibrate/collectives/collective_cases.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

Catalog catalog() {
  Catalog it;
  it.gpus = {{.name = "A100-40GB-SXM", .link = "NVLink 3", .link_bandwidth = 600 * kGB / kSecond},
             {.name = "T4", .pcie = "3.0 x16"}};
  it.types = {{.provider = "aws",
               .name = "p4d.24xlarge",
               .accelerator = Accelerator{.name = "A100", .count = 8, .gpu = "A100-40GB-SXM"},
               .network = Network{.baseline = 400 * kGbit / kSecond}}};
  return it;
}

CollectiveMeasurement row(int vms, int workers) {
  return {.format = CollectiveFormat::kNccl,
          .system = "s",
          .collective = "all_reduce",
          .vms = vms,
          .workers_per_vm = workers,
          .payload = 1 * kGB,
          .stated = 1 * kGB};
}

TEST(CollectiveCases, TakeTheFiguresOfTheVmType) {
  CollectiveMeasurement it = row(2, 8);
  it.vm_type = "p4d.24xlarge";
  const CollectiveCase found = collective_case(it, catalog());
  EXPECT_EQ(found.note, "");
  EXPECT_EQ(found.fabric.line_rate, 400 * kGbit / kSecond);
  EXPECT_EQ(found.fabric.inside_rate, 300 * kGB / kSecond);
  EXPECT_FALSE(found.rate_unknown);
  EXPECT_EQ(found.system, "nccl: s");
}

TEST(CollectiveCases, TakeTheRateOfTheNetworkOrOfTheGpusLargestVm) {
  CollectiveMeasurement it = row(2, 8);
  it.gpu = "A100";
  it.network = "8x200Gbps InfiniBand";
  EXPECT_EQ(collective_case(it, catalog()).fabric.line_rate, 1600 * kGbit / kSecond);
  it.network = "EFA 3.2 Tbit/s";
  EXPECT_EQ(collective_case(it, catalog()).fabric.line_rate, 3.2 * kTbit / kSecond);
  it.network = "EFA";
  EXPECT_EQ(collective_case(it, catalog()).fabric.line_rate, 400 * kGbit / kSecond);
  it.gpu = "not stated";
  const CollectiveCase guess = collective_case(it, catalog());
  EXPECT_TRUE(guess.rate_unknown);
  EXPECT_GT(guess.fabric.line_rate, BytesPerSecond{});
}

TEST(CollectiveCases, SayWhyThereIsNoPrediction) {
  CollectiveMeasurement it = row(1, 8);
  it.collective = "magic";
  EXPECT_EQ(collective_case(it, catalog()).note, "the collective 'magic' is not modelled");
  EXPECT_EQ(collective_case(row(1, 1), catalog()).note, "one worker exchanges nothing");
}

// 1 GB over four workers of 300 GB/s: 1.5 GB in 5 ms. Bus bandwidth of 150 GB/s is 10 ms; half the
// line rate is 10 ms too.
TEST(CollectiveCases, ConvertValuesToTimes) {
  CollectiveMeasurement it = row(1, 4);
  it.gpu = "A100";
  EXPECT_NEAR(line_rate_time(collective_case(it, catalog())).in(kMillisecond), 5, 1e-9);
  const auto time = [&](CollectiveQuantity quantity, double value) {
    it.quantity = quantity;
    it.value = value;
    const CollectiveCase found = collective_case(it, catalog());
    EXPECT_NEAR(value_of(found, *measured_time(found)), value, 1e-9);
    return measured_time(found)->in(kMillisecond);
  };
  EXPECT_NEAR(time(CollectiveQuantity::kSeconds, 0.01), 10, 1e-9);
  EXPECT_NEAR(time(CollectiveQuantity::kMicroseconds, 10000), 10, 1e-9);
  EXPECT_NEAR(time(CollectiveQuantity::kBusRate, 150), 10, 1e-9);
  EXPECT_NEAR(time(CollectiveQuantity::kLineShare, 0.5), 10, 1e-9);
  EXPECT_NEAR(time(CollectiveQuantity::kRate, 100), 10, 1e-9);
}

TEST(CollectiveCases, CurvesDifferByClusterAndCollective) {
  CollectiveMeasurement it = row(1, 4);
  const CollectiveCase first = collective_case(it, catalog());
  it.payload = 2 * kGB;
  EXPECT_TRUE(same_curve(first, collective_case(it, catalog())));
  it.workers_per_vm = 8;
  EXPECT_FALSE(same_curve(first, collective_case(it, catalog())));
}

}  // namespace
}  // namespace stint
