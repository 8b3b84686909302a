#include "predict/device_scaling.h"

#include <gtest/gtest.h>

#include "predict/predictor_fixture.h"

namespace stint {
namespace {

Gpu gpu(const std::string& name, double teraflops, double gigabytes) {
  return {.name = name,
          .memory_bandwidth = gigabytes * kGB / kSecond,
          .fp32 = teraflops * kTeraflop / kSecond};
}

// Half by arithmetic, 10/20, and half by bandwidth, 300/1200: 0.5 · 0.5 + 0.5 · 0.25 = 0.375.
TEST(DeviceRatio, WeighsArithmeticAndBandwidth) {
  EXPECT_NEAR(*device_ratio(gpu("a", 10, 300), gpu("b", 20, 1200), 0.5), 0.375, 1e-12);
  EXPECT_NEAR(*device_ratio(gpu("a", 10, 300), gpu("b", 20, 1200), 1), 0.5, 1e-12);
  EXPECT_NEAR(*device_ratio(gpu("a", 10, 300), gpu("b", 20, 1200), 0), 0.25, 1e-12);
  EXPECT_NEAR(*device_ratio(gpu("a", 10, 300), gpu("a", 10, 300), 0.3), 1, 1e-12);
}

TEST(DeviceRatio, ComparesTf32OnlyWhereBothHaveIt) {
  Gpu a = gpu("a", 10, 300);
  Gpu b = gpu("b", 20, 300);
  b.tf32 = 160 * kTeraflop / kSecond;
  EXPECT_NEAR(*device_ratio(a, b, 1), 0.5, 1e-12);
  a.tf32 = 40 * kTeraflop / kSecond;
  EXPECT_NEAR(*device_ratio(a, b, 1), 0.25, 1e-12);
}

TEST(DeviceRatio, WithoutAFigureSaysWhich) {
  Gpu b = gpu("b", 20, 300);
  b.memory_bandwidth.reset();
  const auto ratio = device_ratio(gpu("a", 10, 300), b, 0.5);
  ASSERT_FALSE(ratio.ok());
  EXPECT_EQ(ratio.error().message,
            "the catalogue has no memory bandwidth of b, so times cannot be scaled from a to b; "
            "measure the job on b");
}

// 10 GFLOP at 10 TFLOP/s take 1 ms, 900 MB at 300 GB/s take 3 ms: a quarter is arithmetic.
// 10 GFLOP and 900 MB, both at a utilisation of 0.5: (2 + 6) ms on 10 TFLOP/s and 300 GB/s,
// (1 + 3) ms on twice of both, (1 + 6) ms on twice the peak alone.
TEST(JobRatio, IsThatOfTheDeviceModelForJobsThatSayWhatTheyMove) {
  JobProfile job = small_job();
  DeviceLaw law{.compute_share = 0.7, .spread = 0.2};
  law.model.product_utilisation = 0.5;
  law.model.elementwise_utilisation = 0.5;
  const Gpu slow = gpu("a", 10, 300);
  EXPECT_NEAR(*job_ratio(job, slow, gpu("b", 20, 300), law), 0.7 * 0.5 + 0.3, 1e-12);
  job.flops_per_sample = 10 * kGigaflop;
  job.bytes_moved_per_sample = 900 * kMB;
  EXPECT_NEAR(*job_ratio(job, slow, gpu("b", 20, 600), law), 0.5, 1e-12);
  EXPECT_NEAR(*job_ratio(job, slow, gpu("b", 20, 300), law), 7.0 / 8, 1e-12);
  EXPECT_NEAR(*job_ratio(job, slow, slow, law), 1, 1e-12);
}

// A board of 70 W does not sustain 8.1 TFLOP/s, so a job of arithmetic gains more than the peaks.
TEST(JobRatio, KnowsThePowerOfABoard) {
  JobProfile job = small_job();
  job.flops_per_sample = 100 * kGigaflop;
  job.bytes_moved_per_sample = 1 * kMB;
  const DeviceLaw law;
  Gpu small = gpu("T4", 8.1, 320);
  small.architecture = "Turing";
  small.board_power_watts = 70;
  Gpu large = gpu("V100", 15.7, 900);
  large.architecture = "Volta";
  large.board_power_watts = 300;
  EXPECT_LT(*job_ratio(job, small, large, law), 0.8 * 8.1 / 15.7);
}

TEST(FindGpu, TakesTheExactNameElseTheStrongestOfTheFamily) {
  const Catalog catalog{.gpus = {gpu("V100-PCIe", 14, 900), gpu("V100-SXM2", 15.7, 900)}};
  EXPECT_EQ(find_gpu(catalog, "v100-pcie")->name, "V100-PCIe");
  EXPECT_EQ(find_gpu(catalog, "V100")->name, "V100-SXM2");
  EXPECT_EQ(find_gpu(catalog, "V10"), nullptr);
}

TEST(DeviceTimes, OfAMeasuredDeviceAreItsOwn) {
  const Catalog catalog = small_catalog();
  const auto times = device_times(small_job(), catalog, catalog.types[0], {0.5, 0.2});
  ASSERT_TRUE(times.ok()) << times.error().message;
  EXPECT_EQ(times->measured, "T4");
  EXPECT_EQ(times->scale, 1);
  EXPECT_FALSE(times->carried_over());
}

TEST(DeviceTimes, OfAnotherDeviceAreCarriedOverAndUnsure) {
  const Catalog catalog = small_catalog();
  const auto times = device_times(small_job(), catalog, catalog.types[2], {0.5, 0.2});
  ASSERT_TRUE(times.ok()) << times.error().message;
  EXPECT_EQ(times->device, "Fast");
  EXPECT_EQ(times->measured, "T4");
  EXPECT_NEAR(times->scale, 0.5, 1e-12);
  EXPECT_EQ(times->deviation, 0.2);
}

// Rows of a T4 say nothing of "Fast"; where a calibration does not state its devices, nobody knows.
TEST(DeviceTimes, AreValidatedByRowsOfTheModel) {
  const Catalog catalog = small_catalog();
  DeviceLaw law{.compute_share = 0.5, .spread = 0.2};
  EXPECT_TRUE(device_times(small_job(), catalog, catalog.types[2], law)->validated);
  law.measured = {"t4"};
  EXPECT_FALSE(device_times(small_job(), catalog, catalog.types[2], law)->validated);
  EXPECT_TRUE(device_times(small_job(), catalog, catalog.types[0], law)->validated);
  law.measured = {"fast", "t4"};
  EXPECT_TRUE(device_times(small_job(), catalog, catalog.types[2], law)->validated);
}

TEST(DeviceLaw, KnowsTheModelsOfItsRows) {
  Calibration calibration{.name = "devices"};
  calibration.data = {{.name = "a", .devices = {"A100-40GB-SXM", "V100-SXM2"}},
                      {.name = "b", .devices = {"A100-80GB-PCIe"}}};
  calibration.constants = {{.name = "arithmetic", .scope = "gpu:T4", .value = 0, .unit = "ln(1)"}};
  EXPECT_EQ(measured_models(calibration), (std::vector<std::string>{"a100", "t4", "v100"}));
}

TEST(DeviceTimes, StartFromTheNearestMeasuredDevice) {
  Catalog catalog = small_catalog();
  catalog.gpus.push_back(gpu("Tiny", 0.5, 32));
  JobProfile job = small_job();
  ComputeSample sample = job.compute[0];
  sample.device = "Tiny";
  job.compute.push_back(sample);
  EXPECT_EQ(device_times(job, catalog, catalog.types[2], {0.5, 0.2})->measured, "T4");
}

TEST(DeviceTimes, OfAProcessorNeedItsNameOrCpu) {
  const Catalog catalog = small_catalog();
  JobProfile job = small_job();
  const auto without = device_times(job, catalog, catalog.types[4], {0.5, 0.2});
  ASSERT_FALSE(without.ok());
  EXPECT_EQ(without.error().kind, ErrorKind::kUsage);
  EXPECT_NE(without.error().message.find("x/cpu.1 has no accelerator"), std::string::npos);
  job.compute[0].device = "cpu";
  EXPECT_TRUE(device_times(job, catalog, catalog.types[4], {0.5, 0.2}).ok());
}

TEST(DeviceTimes, OfAnAcceleratorWithoutFiguresAreRefused) {
  const Catalog catalog = small_catalog();
  const auto times = device_times(small_job(), catalog, catalog.types[3], {0.5, 0.2});
  ASSERT_FALSE(times.ok());
  EXPECT_NE(times.error().message.find("no figures of mystery.1's accelerator Odd"),
            std::string::npos);
}

TEST(DeviceLaw, NeedsBothConstantsInRange) {
  Calibration calibration{.name = "devices"};
  EXPECT_FALSE(device_law(calibration).ok());
  calibration.constants = {
      {.name = "compute_share", .scope = "devices", .value = 0.6, .unit = "1"},
      {.name = "device_spread", .scope = "devices", .value = 0.3, .unit = "1"}};
  ASSERT_TRUE(device_law(calibration).ok());
  EXPECT_EQ(device_law(calibration)->compute_share, 0.6);
  calibration.constants[0].value = 1.5;
  EXPECT_FALSE(device_law(calibration).ok());
}

TEST(DeviceLaw, HasAFixedShareWhereTheCalibrationDoes) {
  Calibration calibration{.name = "devices"};
  calibration.constants = {
      {.name = "compute_share", .scope = "devices", .value = 0.6, .unit = "1"},
      {.name = "device_spread", .scope = "devices", .value = 0.3, .unit = "1"}};
  EXPECT_FALSE(device_law(calibration)->fixed_share.has_value());
  calibration.constants.push_back(
      {.name = "fixed_share", .scope = "devices", .value = 0.3, .unit = "1", .deviation = 0.2});
  ASSERT_TRUE(device_law(calibration)->fixed_share.has_value());
  EXPECT_EQ(device_law(calibration)->fixed_share->mean, 0.3);
  EXPECT_EQ(device_law(calibration)->fixed_share->deviation, 0.2);
  calibration.constants.back().value = 1.1;
  EXPECT_FALSE(device_law(calibration).ok());
}

}  // namespace
}  // namespace stint
