#include "predict/bucket_law.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <string>

#include "base/check.h"
#include "predict/straggler.h"

namespace stint {
namespace {

constexpr const char* kScope = "buckets";
constexpr SecondsPerByte kNanosecondPerByte = 1e-9 * kSecond / kByte;
constexpr double kNothing = -100;  // The logarithm of a cost that does not matter to any time.
constexpr int kGlooThreads = 2;    // Of ProcessGroupGloo, each of which runs one collective.

const Constant* find(const Calibration& calibration, const std::string& scope,
                     const std::string& name) {
  const auto found =
      std::find_if(calibration.constants.begin(), calibration.constants.end(),
                   [&](const Constant& it) { return it.scope == scope && it.name == name; });
  return found == calibration.constants.end() ? nullptr : &*found;
}

/// The place of a constant in the calibration's covariance.
std::size_t row_of(const Calibration& calibration, const Constant* constant) {
  std::size_t row = 0;
  for (const Constant& it : calibration.constants) {
    if (&it == constant) break;
    if (in_covariance(it)) ++row;
  }
  return row;
}

double covariance_of(const Calibration& calibration, const Constant* a, const Constant* b) {
  if (in_covariance(*a) && in_covariance(*b) && !calibration.covariance.empty()) {
    return calibration.covariance[row_of(calibration, a)][row_of(calibration, b)];
  }
  if (a != b) return 0;
  const double prior = a->prior_deviation.value_or(0);
  const double deviation = a->identified ? a->deviation.value_or(prior) : prior;
  return deviation * deviation;
}

Seconds time_of(const JobProfile& job, const Workers& cluster, const BucketLaw& law) {
  return total(step_parts(bucket_setup(job, cluster, law)));
}

/// The slope of ln T by each number of the law.
std::vector<double> slopes_of(const JobProfile& job, const Workers& cluster, BucketLaw law) {
  constexpr double kStep = 1e-4;
  std::vector<double> slopes;
  for (const auto& [name, field] : law_names(law)) {
    const double kept = law.*field;
    law.*field = kept + kStep;
    const Seconds above = time_of(job, cluster, law);
    law.*field = kept - kStep;
    const Seconds below = time_of(job, cluster, law);
    law.*field = kept;
    slopes.push_back(std::log(above / below) / (2 * kStep));
  }
  return slopes;
}

}  // namespace

std::span<const BucketLawName> law_names(const BucketLaw&) {
  static constexpr std::array kNames = std::to_array<BucketLawName>({
      {"payload", &BucketLaw::payload},
      {"vm_cost", &BucketLaw::vm_cost},
      {"latency", &BucketLaw::latency},
      {"latency_growth", &BucketLaw::latency_growth},
      {"overhead", &BucketLaw::overhead},
      {"jitter", &BucketLaw::jitter},
  });
  return kNames;
}

BucketLaw ring_formula() {
  return {.payload = std::log(1448.0 / 1514.0),
          .vm_cost = kNothing,
          .latency = kNothing,
          .latency_growth = 1,
          .overhead = kNothing,
          .jitter = kNothing};
}

std::vector<Bucket> usual_buckets(Bytes gradients) {
  constexpr Bytes kFirst = 1 * kMiB;
  const int count = usual_bucket_count(gradients);
  std::vector<Bucket> buckets;
  Bytes done;
  for (int i = 0; i < count; ++i) {
    const Bytes most = i == 0 ? kFirst : 25 * kMiB;
    const Bytes bytes = i + 1 == count ? gradients - done : most;
    done += bytes;
    buckets.push_back({.bytes = bytes, .ready = done / gradients});
  }
  return buckets;
}

Link bucket_link(const BucketLaw& law, BytesPerSecond rate, int vms) {
  CHECK(vms >= 2);
  CHECK(rate > BytesPerSecond{});
  const double others = vms - 1;
  const Seconds latency = std::exp(law.latency) * std::pow(others, law.latency_growth) * kSecond;
  const SecondsPerByte crowd = std::exp(law.vm_cost) * vms * kNanosecondPerByte;
  return {.inverse_bandwidth = 1 / (std::exp(law.payload) * rate) + crowd,
          .latency = latency / (2 * others)};
}

StepSetup bucket_setup(const JobProfile& job, const Workers& cluster, const BucketLaw& law) {
  const int vms = cluster.vms();
  const bool alone = cluster.workers() == 1;
  StepSetup setup{.buckets = job.buckets.empty() ? usual_buckets(job.gradient_bytes) : job.buckets,
                  .collective = cluster.collective,
                  .servers = std::max(1, cluster.servers),
                  .accumulation = cluster.accumulation,
                  .in_flight = kGlooThreads};
  if (!alone) setup.jitter = std::exp(law.jitter);
  for (const WorkerGroup& group : cluster.groups) {
    const ComputeCurve& curve = group.times->curve;
    const double batch = group.batch;
    const double scale = group.times->scale;
    StepGroup step{.vms = group.vms,
                   .workers_per_vm = group.workers_per_vm,
                   .forward = scale * curve.forward.at(batch),
                   .backward = scale * curve.backward.at(batch),
                   .update = scale * curve.update.at(batch),
                   .input = batch * job.input_per_sample.value_or(Seconds{})};
    if (!alone) step.update += std::exp(law.overhead) * vms * kSecond;
    if (vms > 1) step.network = bucket_link(law, group.network * cluster.reference_network, vms);
    setup.groups.push_back(step);
    setup.jitter = std::max(setup.jitter, group.jitter);
  }
  return setup;
}

Result<std::optional<CalibratedBuckets>> calibrated_buckets(const Calibration& calibration) {
  const bool there = std::any_of(calibration.constants.begin(), calibration.constants.end(),
                                 [](const Constant& it) { return it.scope == kScope; });
  if (!there) return std::optional<CalibratedBuckets>();
  CalibratedBuckets buckets;
  std::string missing;
  std::vector<const Constant*> constants;
  const auto take = [&](const char* scope, const char* name, double& value) {
    constants.push_back(find(calibration, scope, name));
    if (constants.back() != nullptr) value = constants.back()->value;
    if (constants.back() == nullptr && missing.empty())
      missing = fmt::format("{} of {}", name, scope);
  };
  for (const auto& [name, field] : law_names(buckets.law)) take(kScope, name, buckets.law.*field);
  const std::size_t count = constants.size();
  take("noise", "noise_floor", buckets.noise_floor);
  take("noise", "noise_exposed", buckets.noise_exposed);
  if (!missing.empty()) {
    return bad_input(
        fmt::format("the calibration {} lacks the constant {}", calibration.name, missing));
  }
  const Constant* rate = find(calibration, "fabric_reference", "total_rate");
  if (rate != nullptr) buckets.total_rate = rate->value * kGbit / kSecond;
  for (std::size_t i = 0; i < count; ++i) {
    auto& row = buckets.covariance.emplace_back();
    for (std::size_t k = 0; k < count; ++k) {
      row.push_back(covariance_of(calibration, constants[i], constants[k]));
    }
  }
  return std::optional(std::move(buckets));
}

FabricLaw stream_bound(const BucketLaw& law, BytesPerSecond reference) {
  const double cost = std::log(1 / (std::exp(law.payload) * reference) / kNanosecondPerByte);
  return {.two_vm_cost = cost,
          .cost = cost,
          .cost_by_network = 1,
          .depth_cost = kNothing,
          .latency = kNothing,
          .inside_cost = kNothing,
          .server_cost = cost,
          .server_latency = kNothing,
          .crowding_inside = kNothing,
          .crowding_across = kNothing,
          .unhidden = kNothing,
          .sharpness = -kNothing};
}

double bucket_log_deviation(const JobProfile& job, const Workers& cluster,
                            const CalibratedBuckets& buckets) {
  const std::vector<double> slopes = slopes_of(job, cluster, buckets.law);
  const IterationParts parts = step_parts(bucket_setup(job, cluster, buckets.law));
  const double exposed = parts.exposed_communication / total(parts);
  double variance = buckets.noise_floor * buckets.noise_floor;
  variance += buckets.noise_exposed * exposed * buckets.noise_exposed * exposed;
  for (std::size_t i = 0; i < slopes.size(); ++i) {
    for (std::size_t k = 0; k < slopes.size(); ++k) {
      variance += slopes[i] * buckets.covariance[i][k] * slopes[k];
    }
  }
  return std::sqrt(std::max(0.0, variance));
}

}  // namespace stint
