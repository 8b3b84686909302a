#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "catalog/catalog.h"
#include "job/job.h"
#include "plan/calibration.h"
#include "predict/device_model.h"

namespace stint {

/// The constants of the law of a job's work, beside those of the device model; fitted to published
/// training speeds by calibrate/device/work_model_fit.h. The values here are the means of the
/// priors. Shares are of what the device model says of large products in FP32, and of the peak at
/// other precisions.
struct WorkModel {
  double product_fp32 = 1;
  double product_tf32 = 0.7;
  double product_half = 0.75;  // At a peak of 100 TFLOP/s, BF16 and FP16.
  double convolution_fp32 = 0.9;
  double convolution_tf32 = 0.4;
  double convolution_half = 0.6;
  double attention_share = 0.5;  // Of what products reach.
  // Tensor units of a higher peak wait more for their operands: what they reach grows with the peak
  // to the power of one minus this.
  double product_feed = 0.25;
  double convolution_feed = 0.4;
  double sweep_share = 0.7;      // Of the memory's bandwidth.
  double map_sweep_share = 0.7;  // The same between convolutions.
  double convolution_waves = 1;  // Waves of tiles that a convolution takes besides its own.
  double kernel = 8e-6;          // Seconds of a launch, with the framework's own work.
  double spread = 0.25;          // Deviation of the log of a time.
};

/// A constant of the law that is fitted in its logarithm.
struct WorkConstant {
  const char* name;
  double WorkModel::*member;
  double deviation;  // Of the logarithm, a priori.
};

std::span<const WorkConstant> work_constants();

/// The constants of a calibration; bad input when one is missing or out of range.
Result<WorkModel> work_model(const Calibration& calibration);

/// The format that `gpu` multiplies in when a job asks for `precision`: mixed is BF16 where the
/// tensor units know it, FP16 where there are tensor units, and FP32 elsewhere. Nothing when the
/// accelerator lacks it.
std::optional<Precision> precision_on(const Gpu& gpu, WorkPrecision precision);

/// What one iteration of a worker takes.
struct WorkTimes {
  Seconds forward;  // With its part of the evaluations.
  Seconds backward;
  Seconds update;
};

/// Seconds of an iteration of `batch` samples. An operator takes
///
///   products, attention:  ((b F/R)⁴ + ((b m + w)/(B u))⁴)^¼ + kernels · t
///   convolutions:         (b F + waves · S · 2 · 128² · depth)/R + kernels · t
///   sweeps:               b m/(B u) + kernels · t
///
/// with arithmetic F, bytes m of a sample, weights w, bandwidth B and the rate R = share · P ·
/// (P/100 TFLOP/s)^−feed of a peak P of tensor units. The backward pass takes each as often as the
/// operator says.
WorkTimes work_times(const JobWork& work, const DeviceFigures& device, Precision precision,
                     const DeviceModel& model, const WorkModel& law, double batch);

/// The memory of a worker: states, activations and workspace.
Bytes work_memory(const JobProfile& job, double batch);

/// Puts times of the job's work on every accelerator of the catalogue that the job was not measured
/// on into its compute samples, at batches up to what fits there, in place of times that were
/// predicted before. Accelerators that lack the precision, and those that the work does not name
/// where it names some, get none. Does nothing for a job without work.
void add_predicted_times(JobProfile& job, const Catalog& catalog, const DeviceModel& model,
                         const WorkModel& law);

}  // namespace stint
