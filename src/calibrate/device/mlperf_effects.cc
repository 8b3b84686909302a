#include "calibrate/device/mlperf_effects.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "base/check.h"

namespace stint {
namespace {

/// Kinds of effects, common to all benchmarks or of one of them.
enum Kind : std::size_t {
  kBenchmark,
  kPeak,
  kPeakOfBenchmark,
  kBandwidth,
  kBandwidthOfBenchmark,
  kLink,
  kLinkOfBenchmark,
  kBatch,
  kBatchOfBenchmark,
  kRound,
  kRoundOfBenchmark,
  kArchitecture,
  kArchitectureOfBenchmark,
  kOtherMaker,
  kDevice,
  kDeviceOfBenchmark,
  kSubmitter,
  kKinds
};

/// Prior variances of logarithms, and of powers of figures: a power of the peak is 0.5 ± 0.1 over
/// all benchmarks and ± 0.1 between them; an accelerator, and a benchmark on it and on its
/// architecture, deviate by 7 % from the data sheet; data sheets of other makers compare within a
/// factor of 1.6; a round changes times by 3 %, a submitter by 3 %.
std::vector<double> prior_variances() {
  std::vector<double> variances(kKinds);
  variances[kBenchmark] = 100;
  variances[kPeak] = 0.01;
  variances[kPeakOfBenchmark] = 0.01;
  variances[kBandwidth] = 0.01;
  variances[kBandwidthOfBenchmark] = 0.01;
  variances[kLink] = 0.01;
  variances[kLinkOfBenchmark] = 0.01;
  variances[kBatch] = 0.01;
  variances[kBatchOfBenchmark] = 0.01;
  variances[kRound] = 0.001;
  variances[kRoundOfBenchmark] = 0.001;
  variances[kArchitecture] = 0.001;
  variances[kArchitectureOfBenchmark] = 0.005;
  variances[kOtherMaker] = 0.25;
  variances[kDevice] = 0.005;
  variances[kDeviceOfBenchmark] = 0.005;
  variances[kSubmitter] = 0.001;
  return variances;
}

// These and the variances above were chosen with the errors of held-out GPUs in view.
constexpr double kNoise = 0.001;  // Variance between entries of one benchmark and accelerator.
constexpr double kPower = 0.5;    // Of peak, of bandwidth, and of 8-bit arithmetic.
constexpr double kMiddleRound = 2;

// Figures of an A100 with 80 GB, so that logarithms are near zero; they cancel.
constexpr FlopsPerSecond kPeakUnit = 312 * kTeraflop / kSecond;
constexpr BytesPerSecond kBandwidthUnit = 2039 * kGB / kSecond;
constexpr BytesPerSecond kLinkUnit = 600 * kGB / kSecond;
constexpr BytesPerSecond kPcie = 64 * kGB / kSecond;  // Both directions of 16 lanes of PCIe 4.0.

/// Benchmarks whose submissions compute in 8 bits where the accelerator can.
bool is_language(std::string_view benchmark) {
  constexpr std::array<std::string_view, 4> kLanguage{"bert", "gpt", "llama", "t5"};
  for (const std::string_view it : kLanguage) {
    if (benchmark.starts_with(it)) return true;
  }
  return false;
}

/// Accelerators of one maker state their figures alike.
bool is_nvidia(std::string_view architecture) {
  constexpr std::array<std::string_view, 9> kArchitectures{
      "Kepler", "Maxwell", "Pascal", "Volta", "Turing", "Ampere", "Ada", "Hopper", "Blackwell"};
  return std::find(kArchitectures.begin(), kArchitectures.end(), architecture) !=
         kArchitectures.end();
}

/// The link over which all accelerators of a machine add gradients; a bridge joins two of them.
BytesPerSecond shared_link(const Gpu& gpu) {
  const bool bridge = gpu.link && gpu.link->find("bridge") != std::string::npos;
  return bridge ? kPcie : gpu.link_bandwidth.value_or(kPcie);
}

/// What the data sheet says of the time.
double by_data_sheet(const BenchmarkPoint& point) {
  double log_speed = kPower * std::log(*point.gpu->fp16 / kPeakUnit) +
                     kPower * std::log(*point.gpu->memory_bandwidth / kBandwidthUnit);
  if (is_language(point.benchmark) && has_fp8(*point.gpu)) log_speed += kPower * std::log(2.0);
  return -log_speed;
}

std::vector<NamedShare> shares_of(const BenchmarkPoint& point) {
  const Gpu& gpu = *point.gpu;
  const std::string& benchmark = point.benchmark;
  const std::array<std::pair<Kind, double>, 5> drivers{
      {{kPeak, std::log(*gpu.fp16 / kPeakUnit)},
       {kBandwidth, std::log(*gpu.memory_bandwidth / kBandwidthUnit)},
       {kLink, std::log(shared_link(gpu) / kLinkUnit)},
       {kBatch, std::log(point.batch / point.batch_usual)},
       {kRound, point.round - kMiddleRound}}};
  std::vector<NamedShare> shares{{.kind = kBenchmark, .name = benchmark}};
  for (const auto& [kind, weight] : drivers) {
    shares.push_back({.kind = kind, .name = "", .weight = weight});
    shares.push_back({.kind = kind + 1, .name = benchmark, .weight = weight});
  }
  const std::string architecture = gpu.architecture.value_or(gpu.name);
  shares.push_back({.kind = kArchitecture, .name = architecture});
  shares.push_back({.kind = kArchitectureOfBenchmark, .name = architecture + " " + benchmark});
  if (!is_nvidia(architecture)) shares.push_back({.kind = kOtherMaker, .name = architecture});
  shares.push_back({.kind = kDevice, .name = gpu.name});
  shares.push_back({.kind = kDeviceOfBenchmark, .name = gpu.name + " " + benchmark});
  shares.push_back({.kind = kSubmitter, .name = point.submitter});
  return shares;
}

}  // namespace

bool has_fp8(const Gpu& gpu) {
  const std::string architecture = gpu.architecture.value_or("");
  return architecture == "Hopper" || architecture == "Ada" || architecture == "Blackwell" ||
         architecture == "Gaudi2";
}

BenchmarkTimes BenchmarkTimes::fit(const std::vector<BenchmarkPoint>& points) {
  CHECK(!points.empty());
  NamedEffects effects(prior_variances(), kNoise);
  for (const BenchmarkPoint& point : points) {
    effects.add(shares_of(point), point.log_time - by_data_sheet(point));
  }
  effects.fit();
  return BenchmarkTimes(std::move(effects));
}

LogEstimate BenchmarkTimes::estimate(const BenchmarkPoint& point) const {
  LogEstimate estimate = effects_.estimate(shares_of(point));
  estimate.mean += by_data_sheet(point);
  return estimate;
}

}  // namespace stint
