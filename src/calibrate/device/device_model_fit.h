#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/calibration.h"
#include "predict/device_model.h"

namespace stint {

/// A measured time of known operators on an accelerator.
struct DeviceMeasurement {
  std::vector<Operator> operators;  // Of the forward pass.
  DeviceFigures device;
  ModelPasses passes;
  Seconds time;
  std::optional<Seconds> forward;  // Absent: as long as `time`.
  // Sums over the operators of a class in the forward pass, where they were measured.
  std::array<std::optional<Seconds>, kOperatorClasses> by_class;
};

/// Constants of the device model, and how well they predict accelerators that were left out.
struct DeviceModelFit {
  DeviceModel model;
  std::vector<Constant> constants;  // In the order of the covariance, in logarithms.
  std::vector<std::vector<double>> covariance;
  std::size_t rows = 0;
  std::vector<std::string> devices;
  AccuracyRecord accuracy;  // Leave one accelerator out; n is zero with fewer than three.
};

/// Fits the logarithms of the constants by least squares with physical priors, on the logarithms of
/// times and of sums by class (which weigh a sixth as much in deviation), with a robust loss.
/// Constants are shared by all accelerators; each has a difference in arithmetic ~ N(0, 0.1²) and
/// in bandwidth ~ N(0, 0.04²), vendors other than NVIDIA have wide ones. Sums that exceed the
/// measured forward pass by more than a tenth are not used: parts cannot be longer than the whole.
///
/// With at least three accelerators each is left out in turn, and the spread makes the 80 %
/// interval cover eight in ten of these rows. Fails without rows.
Result<DeviceModelFit> fit_device_model(std::span<const DeviceMeasurement> rows);

/// The fit as a calibration, without date and data.
Calibration to_calibration(const DeviceModelFit& fit, const std::string& name);

}  // namespace stint
