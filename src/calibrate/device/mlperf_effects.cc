#include "calibrate/device/mlperf_effects.h"

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
  kDevice,
  kDeviceOfBenchmark,
  kSubmitter,
  kKinds
};

/// Prior variances of logarithms, and of powers of figures: a power of the peak is 0.5 ± 0.14 over
/// all benchmarks and ± 0.2 between them; an accelerator deviates by 10 % from its data sheet, and
/// a benchmark on it by as much; a round changes times by 3 %, a submitter by 3 %.
std::vector<double> prior_variances() {
  std::vector<double> variances(kKinds);
  variances[kBenchmark] = 100;
  variances[kPeak] = 0.02;
  variances[kPeakOfBenchmark] = 0.04;
  variances[kBandwidth] = 0.02;
  variances[kBandwidthOfBenchmark] = 0.04;
  variances[kLink] = 0.01;
  variances[kLinkOfBenchmark] = 0.01;
  variances[kBatch] = 0.01;
  variances[kBatchOfBenchmark] = 0.01;
  variances[kRound] = 0.001;
  variances[kRoundOfBenchmark] = 0.001;
  variances[kDevice] = 0.01;
  variances[kDeviceOfBenchmark] = 0.01;
  variances[kSubmitter] = 0.001;
  return variances;
}

constexpr double kNoise = 0.001;  // Variance between entries of one benchmark and accelerator.
constexpr double kPower = 0.5;    // Of peak, of bandwidth, and of 8-bit arithmetic.
constexpr double kMiddleRound = 2;

// Figures of an A100 with 80 GB, so that logarithms are near zero; they cancel.
constexpr FlopsPerSecond kPeakUnit = 312e12 * kFlop / kSecond;
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
       {kLink, std::log(gpu.link_bandwidth.value_or(kPcie) / kLinkUnit)},
       {kBatch, std::log(point.batch / point.batch_usual)},
       {kRound, point.round - kMiddleRound}}};
  std::vector<NamedShare> shares{{.kind = kBenchmark, .name = benchmark}};
  for (const auto& [kind, weight] : drivers) {
    shares.push_back({.kind = kind, .name = "", .weight = weight});
    shares.push_back({.kind = kind + 1, .name = benchmark, .weight = weight});
  }
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
