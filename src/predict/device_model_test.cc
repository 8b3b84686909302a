#include "predict/device_model.h"

#include <cmath>
#include <gtest/gtest.h>

#include "base/random.h"

namespace stint {
namespace {

constexpr FlopsPerSecond kTeraflops = kTeraflop / kSecond;
constexpr BytesPerSecond kGigabytes = kGB / kSecond;

DeviceFigures plain_device() {
  return {.name = "X",
          .vendor = "NVIDIA",
          .peak = 10 * kTeraflops,
          .bandwidth = 500 * kGigabytes,
          .multiprocessors = 50};
}

const TransformerShape kShape{.type = TransformerType::kGpt2,
                              .layers = 12,
                              .hidden = 768,
                              .heads = 12,
                              .feed_forward = 3072,
                              .vocabulary = 50257,
                              .positions = 1024};

Seconds step(const TokenBatch& tokens, const DeviceFigures& device, const DeviceModel& model,
             bool training) {
  const auto operators = forward_operators(kShape, tokens, 4 * kByte);
  return pass_time(forward_times(operators, device, model), {.training = training}, model);
}

// 500 MB at 500 GB/s and a utilisation of 0.8 take 1.25 ms, three kernels 18 µs.
TEST(OperatorTime, OfASweepIsItsBytesAndLaunches) {
  DeviceModel model;
  model.elementwise_utilisation = 0.8;
  const Operator sweep{.kind = OperatorClass::kElementwise, .moved = 500 * kMB, .kernels = 3};
  EXPECT_NEAR(operator_time(sweep, plain_device(), model).in(kMillisecond), 1.25 + 0.018, 1e-9);
}

// 2 · 1000³ = 2 GFLOP and 0.1 waves of 50 tiles of 2 · 128² · 1000 = 0.16384 GFLOP at 8 TFLOP/s:
// 0.27048 ms; no bytes.
TEST(OperatorTime, OfAProductIsItsArithmeticAndALastWave) {
  DeviceModel model;
  model.product_utilisation = 0.8;
  model.tile_waves = 0.1;
  const Operator product{.kind = OperatorClass::kProduct,
                         .product = {.m = 1000, .n = 1000, .k = 1000}};
  EXPECT_NEAR(operator_time(product, plain_device(), model).in(kMillisecond), 0.27048 + 0.006,
              1e-9);
}

// Arithmetic and memory of equal length: a fourth root of two longer than either.
TEST(OperatorTime, JoinsArithmeticAndMemorySoftly) {
  DeviceModel model;
  model.product_utilisation = 1;
  model.elementwise_utilisation = 1;
  model.tile_waves = 0;
  model.launch = Seconds{};
  const Operator product{.kind = OperatorClass::kProduct,
                         .product = {.m = 1000, .n = 1000, .k = 5000},
                         .moved = 500 * kMB};
  EXPECT_NEAR(operator_time(product, plain_device(), model).in(kMillisecond), std::pow(2, 0.25),
              1e-9);
}

TEST(SustainedClock, FallsOnlyBelowTheKnee) {
  DeviceModel model;
  model.power_knee = 1;
  model.power_exponent = 0.8;
  DeviceFigures device = plain_device();
  EXPECT_EQ(sustained_clock(device, model), 1);
  device.power_headroom = 3;
  EXPECT_NEAR(sustained_clock(device, model), 1, 1e-5);
  device.power_headroom = 0.25;  // 0.25^0.8 = 0.3299.
  EXPECT_NEAR(sustained_clock(device, model), 0.3299, 1e-4);
  // Half of the peak is issued, so the power lasts for twice the clock: 0.5^0.8 = 0.5743.
  device.full_issue = true;
  model.full_issue_share = 0.5;
  EXPECT_NEAR(sustained_clock(device, model), 0.5743, 1e-4);
}

// 70 W against 8.1 TFLOP/s · 14.7 W.
TEST(PowerHeadroom, ComparesTheBoardWithItsArithmetic) {
  EXPECT_NEAR(*power_headroom("Turing", 70, 8.1 * kTeraflops), 0.5879, 1e-4);
  EXPECT_FALSE(power_headroom("Trainium", 70, 8.1 * kTeraflops));
}

TEST(DeviceFigures, ComeFromTheCatalogueAtAPrecision) {
  const Gpu gpu{.name = "H100-SXM",
                .architecture = "Hopper",
                .memory_bandwidth = 3350 * kGigabytes,
                .fp32 = 67 * kTeraflops,
                .tf32 = 494.5 * kTeraflops,
                .fp16 = 989 * kTeraflops,
                .multiprocessors = 132,
                .lanes_per_scheduler = 32,
                .board_power_watts = 700};
  const auto single = device_figures(gpu, Precision::kFp32);
  ASSERT_TRUE(single.ok());
  EXPECT_TRUE(single->full_issue);
  EXPECT_EQ(single->vendor, "NVIDIA");
  EXPECT_NEAR(*single->power_headroom, 700 / (67 * 5.9), 1e-9);
  // Tensor units have an energy of their own, of which nothing is known.
  const auto half = device_figures(gpu, Precision::kBf16);
  ASSERT_TRUE(half.ok());
  EXPECT_EQ(half->peak, 989 * kTeraflops);
  EXPECT_FALSE(half->power_headroom);
  EXPECT_FALSE(half->full_issue);
  EXPECT_EQ(*peak_at(gpu, Precision::kFp8), 2 * 989 * kTeraflops);
}

TEST(DeviceFigures, SayWhatTheCatalogueLacks) {
  const Gpu gpu{.name = "T4", .architecture = "Turing", .fp16 = 65 * kTeraflops};
  EXPECT_EQ(device_figures(gpu, Precision::kTf32).error().message,
            "the catalogue has no peak in tf32 of T4");
  EXPECT_EQ(device_figures(gpu, Precision::kFp16).error().message,
            "the catalogue has no memory bandwidth of T4");
  EXPECT_FALSE(peak_at(gpu, Precision::kBf16));
  EXPECT_FALSE(peak_at(gpu, Precision::kFp8));
}

// Products three times, sweeps and dropout 1 + backward_sweeps times.
TEST(PassTime, CountsTheBackwardPass) {
  ForwardTimes forward;
  forward.by_class = {6 * kSecond, 2 * kSecond, 1 * kSecond, 0.5 * kSecond, 0.5 * kSecond};
  forward.dropout = 1 * kSecond;
  DeviceModel model;
  model.backward_sweeps = 1.5;
  model.fusion_left = 0.5;
  EXPECT_NEAR(pass_time(forward, {}, model).in(kSecond), 10, 1e-12);
  EXPECT_NEAR(pass_time(forward, {.fused = true}, model).in(kSecond), 9, 1e-12);
  EXPECT_NEAR(pass_time(forward, {.training = true}, model).in(kSecond), 24 + 2.5 * 3, 1e-12);
}

TEST(DeviceModel, IsNeverSlowerOnABetterAccelerator) {
  const unsigned seed = 7;
  SCOPED_TRACE(seed);
  Random random(seed);
  for (int i = 0; i < 300; ++i) {
    DeviceModel model;
    model.power_exponent = random.uniform(0.3, 0.95);
    model.full_issue_share = random.uniform(0.6, 1);
    const int watts = 50 + static_cast<int>(random.uniform(0, 400));
    const double teraflops = random.uniform(3, 80);
    DeviceFigures worse = plain_device();
    worse.peak = teraflops * kTeraflops;
    worse.bandwidth = random.uniform(150, 4000) * kGigabytes;
    worse.full_issue = i % 3 == 0;
    worse.power_headroom = power_headroom("Ampere", watts, worse.peak);
    DeviceFigures better = worse;
    better.peak = worse.peak * random.uniform(1, 4);
    better.bandwidth = worse.bandwidth * random.uniform(1, 4);
    const int more_watts = watts + static_cast<int>(random.uniform(0, 300));
    better.power_headroom = power_headroom("Ampere", more_watts, better.peak);
    better.full_issue = worse.full_issue && i % 2 == 0;
    const TokenBatch tokens{.batch = 1.0 + i % 16, .length = 512};
    EXPECT_LE(step(tokens, better, model, i % 2 == 0).in(kSecond),
              step(tokens, worse, model, i % 2 == 0).in(kSecond) * (1 + 1e-12));
  }
}

TEST(DeviceModel, IsNeverFasterWithMoreSamplesOrTokens) {
  const DeviceModel model;
  Seconds before;
  for (int batch = 1; batch <= 64; ++batch) {
    const Seconds time = step({.batch = double(batch), .length = 128}, plain_device(), model, true);
    EXPECT_GT(time, before);
    before = time;
  }
  before = {};
  for (int length = 32; length <= 2048; length += 32) {
    const Seconds time = step({.batch = 2, .length = double(length)}, plain_device(), model, false);
    EXPECT_GT(time, before);
    before = time;
  }
}

TEST(ModelSpread, GrowsWithTheDistanceFromWhatWasMeasured) {
  DeviceModel model;
  model.spread = 0.1;
  model.spread_known = 0.05;
  model.devices["X"] = {};
  model.peak_max["NVIDIA"] = 20 * kTeraflops;
  model.headroom_min = 0.5;
  DeviceFigures device = plain_device();
  EXPECT_DOUBLE_EQ(model_spread(device, model), 0.05);
  device.name = "Y";
  EXPECT_DOUBLE_EQ(model_spread(device, model), 0.1);
  device.peak = 20 * std::exp(1) * kTeraflops;
  EXPECT_NEAR(model_spread(device, model), std::hypot(0.1, 0.1), 1e-12);
  device.power_headroom = 0.5 / std::exp(1);
  EXPECT_NEAR(model_spread(device, model), std::hypot(0.1, 0.1, 0.25), 1e-12);
  device.vendor = "AMD";
  const double far = std::hypot(0.1, 0.25);
  EXPECT_NEAR(model_spread(device, model), std::hypot(far, 0.3), 1e-12);
}

Calibration calibration_of_priors() {
  Calibration calibration{.name = "test"};
  const DeviceModel prior;
  for (const DeviceConstant& it : device_constants()) {
    calibration.constants.push_back(
        {.name = it.name, .scope = "accelerators", .value = std::log(prior.*it.member)});
  }
  return calibration;
}

TEST(DeviceModel, IsReadFromACalibration) {
  Calibration calibration = calibration_of_priors();
  calibration.constants[0].value = std::log(0.7);
  calibration.constants.push_back({.name = "arithmetic", .scope = "gpu:T4", .value = 0.1});
  calibration.constants.push_back({.name = "bandwidth", .scope = "vendor:AMD", .value = -0.2});
  calibration.constants.push_back({.name = "spread", .scope = "accelerators", .value = 0.2});
  const auto model = device_model(calibration);
  ASSERT_TRUE(model.ok());
  EXPECT_NEAR(model->product_utilisation, 0.7, 1e-12);
  EXPECT_EQ(model->devices.at("T4").arithmetic, 0.1);
  EXPECT_EQ(model->vendors.at("AMD").bandwidth, -0.2);
  EXPECT_EQ(model->spread, 0.2);
}

TEST(DeviceModel, RefusesCalibrationsThatLackOrExaggerate) {
  Calibration lacking = calibration_of_priors();
  lacking.constants.pop_back();
  EXPECT_EQ(device_model(lacking).error().message, "the calibration test lacks fusion_left");
  Calibration wild = calibration_of_priors();
  wild.constants[0].value = 1e9;
  EXPECT_EQ(device_model(wild).error().message,
            "the calibration test has product_utilisation of accelerators out of range");
  Calibration narrow = calibration_of_priors();
  narrow.constants.push_back({.name = "spread", .scope = "accelerators", .value = 0});
  EXPECT_EQ(device_model(narrow).error().message, "the calibration test must have spreads above 0");
}

}  // namespace
}  // namespace stint
