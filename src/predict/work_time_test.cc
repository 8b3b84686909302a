#include "predict/work_time.h"

#include <cmath>
#include <gtest/gtest.h>

namespace stint {
namespace {

constexpr FlopsPerSecond kTera = 1e12 * kFlop / kSecond;
constexpr BytesPerSecond kGigabytes = 1e9 * kByte / kSecond;

Gpu ampere() {
  return {.name = "A",
          .memory = 40 * kGB,
          .memory_bandwidth = 1000 * kGigabytes,
          .fp32 = 20 * kTera,
          .tf32 = 50 * kTera,
          .fp16 = 100 * kTera,
          .multiprocessors = 100};
}

Gpu volta() {
  return {.name = "V",
          .memory = 16 * kGB,
          .memory_bandwidth = 900 * kGigabytes,
          .fp32 = 15 * kTera,
          .fp16 = 120 * kTera};
}

/// Constants that make sums easy.
WorkModel plain_law() {
  WorkModel law;
  law.product_half = 0.5;
  law.convolution_half = 0.5;
  law.attention_share = 0.5;
  law.sweep_share = 0.5;
  law.map_sweep_share = 0.5;
  law.convolution_waves = 0;
  law.kernel = 0;
  return law;
}

Seconds forward_of(const WorkOperator& it, double batch, const WorkModel& law = plain_law()) {
  const JobWork work{.operators = {it}};
  const auto device = device_figures(ampere(), Precision::kBf16);
  return work_times(work, *device, Precision::kBf16, DeviceModel{}, law, batch).forward;
}

// 10 samples of 5 TFLOP at half of 100 TFLOP/s: one second; attention reaches half of that.
TEST(WorkTime, ProductsAreBoundByArithmetic) {
  EXPECT_NEAR(forward_of({.kind = WorkKind::kProduct, .flops = 5e12 * kFlop}, 10).in(kSecond), 1,
              1e-9);
  EXPECT_NEAR(forward_of({.kind = WorkKind::kAttention, .flops = 5e12 * kFlop}, 10).in(kSecond), 2,
              1e-9);
}

// 50 GB of weights at half of 1000 GB/s: 0.1 s whatever the batch.
TEST(WorkTime, SmallProductsAreBoundByTheirWeights) {
  const WorkOperator it{.kind = WorkKind::kProduct, .flops = 1 * kFlop, .weights = 50 * kGB};
  EXPECT_NEAR(forward_of(it, 1).in(kSecond), 0.1, 1e-9);
  EXPECT_NEAR(forward_of(it, 10).in(kSecond), 0.1, 1e-9);
}

// 10 samples of 50 GB: 1 s. Three kernels of 0.1 s more.
TEST(WorkTime, SweepsAreBoundByMemory) {
  WorkModel law = plain_law();
  law.kernel = 0.1;
  EXPECT_NEAR(
      forward_of({.kind = WorkKind::kSweep, .moved = 50 * kGB, .kernels = 3}, 10, law).in(kSecond),
      1.3, 1e-9);
}

// Waves of tiles: 1 · 100 · 2 · 128² · 1000 = 3.2768 Gflop, at 50 TFLOP/s 65.536 µs.
TEST(WorkTime, ConvolutionsWasteTheirLastWave) {
  WorkModel law = plain_law();
  law.convolution_waves = 1;
  const WorkOperator it{.kind = WorkKind::kConvolution, .depth = 1000};
  EXPECT_NEAR(forward_of(it, 1, law).in(kMicrosecond), 65.536, 1e-6);
}

// Four times the peak and a feed of one half: twice the rate.
TEST(WorkTime, HigherPeaksWaitForOperands) {
  Gpu fast = ampere();
  fast.fp16 = 400 * kTera;
  WorkModel law = plain_law();
  law.product_feed = 0.5;
  const JobWork work{.operators = {{.kind = WorkKind::kProduct, .flops = 5e12 * kFlop}}};
  const auto device = device_figures(fast, Precision::kBf16);
  const WorkTimes times = work_times(work, *device, Precision::kBf16, DeviceModel{}, law, 10);
  EXPECT_NEAR(times.forward.in(kSecond), 0.5, 1e-9);
  EXPECT_NEAR(times.backward.in(kSecond), 1, 1e-9);
}

TEST(WorkTime, MixedIsWhatTheTensorUnitsKnow) {
  EXPECT_EQ(precision_on(ampere(), WorkPrecision::kMixed), Precision::kBf16);
  EXPECT_EQ(precision_on(volta(), WorkPrecision::kMixed), Precision::kFp16);
  EXPECT_FALSE(precision_on(volta(), WorkPrecision::kBf16).has_value());
  EXPECT_EQ(precision_on(volta(), WorkPrecision::kFp32), Precision::kFp32);
  const Gpu old{.name = "K", .fp32 = 4 * kTera};
  EXPECT_EQ(precision_on(old, WorkPrecision::kMixed), Precision::kFp32);
}

JobProfile job() {
  JobProfile made{.name = "a", .gradient_bytes = 1 * kGB};
  made.work = JobWork{.model = "m",
                      .precision = WorkPrecision::kBf16,
                      .operators = {{.kind = WorkKind::kProduct, .flops = 1e12 * kFlop}},
                      .update_moved = 7 * kGB,
                      .activations = 4 * kGB,
                      .workspace = 1 * kGB};
  return made;
}

// Weights and gradients of 1 GB each, a workspace of 1 GB, 4 GB a sample: 11 GB at a batch of 2.
TEST(WorkTime, MemoryIsStatesAndActivations) {
  EXPECT_NEAR(work_memory(job(), 2).in(kGB), 11, 1e-9);
}

TEST(WorkTime, PredictsAcceleratorsThatHaveThePrecision) {
  JobProfile made = job();
  add_predicted_times(made, Catalog{.gpus = {ampere(), volta()}}, DeviceModel{}, WorkModel{});
  ASSERT_FALSE(made.compute.empty());
  for (const ComputeSample& it : made.compute) {
    EXPECT_EQ(it.device, "A");
    EXPECT_GT(*it.predicted, 0);
  }
  EXPECT_EQ(made.compute.back().batch_per_worker, 16);  // 67 GB: the first that does not fit.
}

TEST(WorkTime, LeavesMeasuredAcceleratorsAlone) {
  JobProfile made = job();
  made.compute = {{.device = "A", .batch_per_worker = 1}};
  add_predicted_times(made, Catalog{.gpus = {ampere()}}, DeviceModel{}, WorkModel{});
  EXPECT_EQ(made.compute.size(), 1U);
}

TEST(WorkTime, PredictsTheAcceleratorsThatTheWorkNames) {
  JobProfile made = job();
  made.work->precision = WorkPrecision::kFp32;
  made.work->accelerators = {"v"};
  const Catalog catalog{.gpus = {ampere(), volta()}};
  add_predicted_times(made, catalog, DeviceModel{}, WorkModel{});
  ASSERT_FALSE(made.compute.empty());
  for (const ComputeSample& it : made.compute) EXPECT_EQ(it.device, "V");
  // What a file has of an older law is predicted again, not kept beside.
  const std::size_t samples = made.compute.size();
  made.compute[0].forward.median = 99 * kSecond;
  add_predicted_times(made, catalog, DeviceModel{}, WorkModel{});
  EXPECT_EQ(made.compute.size(), samples);
  EXPECT_LT(made.compute[0].forward.median, 99 * kSecond);
}

// The spread of the work widens that of the law: √(0.3² + 0.4²) = 0.5.
TEST(WorkTime, AddsTheSpreadOfTheWork) {
  JobProfile made = job();
  made.work->spread = 0.4;
  WorkModel law;
  law.spread = 0.3;
  add_predicted_times(made, Catalog{.gpus = {ampere()}}, DeviceModel{}, law);
  EXPECT_NEAR(made.compute.at(0).predicted.value_or(0), 0.5, 0.01);
}

// Half of 100 TFLOP/s: an operator of the backward pass alone takes nothing forward.
TEST(WorkTime, OperatorsMayBelongToTheBackwardPassAlone) {
  const WorkOperator it{
      .kind = WorkKind::kProduct, .flops = 5e12 * kFlop, .forward = 0, .backward = 1};
  const JobWork work{.operators = {it}};
  const auto device = device_figures(ampere(), Precision::kBf16);
  const WorkTimes times =
      work_times(work, *device, Precision::kBf16, DeviceModel{}, plain_law(), 10);
  EXPECT_EQ(times.forward, Seconds{});
  EXPECT_NEAR(times.backward.in(kSecond), 1, 1e-9);
}

TEST(WorkTime, ReadsItsConstantsFromACalibration) {
  Calibration calibration{.name = "test"};
  for (const WorkConstant& it : work_constants()) {
    calibration.constants.push_back({.name = it.name, .scope = "work", .value = std::log(0.5)});
  }
  calibration.constants.push_back({.name = "spread", .scope = "work", .value = 0.3});
  const auto law = work_model(calibration);
  ASSERT_TRUE(law.ok()) << law.error().message;
  EXPECT_NEAR(law->product_half, 0.5, 1e-12);
  EXPECT_EQ(law->spread, 0.3);
  calibration.constants.erase(calibration.constants.begin());
  EXPECT_FALSE(work_model(calibration).ok());
}

}  // namespace
}  // namespace stint
