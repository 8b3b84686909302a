#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "catalog/catalog.h"
#include "plan/calibration.h"
#include "predict/operators.h"

namespace stint {

/// The format of the numbers that are multiplied.
enum class Precision { kFp32, kTf32, kBf16, kFp16, kFp8 };

std::span<const EnumName<Precision>> names_of(Precision type);

/// Bytes of a number in memory.
Bytes bytes_per_value(Precision precision);

/// What the device model asks of an accelerator at a precision.
struct DeviceFigures {
  std::string name;    // Its own differences are found by this name.
  std::string vendor;  // "NVIDIA", "AMD", … likewise.
  FlopsPerSecond peak;
  BytesPerSecond bandwidth;
  std::optional<int> multiprocessors;
  // One warp scheduler feeds 32 FP32 lanes, so that every cycle without a multiply-add is lost;
  // with 16 lanes every second cycle is free for loads and addresses.
  bool full_issue = false;
  // Board power over the power of full FP32 arithmetic at full clock; absent: not known, or tensor
  // units do the arithmetic.
  std::optional<double> power_headroom;
};

/// The peak of `gpu` at `precision`; nothing when the catalogue has none. BF16 is FP16's; FP8 is
/// twice FP16's from Ada and Hopper on.
std::optional<FlopsPerSecond> peak_at(const Gpu& gpu, Precision precision);

/// The figures of an accelerator of the catalogue. Usage error when peak or bandwidth is missing.
Result<DeviceFigures> device_figures(const Gpu& gpu, Precision precision);

/// Board power over the power of full FP32 arithmetic: watts / (peak · energy per operation), where
/// the energy is that of the architecture. Nothing for an architecture without a figure.
std::optional<double> power_headroom(const std::string& architecture, int watts,
                                     FlopsPerSecond peak);

/// Logarithms of what an accelerator reaches over what the model says of its data sheet.
struct DeviceDifference {
  double arithmetic = 0;
  double bandwidth = 0;
};

/// The constants of the device model; calibrate/device_model_fit.h fits them. The values here are
/// the means of the priors.
struct DeviceModel {
  double product_utilisation = 0.9;  // Of the peak, large products.
  double batched_utilisation = 0.75;
  double tile_waves = 0.5;                // Waves of tiles that a product takes besides its own.
  double elementwise_utilisation = 0.85;  // Of the memory's bandwidth.
  double normalisation_utilisation = 0.85;
  double softmax_utilisation = 0.85;
  double full_issue_share = 0.85;     // Of the peak that is left when every cycle is issued.
  double power_exponent = 0.7;        // Below 1: a lower clock needs less energy per operation.
  double power_knee = 1.0;            // Headroom below which the clock falls.
  double backward_sweeps = 1.5;       // Elementwise time of the backward pass over the forward one.
  double fusion_left = 0.3;           // Of elementwise time when a compiler fuses kernels.
  Seconds launch = 6 * kMicrosecond;  // Of a kernel; a constant, the published rows are all long.
  std::map<std::string, DeviceDifference> vendors;  // Other than NVIDIA.
  std::map<std::string, DeviceDifference> devices;  // Measured ones.
  double spread = 0.15;        // Deviation of the log of a time on an unmeasured accelerator.
  double spread_known = 0.08;  // The same on a measured one.
  // The ends of what was measured, beyond which the spread grows.
  std::map<std::string, FlopsPerSecond> peak_max;  // By vendor.
  std::optional<double> headroom_min;
};

/// A constant of the model that is fitted in its logarithm.
struct DeviceConstant {
  const char* name;
  double DeviceModel::*member;
  double deviation;  // Of the logarithm, a priori.
};

std::span<const DeviceConstant> device_constants();

/// Share of the peak clock that the board sustains.
///
///   φ = (1 + (h/h₀)^−s)^(−γ/s)
///
/// with headroom h, knee h₀, exponent γ and s = 12: one above the knee, (h/h₀)^γ below it. A board
/// that issues a share of its peak needs as much less power. One when the headroom is not known.
double sustained_clock(const DeviceFigures& device, const DeviceModel& model);

/// What an accelerator reaches with issue, clock and the differences of vendor and device applied,
/// before the share that an operator class reaches of it.
struct DeviceRates {
  FlopsPerSecond arithmetic;
  BytesPerSecond bandwidth;
};

DeviceRates device_rates(const DeviceFigures& device, const DeviceModel& model);

/// Seconds of one run of an operator.
///
///   products:  ((A/(F u φ))⁴ + (b/(B u_b))⁴)^¼ + launch,  A = 2 m n k · batches + w · S · 2 · 128²
///   k others:    b/(B u) + kernels · launch
///
/// A counts the arithmetic and w waves of tiles of 128 × 128 on S multiprocessors, which is what
/// the last wave wastes on average; the soft maximum joins arithmetic and memory. F and B are peak
/// and bandwidth with the differences of vendor and device.
Seconds operator_time(const Operator& it, const DeviceFigures& device, const DeviceModel& model);

/// Seconds of `arithmetic` in large products and of `moved` bytes in sweeps, one after the other:
/// what a job takes of which only these two figures are known.
///
///   A/(F u φ) + b/(B u_b)
Seconds plain_time(Flops arithmetic, Bytes moved, const DeviceFigures& device,
                   const DeviceModel& model);

/// Seconds of a forward pass by operator class, and those that dropout adds in training.
struct ForwardTimes {
  std::array<Seconds, kOperatorClasses> by_class;
  Seconds dropout;

  Seconds of(OperatorClass kind) const { return by_class[static_cast<std::size_t>(kind)]; }
  Seconds products() const;
  Seconds sweeps() const;  // Of all other classes, without dropout.
};

ForwardTimes forward_times(std::span<const Operator> operators, const DeviceFigures& device,
                           const DeviceModel& model);

/// Which passes are run, and how.
struct ModelPasses {
  bool training = false;  // Forward with dropout, then backward; else forward only.
  bool fused = false;     // A compiler fuses elementwise kernels.
};

/// Seconds of the passes: products of the backward pass take twice those of the forward one,
/// because gradients of inputs and of weights are products of the same size.
Seconds pass_time(const ForwardTimes& forward, const ModelPasses& passes, const DeviceModel& model);

/// Deviation of the log of a predicted time on `device`: spread_known where it was measured, else
///
///   √(spread² + (0.1 ln(peak/peak_max))² + (0.25 ln(headroom_min/headroom))² + v²)
///
/// with the logarithms above zero only, peak_max that of the vendor, and v = 0.3 for a vendor that
/// was not measured.
double model_spread(const DeviceFigures& device, const DeviceModel& model);

/// The constants of a calibration as a model; bad input when one is missing or out of range.
Result<DeviceModel> device_model(const Calibration& calibration);

}  // namespace stint
