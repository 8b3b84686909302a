#include "calibrate/device/device_model_fit.h"

#include <cmath>
#include <gtest/gtest.h>

#include "base/random.h"

namespace stint {
namespace {

const TransformerShape kShape{.type = TransformerType::kGpt2,
                              .layers = 24,
                              .hidden = 1024,
                              .heads = 16,
                              .feed_forward = 4096,
                              .vocabulary = 50257,
                              .positions = 1024};

DeviceFigures device_of(const std::string& name, double teraflops, double gigabytes) {
  return {.name = name,
          .vendor = "NVIDIA",
          .peak = teraflops * kTeraflop / kSecond,
          .bandwidth = gigabytes * kGB / kSecond,
          .multiprocessors = 60};
}

DeviceModel truth() {
  DeviceModel model;
  model.product_utilisation = 0.8;
  model.batched_utilisation = 0.6;
  model.elementwise_utilisation = 0.75;
  model.backward_sweeps = 2;
  return model;
}

/// Times of four accelerators by `model`, in training and inference, each off by `noise`.
std::vector<DeviceMeasurement> rows_of(const DeviceModel& model, double noise) {
  Random random(3);
  std::vector<DeviceMeasurement> rows;
  const DeviceFigures devices[] = {device_of("A", 9, 700), device_of("B", 14, 900),
                                   device_of("C", 20, 1500), device_of("D", 8, 320)};
  for (const DeviceFigures& device : devices) {
    for (const double batch : {2.0, 4.0, 8.0}) {
      for (const bool training : {false, true}) {
        DeviceMeasurement row{
            .operators = forward_operators(kShape, {.batch = batch, .length = 512}, 4 * kByte),
            .device = device,
            .passes = {.training = training},
            .time = {},
            .forward = {},
            .by_class = {}};
        const ForwardTimes forward = forward_times(row.operators, device, model);
        row.time = pass_time(forward, row.passes, model) * std::exp(random.normal() * noise);
        row.forward = forward.products() + forward.sweeps();
        for (std::size_t i = 0; i < kOperatorClasses; ++i) row.by_class[i] = forward.by_class[i];
        rows.push_back(std::move(row));
      }
    }
  }
  return rows;
}

TEST(DeviceModelFit, RecoversTimesOfAKnownModel) {
  const auto fit = fit_device_model(rows_of(truth(), 0));
  ASSERT_TRUE(fit.ok());
  EXPECT_EQ(fit->devices.size(), 4u);
  EXPECT_EQ(fit->accuracy.n, 24);
  EXPECT_LT(fit->accuracy.mape, 0.05);
  EXPECT_NEAR(fit->model.product_utilisation, 0.8, 0.05);
}

TEST(DeviceModelFit, WidensItsIntervalWithTheNoise) {
  const auto calm = fit_device_model(rows_of(truth(), 0.01));
  const auto loud = fit_device_model(rows_of(truth(), 0.2));
  ASSERT_TRUE(calm.ok());
  ASSERT_TRUE(loud.ok());
  EXPECT_GT(loud->model.spread, 2 * calm->model.spread);
  EXPECT_NEAR(loud->model.spread, 0.2, 0.1);
}

// An accelerator that reaches 0.8 of its figures is known by its own rows and only by them.
TEST(DeviceModelFit, GivesEachAcceleratorItsOwnDifference) {
  std::vector<DeviceMeasurement> rows = rows_of(truth(), 0);
  for (DeviceMeasurement& row : rows) {
    if (row.device.name == "B") row.time = row.time / 0.8;
  }
  const auto fit = fit_device_model(rows);
  ASSERT_TRUE(fit.ok());
  EXPECT_LT(fit->model.devices.at("B").arithmetic, fit->model.devices.at("A").arithmetic - 0.05);
}

// Sums of classes that exceed the pass say nothing about it.
TEST(DeviceModelFit, IgnoresPartsThatExceedTheWhole) {
  std::vector<DeviceMeasurement> rows = rows_of(truth(), 0);
  const auto before = fit_device_model(rows);
  for (DeviceMeasurement& row : rows) {
    for (auto& part : row.by_class) *part = 10 * *part;
  }
  const auto after = fit_device_model(rows);
  ASSERT_TRUE(before.ok());
  ASSERT_TRUE(after.ok());
  EXPECT_NEAR(after->model.product_utilisation, before->model.product_utilisation, 0.1);
  EXPECT_LT(after->accuracy.mape, 0.05);
}

TEST(DeviceModelFit, NeedsRowsAndLeavesNoneOutOfTwoAccelerators) {
  EXPECT_EQ(fit_device_model({}).error().message,
            "the device model needs at least one measured row");
  std::vector<DeviceMeasurement> rows = rows_of(truth(), 0);
  rows.resize(12);
  const auto fit = fit_device_model(rows);
  ASSERT_TRUE(fit.ok());
  EXPECT_EQ(fit->accuracy.n, 0);
  EXPECT_GE(fit->model.spread, DeviceModel{}.spread);
}

TEST(DeviceModelFit, MakesACalibrationThatTheModelReads) {
  const auto fit = fit_device_model(rows_of(truth(), 0.05));
  ASSERT_TRUE(fit.ok());
  const Calibration calibration = to_calibration(*fit, "device-model");
  EXPECT_TRUE(validate(calibration).ok());
  const auto model = device_model(calibration);
  ASSERT_TRUE(model.ok());
  EXPECT_NEAR(model->product_utilisation, fit->model.product_utilisation, 1e-12);
  EXPECT_NEAR(model->devices.at("D").bandwidth, fit->model.devices.at("D").bandwidth, 1e-12);
  EXPECT_EQ(model->spread, fit->model.spread);
  EXPECT_NEAR(model->peak_max.at("NVIDIA").in(kTeraflop / kSecond), 20, 1e-9);
}

}  // namespace
}  // namespace stint
