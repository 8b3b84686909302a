#include "predict/work_time.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

#include "base/check.h"
#include "base/text.h"

namespace stint {
namespace {

constexpr double kTile = 128;                 // Side of the tiles of large products.
constexpr double kMultiprocessorsUsual = 80;  // Where the figure is missing.
constexpr double kDepthUsual = 600;           // Of a convolution: 3 × 3 × 64 and about.
constexpr FlopsPerSecond kFeedReference = 100e12 * kFlop / kSecond;
constexpr double kLogarithmMax = 50;
// One kernel for many tensors, as the fused optimizers of the frameworks have it.
constexpr double kUpdateKernels = 30;
constexpr int kBatchMaxPredicted = 4096;

/// The share of its rate that an operator class reaches at a precision.
struct Shares {
  double product = 1;
  double convolution = 1;
};

Shares shares_of(const WorkModel& law, Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return {law.product_fp32, law.convolution_fp32};
    case Precision::kTf32:
      return {law.product_tf32, law.convolution_tf32};
    case Precision::kBf16:
    case Precision::kFp16:
    case Precision::kFp8:
      return {law.product_half, law.convolution_half};
  }
  CHECK(false);
}

/// What an accelerator reaches in a training.
struct Rates {
  FlopsPerSecond product;
  FlopsPerSecond attention;
  FlopsPerSecond convolution;
  BytesPerSecond bandwidth;
  double multiprocessors = kMultiprocessorsUsual;
};

Rates rates_of(const DeviceFigures& device, Precision precision, const DeviceModel& model,
               const WorkModel& law) {
  const DeviceRates plain = device_rates(device, model);
  const Shares shares = shares_of(law, precision);
  Rates rates{
      .bandwidth = plain.bandwidth,
      .multiprocessors = device.multiprocessors ? *device.multiprocessors : kMultiprocessorsUsual};
  if (precision == Precision::kFp32) {
    const FlopsPerSecond large = plain.arithmetic * model.product_utilisation;
    rates.product = large * shares.product;
    rates.convolution = large * shares.convolution;
  } else {
    const double above = device.peak / kFeedReference;
    rates.product = plain.arithmetic * (shares.product * std::pow(above, -law.product_feed));
    rates.convolution =
        plain.arithmetic * (shares.convolution * std::pow(above, -law.convolution_feed));
  }
  rates.attention = rates.product * law.attention_share;
  return rates;
}

Seconds soft_maximum(Seconds a, Seconds b) {
  const double x = a.in(kSecond);
  const double y = b.in(kSecond);
  return std::sqrt(std::sqrt(x * x * x * x + y * y * y * y)) * kSecond;
}

/// Seconds of one run of an operator.
Seconds run_time(const WorkOperator& it, const Rates& rates, const WorkModel& law, double batch) {
  const Seconds launch = it.kernels.value_or(1) * law.kernel * kSecond;
  const Flops arithmetic = batch * it.flops.value_or(Flops{});
  const Bytes bytes = batch * it.moved.value_or(Bytes{}) + it.weights.value_or(Bytes{});
  const Seconds memory = bytes / (rates.bandwidth * law.sweep_share);
  switch (it.kind) {
    case WorkKind::kProduct:
      return soft_maximum(arithmetic / rates.product, memory) + launch;
    case WorkKind::kAttention:
      return soft_maximum(arithmetic / rates.attention, memory) + launch;
    case WorkKind::kConvolution: {
      const Flops wasted = law.convolution_waves * rates.multiprocessors * 2 * kTile * kTile *
                           it.depth.value_or(kDepthUsual) * kFlop;
      return (arithmetic + wasted) / rates.convolution + launch;
    }
    case WorkKind::kSweep:
      return memory + launch;
    case WorkKind::kMapSweep:
      return bytes / (rates.bandwidth * law.map_sweep_share) + launch;
  }
  CHECK(false);
}

bool measured_on(const JobProfile& job, const std::string& name) {
  return std::any_of(job.compute.begin(), job.compute.end(),
                     [&](const ComputeSample& it) { return names_family(name, it.device); });
}

/// Whether the work names `gpu`, or no accelerator at all.
bool is_asked_for(const JobWork& work, const Gpu& gpu) {
  const auto names = [&](const std::string& it) { return names_family(gpu.name, it); };
  return work.accelerators.empty() ||
         std::any_of(work.accelerators.begin(), work.accelerators.end(), names);
}

/// Batches to predict: powers of two while they fit, and the first that does not.
std::vector<int> batches_for(const JobProfile& job, const Gpu& gpu) {
  std::vector<int> batches;
  for (int batch = 1; batch <= kBatchMaxPredicted; batch *= 2) {
    batches.push_back(batch);
    const bool fits = !gpu.memory || work_memory(job, batch) <= *gpu.memory;
    if (!fits && batches.size() > 1) break;
  }
  return batches;
}

}  // namespace

std::span<const WorkConstant> work_constants() {
  static constexpr WorkConstant kConstants[] = {
      {"product_fp32", &WorkModel::product_fp32, 0.2},
      {"product_tf32", &WorkModel::product_tf32, 0.3},
      {"product_half", &WorkModel::product_half, 0.3},
      {"convolution_fp32", &WorkModel::convolution_fp32, 0.4},
      {"convolution_tf32", &WorkModel::convolution_tf32, 0.4},
      {"convolution_half", &WorkModel::convolution_half, 0.4},
      {"attention_share", &WorkModel::attention_share, 0.4},
      {"product_feed", &WorkModel::product_feed, 0.5},
      {"convolution_feed", &WorkModel::convolution_feed, 0.5},
      {"sweep_share", &WorkModel::sweep_share, 0.3},
      {"map_sweep_share", &WorkModel::map_sweep_share, 0.3},
      {"convolution_waves", &WorkModel::convolution_waves, 0.7},
      {"kernel", &WorkModel::kernel, 0.5},
  };
  return kConstants;
}

Result<WorkModel> work_model(const Calibration& calibration) {
  WorkModel law;
  std::set<std::string> found;
  for (const Constant& it : calibration.constants) {
    if (it.scope != "work") continue;
    if (!std::isfinite(it.value) || std::abs(it.value) > kLogarithmMax) {
      return bad_input(fmt::format("the calibration {} has {} of {} out of range", calibration.name,
                                   it.name, it.scope));
    }
    if (it.name == "spread") law.spread = it.value;
    for (const WorkConstant& known : work_constants()) {
      if (it.name == known.name) law.*known.member = std::exp(it.value);
    }
    found.insert(it.name);
  }
  for (const WorkConstant& it : work_constants()) {
    if (found.contains(it.name)) continue;
    return bad_input(fmt::format("the calibration {} lacks {}", calibration.name, it.name));
  }
  if (law.spread > 0) return law;
  return bad_input(fmt::format("the calibration {} must have a spread above 0", calibration.name));
}

std::optional<Precision> precision_on(const Gpu& gpu, WorkPrecision precision) {
  const auto if_there = [&](Precision it) -> std::optional<Precision> {
    if (!peak_at(gpu, it)) return std::nullopt;
    return it;
  };
  switch (precision) {
    case WorkPrecision::kBf16:
      return if_there(Precision::kBf16);
    case WorkPrecision::kFp16:
      return if_there(Precision::kFp16);
    case WorkPrecision::kTf32:
      return if_there(Precision::kTf32);
    case WorkPrecision::kFp32:
      return if_there(Precision::kFp32);
    case WorkPrecision::kFp8:
      return if_there(Precision::kFp8);
    case WorkPrecision::kMixed: {
      if (const auto bf16 = if_there(Precision::kBf16)) return bf16;
      constexpr double kTensorUnits = 3;  // FP16 over FP32 where there are tensor units.
      const bool tensor = gpu.fp16 && gpu.fp32 && *gpu.fp16 / *gpu.fp32 >= kTensorUnits;
      return tensor ? Precision::kFp16 : if_there(Precision::kFp32);
    }
  }
  CHECK(false);
}

WorkTimes work_times(const JobWork& work, const DeviceFigures& device, Precision precision,
                     const DeviceModel& model, const WorkModel& law, double batch) {
  const Rates rates = rates_of(device, precision, model, law);
  WorkTimes times;
  for (const WorkOperator& it : work.operators) {
    const Seconds once = it.count * run_time(it, rates, law, batch);
    times.forward += it.forward.value_or(1) * once;
    times.backward += it.backward * once;
  }
  times.forward = times.forward * (1 + evaluation_share(work));
  times.update = work.update_moved / (rates.bandwidth * law.sweep_share) +
                 kUpdateKernels * law.kernel * kSecond;
  return times;
}

Bytes work_memory(const JobProfile& job, double batch) {
  CHECK(job.work.has_value());
  return job.parameter_bytes.value_or(job.gradient_bytes) + job.gradient_bytes +
         job.optimizer_bytes.value_or(Bytes{}) + job.work->workspace.value_or(Bytes{}) +
         batch * job.work->activations.value_or(Bytes{});
}

void add_predicted_times(JobProfile& job, const Catalog& catalog, const DeviceModel& model,
                         const WorkModel& law) {
  if (!job.work) return;
  // Those of a file were predicted by the law of its day.
  std::erase_if(job.compute, [](const ComputeSample& it) { return it.predicted.has_value(); });
  std::vector<ComputeSample> samples;
  for (const Gpu& gpu : catalog.gpus) {
    const auto precision = precision_on(gpu, job.work->precision);
    if (!precision || measured_on(job, gpu.name) || !is_asked_for(*job.work, gpu)) continue;
    const auto device = device_figures(gpu, *precision);
    if (!device.ok()) continue;
    const double deviation = std::hypot(law.spread, model_spread(*device, model) - model.spread,
                                        job.work->spread.value_or(0));
    for (const int batch : batches_for(job, gpu)) {
      const WorkTimes times = work_times(*job.work, *device, *precision, model, law, batch);
      ComputeSample sample{.device = gpu.name,
                           .batch_per_worker = batch,
                           .forward = {.median = times.forward},
                           .backward = {.median = times.backward},
                           .update = {.median = times.update},
                           .predicted = deviation};
      if (job.work->activations) sample.peak_memory = work_memory(job, batch);
      samples.push_back(std::move(sample));
    }
  }
  job.compute.insert(job.compute.end(), samples.begin(), samples.end());
}

}  // namespace stint
