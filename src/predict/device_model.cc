#include "predict/device_model.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

#include "base/check.h"
#include "base/text.h"

namespace stint {
namespace {

constexpr double kKneeSharpness = 12;
constexpr double kTile = 128;                 // Side of the tiles of large products in cuBLAS.
constexpr double kMultiprocessorsUsual = 80;  // Where the figure is missing.
constexpr int kFullIssueLanes = 32;
constexpr double kUnknownVendorSpread = 0.3;  // Products of CDNA reached 0.7 of NVIDIA's share.

/// Watts per teraflop/s of FP32 at full clock. Pascal's follows from P100 boards, which hold nearly
/// their full clock; others are relative to it. Volta: "50 % more energy efficient" (NVIDIA's white
/// paper on V100), Turing has its SM and process. Ampere and later: claims of the foundries for the
/// step from 12 to 7 nm (a third less) and from 7 to 4 nm (two fifths less).
struct ArchitectureEnergy {
  const char* name;
  double watts_per_teraflop;
};
constexpr ArchitectureEnergy kEnergies[] = {
    {"Kepler", 34},  {"Maxwell", 29}, {"Pascal", 22},  {"Volta", 14.7},    {"Turing", 14.7},
    {"Ampere", 9.9}, {"Ada", 5.9},    {"Hopper", 5.9}, {"Blackwell", 5.9},
};

// Growth of the deviation per e-fold beyond what was measured: judgement, no row is that far out.
constexpr double kPeakGrowth = 0.1;
constexpr double kHeadroomGrowth = 0.25;

constexpr double kLogarithmMax = 50;  // Of a constant: beyond it something is wrong.

void set_constant(DeviceModel& model, const Constant& constant) {
  if (constant.name == "spread") model.spread = constant.value;
  if (constant.name == "spread_known") model.spread_known = constant.value;
  if (constant.name == "headroom_min") model.headroom_min = std::exp(constant.value);
  for (const DeviceConstant& it : device_constants()) {
    if (constant.name == it.name) model.*it.member = std::exp(constant.value);
  }
}

double of_device(const std::map<std::string, DeviceDifference>& all, const std::string& name,
                 double DeviceDifference::*field) {
  const auto found = all.find(name);
  return found == all.end() ? 0 : found->second.*field;
}

double difference(const DeviceFigures& device, const DeviceModel& model,
                  double DeviceDifference::*field) {
  return std::exp(of_device(model.vendors, device.vendor, field) +
                  of_device(model.devices, device.name, field));
}

Seconds product_time(const Operator& it, const DeviceFigures& device, const DeviceRates& rates,
                     const DeviceModel& model) {
  const bool batched = it.kind == OperatorClass::kBatchedProduct;
  const double utilisation = batched ? model.batched_utilisation : model.product_utilisation;
  const double multiprocessors = device.multiprocessors.value_or(kMultiprocessorsUsual);
  const Flops wasted =
      model.tile_waves * multiprocessors * 2 * kTile * kTile * it.product.k * kFlop;
  const Seconds arithmetic_time = (arithmetic(it) + wasted) / (rates.arithmetic * utilisation);
  const Seconds memory = it.moved / (rates.bandwidth * model.elementwise_utilisation);
  const double a = arithmetic_time.in(kSecond)*arithmetic_time.in(kSecond);
  const double b = memory.in(kSecond)*memory.in(kSecond);
  return std::sqrt(std::sqrt(a * a + b * b)) * kSecond + model.launch;
}

Seconds time_with(const Operator& it, const DeviceFigures& device, const DeviceRates& rates,
                  const DeviceModel& model) {
  const auto sweep = [&](double utilisation) {
    return it.moved / (rates.bandwidth * utilisation) + it.kernels * model.launch;
  };
  switch (it.kind) {
    case OperatorClass::kProduct:
    case OperatorClass::kBatchedProduct:
      return product_time(it, device, rates, model);
    case OperatorClass::kElementwise:
      return sweep(model.elementwise_utilisation);
    case OperatorClass::kNormalisation:
      return sweep(model.normalisation_utilisation);
    case OperatorClass::kSoftmax:
      return sweep(model.softmax_utilisation);
  }
  CHECK(false);
}

}  // namespace

std::span<const EnumName<Precision>> names_of(Precision /*type*/) {
  static constexpr EnumName<Precision> kNames[] = {
      {Precision::kFp32, "fp32"}, {Precision::kTf32, "tf32"}, {Precision::kBf16, "bf16"},
      {Precision::kFp16, "fp16"}, {Precision::kFp8, "fp8"},
  };
  return kNames;
}

Bytes bytes_per_value(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
    case Precision::kTf32:
      return 4 * kByte;
    case Precision::kBf16:
    case Precision::kFp16:
    case Precision::kFp8:  // Activations stay in 16 bits.
      return 2 * kByte;
  }
  CHECK(false);
}

std::optional<FlopsPerSecond> peak_at(const Gpu& gpu, Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return gpu.fp32;
    case Precision::kTf32:
      return gpu.tf32;
    case Precision::kBf16:  // Tensor units before Ampere know no BF16; those with TF32 do.
      return gpu.tf32 ? gpu.fp16 : std::nullopt;
    case Precision::kFp16:
      return gpu.fp16;
    case Precision::kFp8: {
      const std::string name = gpu.architecture.value_or("");
      const bool has = name == "Ada" || name == "Hopper" || name == "Blackwell";
      if (!has || !gpu.fp16) return std::nullopt;
      return 2 * *gpu.fp16;
    }
  }
  CHECK(false);
}

std::optional<double> power_headroom(const std::string& architecture, int watts,
                                     FlopsPerSecond peak) {
  for (const ArchitectureEnergy& it : kEnergies) {
    if (architecture != it.name) continue;
    return watts / (peak.in(kTeraflop / kSecond) * it.watts_per_teraflop);
  }
  return std::nullopt;
}

Result<DeviceFigures> device_figures(const Gpu& gpu, Precision precision) {
  const auto peak = peak_at(gpu, precision);
  if (!peak || !gpu.memory_bandwidth) {
    return bad_usage(fmt::format(
        "the catalogue has no {} of {}",
        peak ? "memory bandwidth" : fmt::format("peak in {}", name_of(precision)), gpu.name));
  }
  const std::string architecture = gpu.architecture.value_or("");
  DeviceFigures figures{.name = gpu.name,
                        .vendor = architecture.starts_with("CDNA")       ? "AMD"
                                  : architecture.starts_with("Trainium") ? "AWS"
                                                                         : "NVIDIA",
                        .peak = *peak,
                        .bandwidth = *gpu.memory_bandwidth,
                        .multiprocessors = gpu.multiprocessors};
  if (precision != Precision::kFp32) return figures;
  figures.full_issue = gpu.lanes_per_scheduler.value_or(0) >= kFullIssueLanes;
  if (gpu.board_power_watts) {
    figures.power_headroom = power_headroom(architecture, *gpu.board_power_watts, *peak);
  }
  return figures;
}

std::span<const DeviceConstant> device_constants() {
  static constexpr DeviceConstant kConstants[] = {
      {"product_utilisation", &DeviceModel::product_utilisation, 0.1},
      {"batched_utilisation", &DeviceModel::batched_utilisation, 0.2},
      {"tile_waves", &DeviceModel::tile_waves, 0.7},
      {"elementwise_utilisation", &DeviceModel::elementwise_utilisation, 0.15},
      {"normalisation_utilisation", &DeviceModel::normalisation_utilisation, 0.3},
      {"softmax_utilisation", &DeviceModel::softmax_utilisation, 0.3},
      {"full_issue_share", &DeviceModel::full_issue_share, 0.1},
      {"power_exponent", &DeviceModel::power_exponent, 0.4},
      {"power_knee", &DeviceModel::power_knee, 0.15},
      {"backward_sweeps", &DeviceModel::backward_sweeps, 0.4},
      {"fusion_left", &DeviceModel::fusion_left, 0.4},
  };
  return kConstants;
}

double sustained_clock(const DeviceFigures& device, const DeviceModel& model) {
  if (!device.power_headroom) return 1;
  const double issued = device.full_issue ? model.full_issue_share : 1;
  const double room = *device.power_headroom / (model.power_knee * issued);
  return std::pow(1 + std::pow(room, -kKneeSharpness), -model.power_exponent / kKneeSharpness);
}

DeviceRates device_rates(const DeviceFigures& device, const DeviceModel& model) {
  const double issue = device.full_issue ? model.full_issue_share : 1;
  return {.arithmetic = device.peak * issue * sustained_clock(device, model) *
                        difference(device, model, &DeviceDifference::arithmetic),
          .bandwidth = device.bandwidth * difference(device, model, &DeviceDifference::bandwidth)};
}

Seconds operator_time(const Operator& it, const DeviceFigures& device, const DeviceModel& model) {
  return time_with(it, device, device_rates(device, model), model);
}

Seconds plain_time(Flops arithmetic, Bytes moved, const DeviceFigures& device,
                   const DeviceModel& model) {
  const DeviceRates rates = device_rates(device, model);
  return arithmetic / (rates.arithmetic * model.product_utilisation) +
         moved / (rates.bandwidth * model.elementwise_utilisation);
}

Seconds ForwardTimes::products() const {
  return of(OperatorClass::kProduct) + of(OperatorClass::kBatchedProduct);
}

Seconds ForwardTimes::sweeps() const {
  return of(OperatorClass::kElementwise) + of(OperatorClass::kNormalisation) +
         of(OperatorClass::kSoftmax);
}

ForwardTimes forward_times(std::span<const Operator> operators, const DeviceFigures& device,
                           const DeviceModel& model) {
  const DeviceRates rates = device_rates(device, model);
  ForwardTimes times;
  for (const Operator& it : operators) {
    times.by_class[static_cast<std::size_t>(it.kind)] +=
        it.count * time_with(it, device, rates, model);
    times.dropout += it.count * it.dropout / (rates.bandwidth * model.elementwise_utilisation);
  }
  return times;
}

Seconds pass_time(const ForwardTimes& forward, const ModelPasses& passes,
                  const DeviceModel& model) {
  const double left = passes.fused ? model.fusion_left : 1;
  if (!passes.training) return forward.products() + left * forward.sweeps();
  const Seconds sweeps = left * (forward.sweeps() + forward.dropout);
  return 3 * forward.products() + (1 + model.backward_sweeps) * sweeps;
}

Result<DeviceModel> device_model(const Calibration& calibration) {
  DeviceModel model;
  std::set<std::string> found;
  for (const Constant& it : calibration.constants) {
    const auto split = it.scope.find(':');
    const std::string owner = split == std::string::npos ? "" : it.scope.substr(split + 1);
    if (!std::isfinite(it.value) || std::abs(it.value) > kLogarithmMax) {
      return bad_input(fmt::format("the calibration {} has {} of {} out of range", calibration.name,
                                   it.name, it.scope));
    }
    if (it.scope == "accelerators") {
      set_constant(model, it);
      found.insert(it.name);
      continue;
    }
    if (it.name == "peak_max") {
      model.peak_max[owner] = std::exp(it.value) * kFlop / kSecond;
      continue;
    }
    auto& all = it.scope.starts_with("vendor:") ? model.vendors : model.devices;
    (it.name == "arithmetic" ? all[owner].arithmetic : all[owner].bandwidth) = it.value;
  }
  for (const DeviceConstant& it : device_constants()) {
    if (found.contains(it.name)) continue;
    return bad_input(fmt::format("the calibration {} lacks {}", calibration.name, it.name));
  }
  if (model.spread > 0 && model.spread_known > 0) return model;
  return bad_input(fmt::format("the calibration {} must have spreads above 0", calibration.name));
}

double model_spread(const DeviceFigures& device, const DeviceModel& model) {
  if (model.devices.contains(device.name)) return model.spread_known;
  const bool vendor_known = device.vendor == "NVIDIA" || model.vendors.contains(device.vendor);
  double variance = model.spread * model.spread;
  if (!vendor_known) variance += kUnknownVendorSpread * kUnknownVendorSpread;
  const auto beyond = [&](double ratio, double growth) {
    const double distance = growth * std::log(std::max(ratio, 1.0));
    variance += distance * distance;
  };
  const auto measured = model.peak_max.find(device.vendor);
  if (measured != model.peak_max.end()) beyond(device.peak / measured->second, kPeakGrowth);
  if (model.headroom_min && device.power_headroom) {
    beyond(*model.headroom_min / *device.power_headroom, kHeadroomGrowth);
  }
  return std::sqrt(variance);
}

}  // namespace stint
