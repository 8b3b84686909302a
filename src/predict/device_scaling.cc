#include "predict/device_scaling.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "catalog/gpu_spelling.h"

namespace stint {
namespace {

std::vector<std::string> devices_of(const JobProfile& job) {
  std::set<std::string> devices;
  for (const ComputeSample& sample : job.compute) devices.insert(sample.device);
  return {devices.begin(), devices.end()};
}

/// The device of the profile that `name` is or belongs to, the most exact one; empty: none.
std::string measured_as(const JobProfile& job, std::string_view name) {
  std::string best;
  for (const std::string& device : devices_of(job)) {
    if (names_family(name, device) && device.size() > best.size()) best = device;
  }
  return best;
}

Result<DeviceTimes> measured_times(const JobProfile& job, std::string device,
                                   const std::string& measured, const DeviceLaw& law) {
  auto curve = compute_curve(job, measured, law.fixed_share.value_or(FixedShare{}));
  if (!curve.ok()) return curve.error();
  DeviceTimes times{.curve = std::move(*curve), .device = std::move(device), .measured = measured};
  for (const ComputeSample& sample : job.compute) {
    if (sample.device != measured || !sample.predicted) continue;
    times.predicted = true;
    times.deviation = *sample.predicted;
  }
  return times;
}

/// The seconds that the processors of a worker take for the input of a sample.
Seconds input_time(const JobProfile& job, const VmType& type) {
  if (!job.work || !job.work->input || !type.vcpus) return {};
  const int workers = type.accelerator ? type.accelerator->count : 1;
  return *job.work->input * (static_cast<double>(workers) / *type.vcpus);
}

/// Why a job with work has no times on `gpu`.
Error no_work_times(const JobProfile& job, const std::string& name, const Gpu* gpu) {
  const std::string_view precision = name_of(job.work->precision);
  if (gpu == nullptr) {
    return bad_usage(
        fmt::format("the catalogue has no figures of {}, so the job {} cannot be "
                    "predicted on it; choose another VM",
                    name, job.name));
  }
  const auto& named = job.work->accelerators;
  const bool meant = named.empty() || std::any_of(named.begin(), named.end(), [&](const auto& it) {
                       return names_family(gpu->name, it);
                     });
  if (!meant) {
    return bad_usage(
        fmt::format("the job {} is predicted for {} only, not for {}; profile it again "
                    "with --for {}",
                    job.name, join(named, ", "), name, name));
  }
  return bad_usage(
      fmt::format("{} lacks {}, which the job {} computes with; choose another GPU, "
                  "or another --precision",
                  name, precision, job.name));
}

Result<DeviceTimes> processor_times(const JobProfile& job, const VmType& type,
                                    const DeviceLaw& law) {
  for (const std::string& device : devices_of(job)) {
    const bool meant = to_lower(device) == to_lower(type.name) || to_lower(device) == "cpu";
    if (meant) return measured_times(job, device, device, law);
  }
  return bad_usage(
      fmt::format("{}/{} has no accelerator, and the job {} was not measured on a processor (a "
                  "device named {} or cpu); choose a VM with an accelerator",
                  type.provider, type.name, job.name, type.name));
}

/// The measured device nearest to `gpu` by peak arithmetic.
struct Reference {
  std::string device;
  const Gpu* gpu = nullptr;
};

Reference nearest_measured(const JobProfile& job, const Catalog& catalog, const Gpu& gpu) {
  Reference nearest;
  double shortest = std::numeric_limits<double>::infinity();
  for (const std::string& device : devices_of(job)) {
    const Gpu* candidate = find_gpu(catalog, device);
    if (candidate == nullptr || !candidate->fp32 || !gpu.fp32) continue;
    const double distance = std::abs(std::log(*candidate->fp32 / *gpu.fp32));
    if (distance >= shortest) continue;
    shortest = distance;
    nearest = {.device = device, .gpu = candidate};
  }
  return nearest;
}

}  // namespace

Result<DeviceLaw> device_law(const Calibration& calibration) {
  const Constant* share = nullptr;
  const Constant* spread = nullptr;
  std::optional<FixedShare> fixed;
  for (const Constant& constant : calibration.constants) {
    if (constant.name == "fixed_share") {
      fixed = {.mean = constant.value, .deviation = constant.deviation.value_or(0)};
    }
    if (constant.name == "compute_share") share = &constant;
    if (constant.name == "device_spread") spread = &constant;
  }
  if (share == nullptr || spread == nullptr) {
    return bad_input(fmt::format("the calibration {} lacks {}", calibration.name,
                                 share == nullptr ? "compute_share" : "device_spread"));
  }
  const bool sound = share->value >= 0 && share->value <= 1 && spread->value > 0;
  if (!sound) {
    return bad_input(fmt::format(
        "the calibration {} must have compute_share from 0 to 1 and device_spread above 0",
        calibration.name));
  }
  if (fixed && (fixed->mean < 0 || fixed->mean > 1 || fixed->deviation < 0)) {
    return bad_input(
        fmt::format("the calibration {} must have a fixed_share from 0 to 1 with a deviation of 0 "
                    "or more",
                    calibration.name));
  }
  return DeviceLaw{.compute_share = share->value,
                   .spread = spread->value,
                   .fixed_share = fixed,
                   .measured = measured_models(calibration)};
}

std::vector<std::string> measured_models(const Calibration& calibration) {
  constexpr std::string_view kScope = "gpu:";
  std::set<std::string> models;
  for (const Constant& it : calibration.constants) {
    if (!it.scope.starts_with(kScope)) continue;
    models.insert(read_gpu_spelling(it.scope.substr(kScope.size())).model);
  }
  for (const FittedData& data : calibration.data) {
    for (const std::string& device : data.devices) models.insert(read_gpu_spelling(device).model);
  }
  return {models.begin(), models.end()};
}

Result<double> device_ratio(const Gpu& from, const Gpu& to, double share) {
  for (const Gpu* gpu : {&from, &to}) {
    if (gpu->fp32 && gpu->memory_bandwidth) continue;
    return bad_usage(
        fmt::format("the catalogue has no {} of {}, so times cannot be scaled from {} to {}; "
                    "measure the job on {}",
                    gpu->fp32 ? "memory bandwidth" : "peak arithmetic", gpu->name, from.name,
                    to.name, to.name));
  }
  const bool tensor = from.tf32 && to.tf32;
  const double arithmetic = tensor ? *from.tf32 / *to.tf32 : *from.fp32 / *to.fp32;
  return share * arithmetic + (1 - share) * (*from.memory_bandwidth / *to.memory_bandwidth);
}

Result<double> job_ratio(const JobProfile& job, const Gpu& from, const Gpu& to,
                         const DeviceLaw& law) {
  auto plain = device_ratio(from, to, law.compute_share);
  const bool known = job.flops_per_sample && job.bytes_moved_per_sample;
  if (!plain.ok() || !known) return plain;
  const Precision precision = from.tf32 && to.tf32 ? Precision::kTf32 : Precision::kFp32;
  const auto before = device_figures(from, precision);
  if (!before.ok()) return before.error();
  const auto after = device_figures(to, precision);
  if (!after.ok()) return after.error();
  const auto time = [&](const DeviceFigures& device) {
    return plain_time(*job.flops_per_sample, *job.bytes_moved_per_sample, device, law.model);
  };
  return time(*after) / time(*before);
}

const Gpu* find_gpu(const Catalog& catalog, std::string_view name) {
  const Gpu* best = nullptr;
  for (const Gpu& gpu : catalog.gpus) {
    if (to_lower(gpu.name) == to_lower(name)) return &gpu;
    if (!names_family(gpu.name, name)) continue;
    const auto strength = [](const Gpu& it) {
      return std::pair(it.fp32.value_or(FlopsPerSecond{}), it.link_bandwidth.has_value());
    };
    const bool stronger = best == nullptr || strength(gpu) > strength(*best);
    if (stronger) best = &gpu;
  }
  return best;
}

namespace {

Result<DeviceTimes> times_without_input(const JobProfile& job, const Catalog& catalog,
                                        const VmType& type, const DeviceLaw& law) {
  if (job.compute.empty()) {
    return bad_input(fmt::format(
        "the job {} has no compute samples; profile it on one machine first", job.name));
  }
  if (!type.accelerator) return processor_times(job, type, law);
  const Gpu* gpu = gpu_of(catalog, type);
  const std::string name = gpu != nullptr ? gpu->name : type.accelerator->name;
  const std::string exact = measured_as(job, name);
  if (!exact.empty()) return measured_times(job, name, exact, law);
  const std::string rented = measured_as(job, type.accelerator->name);
  if (!rented.empty()) return measured_times(job, name, rented, law);
  if (job.work) return no_work_times(job, name, gpu);
  if (gpu == nullptr) {
    return bad_usage(
        fmt::format("the catalogue has no figures of {}'s accelerator {}, so times cannot be "
                    "scaled to it; measure the job on it or choose another VM",
                    type.name, name));
  }
  const Reference reference = nearest_measured(job, catalog, *gpu);
  if (reference.gpu == nullptr) {
    return bad_usage(
        fmt::format("times cannot be scaled to {}: the catalogue has no figures of it or of the "
                    "measured devices of the job {} ({}); measure the job on {}",
                    name, job.name, join(devices_of(job), ", "), name));
  }
  const auto ratio = job_ratio(job, *reference.gpu, *gpu, law);
  if (!ratio.ok()) return ratio.error();
  auto times = measured_times(job, name, reference.device, law);
  if (!times.ok()) return times.error();
  times->scale = *ratio;
  times->deviation = law.spread;
  return times;
}

/// Whether rows of the device are behind times that nobody measured on it.
bool backed(const DeviceTimes& times, const DeviceLaw& law) {
  if (!times.predicted && !times.carried_over()) return true;
  const std::vector<std::string>& models = times.predicted ? law.work_measured : law.measured;
  const std::string model = read_gpu_spelling(times.device).model;
  return models.empty() || std::find(models.begin(), models.end(), model) != models.end();
}

}  // namespace

Result<DeviceTimes> device_times(const JobProfile& job, const Catalog& catalog, const VmType& type,
                                 const DeviceLaw& law) {
  auto times = times_without_input(job, catalog, type, law);
  if (!times.ok()) return times;
  times->input_per_sample = input_time(job, type);
  times->validated = backed(*times, law);
  return times;
}

}  // namespace stint
