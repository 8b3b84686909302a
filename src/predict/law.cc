#include "predict/law.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "predict/straggler.h"

namespace stint {
namespace {

constexpr SecondsPerByte kNanosecondPerByte = 1e-9 * kSecond / kByte;
constexpr Bytes kReferenceGradients = 100 * kMB;
constexpr double kReferenceRate = 200;  // Samples per second; only fixes the unit of crowding.
constexpr double kRateLimit = 8;        // Where the growth of crowding with the rate levels off.

double workers_of(const LawInput& input) { return static_cast<double>(input.workers); }

double factor_of(const JobLaw& job, const LawInput& input) {
  return input.workers == 1 ? 1 : std::exp(job.factor);
}

Bytes gradients_of(const JobLaw& job, const LawInput& input) {
  return std::exp(job.size) * input.gradients;
}

/// Where constants move ln T most for how likely that is: C g / σ, and σ itself.
struct Direction {
  std::vector<double> slopes;
  std::vector<double> along;
  double deviation = 0;
};

/// With the slopes of ln T, which is `mean`, over a step of so many deviations.
Direction direction_of(const LogTimeAt& log_time, double mean, std::size_t constants,
                       const std::vector<std::vector<double>>& correlation, double step) {
  std::vector<double> moved(constants, 0.0);
  std::vector<double> slopes(constants, 0.0);
  for (std::size_t i = 0; i < constants; ++i) {
    moved[i] = step;
    slopes[i] = (log_time(moved) - mean) / step;
    moved[i] = 0;
  }
  Direction direction{.slopes = slopes, .along = slopes};
  for (std::size_t i = 0; i < correlation.size(); ++i) {
    direction.along[i] = 0;
    for (std::size_t k = 0; k < correlation.size(); ++k) {
      direction.along[i] += correlation[i][k] * slopes[k];
    }
  }
  double variance = 0;
  for (std::size_t i = 0; i < constants; ++i) variance += slopes[i] * direction.along[i];
  if (variance <= 0) return direction;
  direction.deviation = std::sqrt(variance);
  for (double& part : direction.along) part /= direction.deviation;
  return direction;
}

}  // namespace

Link network_link(const FabricLaw& fabric, const JobLaw& job, const LawInput& input) {
  const double factor = factor_of(job, input);
  if (input.servers > 0) {
    const double cost = factor * std::exp(fabric.server_cost + job.cost) / input.network;
    return {.inverse_bandwidth = cost * kNanosecondPerByte,
            .latency = factor * std::exp(fabric.server_latency + job.latency) * kSecond};
  }
  if (input.vms == 1) return {};
  const double doublings = std::log2(workers_of(input));
  const double messages = usual_bucket_count(gradients_of(job, input)) * doublings;
  const Seconds latency = factor * std::exp(fabric.latency + job.latency) * messages * kSecond;
  return {.inverse_bandwidth = network_cost(fabric, job, input),
          .latency = latency / (2.0 * (input.vms - 1))};  // The ring counts 2(N − 1) of them.
}

Link inside_link(const FabricLaw& fabric, const JobLaw& job, const LawInput& input) {
  const double cost = factor_of(job, input) * std::exp(fabric.inside_cost + job.inside_cost);
  return {.inverse_bandwidth = cost / input.inside_link * kNanosecondPerByte};
}

std::span<const LawName<FabricLaw>> law_names(const FabricLaw&) {
  static constexpr std::array kNames = std::to_array<LawName<FabricLaw>>({
      {"two_vm_cost", &FabricLaw::two_vm_cost},
      {"two_vm_workers", &FabricLaw::two_vm_workers},
      {"cost", &FabricLaw::cost},
      {"cost_by_vms", &FabricLaw::cost_by_vms},
      {"cost_by_workers", &FabricLaw::cost_by_workers},
      {"cost_by_size", &FabricLaw::cost_by_size},
      {"cost_by_network", &FabricLaw::cost_by_network},
      {"depth_cost", &FabricLaw::depth_cost},
      {"latency", &FabricLaw::latency},
      {"inside_cost", &FabricLaw::inside_cost},
      {"server_cost", &FabricLaw::server_cost},
      {"server_latency", &FabricLaw::server_latency},
      {"crowding_inside", &FabricLaw::crowding_inside},
      {"crowding_across", &FabricLaw::crowding_across},
      {"crowding_rate", &FabricLaw::crowding_rate},
      {"straggling", &FabricLaw::straggling},
      {"unhidden", &FabricLaw::unhidden},
      {"sharpness", &FabricLaw::sharpness},
  });
  return kNames;
}

std::span<const LawName<JobLaw>> law_names(const JobLaw&) {
  static constexpr std::array kNames = std::to_array<LawName<JobLaw>>({
      {"job_factor", &JobLaw::factor},
      {"job_cost", &JobLaw::cost},
      {"job_latency", &JobLaw::latency},
      {"job_inside_cost", &JobLaw::inside_cost},
      {"job_crowding", &JobLaw::crowding},
      {"job_straggling", &JobLaw::straggling},
      {"job_unhidden", &JobLaw::unhidden},
      {"job_size", &JobLaw::size},
  });
  return kNames;
}

int usual_bucket_count(Bytes gradients) {
  constexpr Bytes kFirst = 1 * kMiB;
  constexpr Bytes kNext = 25 * kMiB;
  constexpr double kMost = 1e6;  // Far beyond any job; a fit that strays must not overflow.
  if (gradients <= kFirst) return 1;
  return 1 + static_cast<int>(std::min(kMost, std::ceil((gradients - kFirst) / kNext)));
}

double host_load(const FabricLaw& fabric, const JobLaw& job, double rate) {
  const double power = std::pow(rate / kReferenceRate, fabric.crowding_rate);
  return power / (1 + power / kRateLimit) * std::exp(job.crowding);
}

Crowding crowding_parts(const FabricLaw& fabric, const JobLaw& job, const LawInput& input) {
  CHECK(input.alone > Seconds{});
  if (input.workers == 1) return {};
  const double load = host_load(fabric, job, input.batch_per_worker / input.alone.in(kSecond));
  const double inside = std::exp(fabric.crowding_inside) * (1 - 1.0 / input.workers_on_fullest_vm);
  const double factor = factor_of(job, input);
  double together = 1 + load * inside;
  if (input.asynchronous) return {.whole = together * factor, .together = together * factor};
  together += load * std::exp(fabric.crowding_across) * (1 - 1 / workers_of(input));
  double whole = together + (fabric.straggling + job.straggling) * std::log(workers_of(input));
  whole += input.jitter * expected_max_of_normals(input.workers);
  return {.whole = std::max(kCrowdingMin, whole) * factor,
          .together = std::max(kCrowdingMin, together) * factor};
}

double crowding(const FabricLaw& fabric, const JobLaw& job, const LawInput& input) {
  return crowding_parts(fabric, job, input).whole;
}

SecondsPerByte network_cost(const FabricLaw& fabric, const JobLaw& job, const LawInput& input) {
  CHECK(input.vms >= 2);
  const double n = workers_of(input);
  const double vms = input.vms;
  double log_cost = input.vms == 2 ? fabric.two_vm_cost + fabric.two_vm_workers * std::log(n / 2)
                                   : fabric.cost + fabric.cost_by_vms * std::log(vms / 3) +
                                         fabric.cost_by_workers * std::log(n / vms);
  log_cost += fabric.cost_by_size * std::log(gradients_of(job, input) / kReferenceGradients);
  // The ring sends 2(N − 1)/N of the bytes; the growth with depth is meant per byte of gradient.
  const double sent = 2 * (vms - 1) / vms;
  const double depth = std::exp(fabric.depth_cost + job.cost) * std::log2(n) / sent;
  const double by_network = std::pow(input.network, -fabric.cost_by_network);
  const double cost = (std::exp(log_cost + job.cost) + depth) * by_network;
  const SecondsPerByte wire = 1 / (input.network * input.reference);
  return std::max(factor_of(job, input) * cost * kNanosecondPerByte, wire);
}

StepSetup law_setup(const FabricLaw& fabric, const JobLaw& job, const LawInput& input) {
  CHECK(input.workers >= input.vms);
  const Seconds compute = crowding(fabric, job, input) * input.alone;
  const double unhidden =
      input.asynchronous ? 0 : 1 / (1 + std::exp(-(fabric.unhidden + job.unhidden)));
  StepGroup group{.vms = input.vms,
                  .workers_per_vm = 1,
                  .forward = unhidden * compute,
                  .backward = (1 - unhidden) * compute,
                  .network = network_link(fabric, job, input),
                  .inside = inside_link(fabric, job, input)};
  // The ring goes once through each VM; a parameter server hears from every worker.
  if (input.vms == 1) group.workers_per_vm = input.workers;
  if (input.vms > 1 && input.servers > 0) group.workers_per_vm = input.workers_on_fullest_vm;
  return {.groups = {group},
          .buckets = {Bucket{.bytes = gradients_of(job, input), .ready = 0}},
          .collective = input.servers > 0 ? Collective::kParameterServer : Collective::kRing,
          .servers = std::max(1, input.servers),
          .sharpness = 1 + std::exp(fabric.sharpness)};
}

LogSpread log_spread(const LogTimeAt& log_time, std::size_t constants,
                     const std::vector<std::vector<double>>& correlation) {
  std::vector<double> moved(constants, 0.0);
  const double mean = log_time(moved);
  const Direction near = direction_of(log_time, mean, constants, correlation, kNearStep);
  const Direction far = direction_of(log_time, mean, constants, correlation, kEightInTen);
  LogSpread spread{.below = 0, .above = near.deviation};
  for (std::size_t i = correlation.size(); i < constants; ++i) {
    spread.above = std::max(spread.above, far.slopes[i]);
  }
  // What may be faster shows at hand; only what may be slower hides.
  for (const Direction* direction : {&near, &far}) {
    if (direction->deviation <= 0) continue;
    for (const double side : {kEightInTen, -kEightInTen}) {
      for (std::size_t i = 0; i < constants; ++i) moved[i] = side * direction->along[i];
      const double change = (log_time(moved) - mean) / kEightInTen;
      spread.below = std::max(spread.below, -change);
      if (direction == &far) spread.above = std::max(spread.above, change);
    }
  }
  return spread;
}

std::vector<double> correlate(std::vector<std::vector<double>>& covariance) {
  std::vector<double> deviations;
  for (std::size_t i = 0; i < covariance.size(); ++i) {
    deviations.push_back(std::sqrt(std::max(0.0, covariance[i][i])));
  }
  for (std::size_t i = 0; i < covariance.size(); ++i) {
    for (std::size_t k = 0; k < covariance.size(); ++k) {
      const double scale = deviations[i] * deviations[k];
      covariance[i][k] = scale > 0 ? covariance[i][k] / scale : 0;
    }
  }
  return deviations;
}

double noise_variance(const LawNoise& noise, const LawInput& input, Seconds time) {
  const double exposed = std::max(0.0, 1 - input.alone / time);
  const double deviation = noise.scale * std::hypot(noise.floor, noise.exposed * exposed);
  const double uneven = input.jitter * (1 + expected_max_of_normals(input.workers));
  const double unsure = 0.5 * uneven * (input.alone / time);
  return deviation * deviation + unsure * unsure;
}

Seconds law_time(const FabricLaw& fabric, const JobLaw& job, const LawInput& input) {
  return total(step_parts(law_setup(fabric, job, input)));
}

}  // namespace stint
