#include "app/calibrate/benchmark_case.h"

#include <gtest/gtest.h>
#include <memory>

#include "base/file.h"

namespace stint {
namespace {

Environment at_day_one() {
  Environment environment;
  environment.clock = std::make_shared<FixedClock>(0 * kSecond);
  return environment;
}

constexpr const char* kHeader =
    "round,submitter,benchmark,accelerator,gpu,accelerators,nodes,accelerators_per_node,"
    "global_batch,grad_accum,tp,pp,cp,networking,step_s\n";

std::string table_of(const std::string& rows) {
  const std::string file = testing::TempDir() + "/benchmark_case_test.csv";
  EXPECT_TRUE(write_file(file, kHeader + rows).ok());
  return file;
}

TEST(BenchmarkCalibration, FitsTheNetworkToClustersBesideTheirSingleVms) {
  const std::string file = table_of(
      "v4.1,a,bert,NVIDIA H100,H100,8,1,8,384,1,,,,8x IB 400Gb/s,0.1\n"
      "v4.1,a,bert,NVIDIA H100,H100,64,8,8,3072,1,,,,8x IB 400Gb/s,0.12\n"
      "v4.1,b,bert,NVIDIA H100,H100,64,8,8,3072,1,,,,8x IB 400Gb/s,0.5\n");
  const auto found = calibrate_benchmarks(
      at_day_one(), ScalingFormat::kMlperf,
      {.train = {file}, .name = "mine", .fabric = {.transport = TransportFamily::kRdma}});
  ASSERT_TRUE(found.ok()) << found.error().message;
  ASSERT_EQ(found->data.size(), 1U);
  EXPECT_EQ(found->data.front().rows, 1);  // Submitter b has no single VM.
  EXPECT_EQ(found->data.front().jobs, std::vector<std::string>{"bert"});
  ASSERT_TRUE(found->fabric);
  EXPECT_EQ(found->fabric->workers_per_vm, 8);
}

TEST(BenchmarkCalibration, RefusesClustersWithoutSingleVms) {
  const std::string file =
      table_of("v4.1,b,bert,NVIDIA H100,H100,64,8,8,3072,1,,,,8x IB 400Gb/s,0.5\n");
  const auto found =
      calibrate_benchmarks(at_day_one(), ScalingFormat::kMlperf, {.train = {file}, .name = "mine"});
  EXPECT_FALSE(found.ok());
}

}  // namespace
}  // namespace stint
