#include "calibrate/device/epoch_effects.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <utility>

#include "base/check.h"
#include "calibrate/device/interval_scale.h"

namespace stint {
namespace {

enum Kind : std::size_t {
  kKnot,
  kPeak,
  kPeakOfWorkload,
  kBandwidth,
  kBandwidthOfWorkload,
  kLimit,
  kLimitOfWorkload,
  kLimitOfGpu,
  kLimitOfBoth,
  kDevice,
  kDeviceOfWorkload,
  kHostMaker,
  kHost,
  kHostOfWorkload,
  kKinds
};

/// Prior variances of logarithms and of powers: powers of figures are uncertain by 0.14 over all
/// workloads and by as much between them; a GPU deviates by 10 % from its data sheet; processors of
/// two makers differ by a factor of 1.6, machines with processors of one maker by a quarter.
std::vector<double> prior_variances() {
  std::vector<double> variances(kKinds);
  variances[kKnot] = 100;
  variances[kPeak] = 0.02;
  variances[kPeakOfWorkload] = 0.02;
  variances[kBandwidth] = 0.02;
  variances[kBandwidthOfWorkload] = 0.02;
  variances[kLimit] = 0.01;
  variances[kLimitOfWorkload] = 0.01;
  variances[kLimitOfGpu] = 0.01;
  variances[kLimitOfBoth] = 0.005;
  variances[kDevice] = 0.01;
  variances[kDeviceOfWorkload] = 0.02;
  variances[kHostMaker] = 0.2;
  variances[kHost] = 0.05;
  variances[kHostOfWorkload] = 0.02;
  return variances;
}

// The powers, the rate of processors, the bounds of power and the variances above were chosen with
// the errors of held-out GPUs of Zeus's table in view.
constexpr double kNoise = 0.003;  // Variance of epochs that differ in nothing.
constexpr double kPeakPower = 0.6;
constexpr double kBandwidthPower = 0.4;
constexpr double kLimitFactor = 0.33;
constexpr double kFasterByYear = 0.1;  // Of a single thread of a processor.
constexpr double kBusyPower = 0.7;     // Share of the power that a GPU without pauses draws.
constexpr double kIdlePower = 0.3;     // Share below which it mostly waits.
constexpr double kNearLimit = 0.75;    // Limits below this slow the GPU itself.

// Figures of a V100S, so that logarithms are near zero; they cancel.
constexpr FlopsPerSecond kPeakUnit = 16.4 * kTeraflop / kSecond;
constexpr FlopsPerSecond kTensorUnit = 130 * kTeraflop / kSecond;
constexpr BytesPerSecond kBandwidthUnit = 1134 * kGB / kSecond;

double limit_term(double limit) {
  const double missing = 1 / limit - 1;
  return missing * missing;
}

double log_peak(const EpochPoint& point) {
  const Gpu& gpu = *point.gpu;
  return point.half && gpu.fp16 ? std::log(*gpu.fp16 / kTensorUnit)
                                : std::log(*gpu.fp32 / kPeakUnit);
}
double log_bandwidth(const Gpu& gpu) { return std::log(*gpu.memory_bandwidth / kBandwidthUnit); }

struct Sum {
  double total = 0;
  int count = 0;

  void add(double value) {
    total += value;
    ++count;
  }
  double mean() const { return total / count; }
};

/// How fast epochs shorten with the batch on one GPU, by batch, from means of times; within 0 and
/// 1. Between neighbours at the ends, over both neighbours elsewhere.
std::map<double, double> elasticities(const std::map<double, Sum>& times) {
  std::map<double, double> found;
  for (auto it = times.begin(); it != times.end(); ++it) {
    const auto below = it == times.begin() ? it : std::prev(it);
    const auto above = std::next(it) == times.end() ? it : std::next(it);
    if (below == above) continue;
    const double slope =
        (above->second.mean() - below->second.mean()) / (above->first - below->first);
    found[it->first] = std::clamp(-slope, 0.0, 1.0);
  }
  return found;
}

/// Where `x` lies: the number of the upper one of two neighbours in `xs`, and the weight of it,
/// beyond 0 and 1 outside. Requires two numbers.
struct Between {
  std::size_t above = 1;
  double weight = 0;
};

template <class Knots>
Between between(const Knots& knots, double x) {
  std::size_t above = 1;
  while (above + 1 < knots.size() && knots[above].log_batch < x) ++above;
  const double low = knots[above - 1].log_batch;
  return {.above = above, .weight = (x - low) / (knots[above].log_batch - low)};
}

std::string knot_name(const std::string& workload, double log_batch) {
  return fmt::format("{} {:.6f}", workload, log_batch);
}

}  // namespace

EpochTimes::EpochTimes(std::map<std::string, std::vector<Knot>> workloads)
    : workloads_(std::move(workloads)), effects_(prior_variances(), kNoise) {}

std::vector<EpochTimes::Knot> EpochTimes::knots_of(const std::vector<const EpochPoint*>& points) {
  std::map<const Gpu*, std::map<double, Sum>> times;
  std::map<double, Sum> power;
  std::map<double, Sum> elastic;
  std::vector<Knot> knots;
  for (const EpochPoint* point : points) {
    const double batch = std::log(point->batch);
    elastic[batch];
    if (point->limit <= kNearLimit) continue;
    times[point->gpu][batch].add(point->log_time);
    if (point->power_share) power[batch].add(*point->power_share);
  }
  for (const auto& [gpu, its] : times) {
    for (const auto& [batch, value] : elasticities(its)) elastic[batch].add(value);
  }
  for (const auto& [batch, sum] : elastic) {
    Knot knot{.log_batch = batch};
    if (sum.count > 0) {
      const auto drawn = power.find(batch);
      const double share = drawn == power.end() ? kIdlePower : drawn->second.mean();
      const double waiting = std::clamp((kBusyPower - share) / (kBusyPower - kIdlePower), 0.0, 1.0);
      knot.gpu_bound = 1 - sum.mean() * sum.mean() * waiting;
    }
    knots.push_back(knot);
  }
  return knots;
}

double EpochTimes::gpu_bound(const EpochPoint& point) const {
  const std::vector<Knot>& knots = workloads_.at(point.workload);
  if (knots.size() < 2) return knots.front().gpu_bound;
  const Between place = between(knots, std::log(point.batch));
  const double weight = std::clamp(place.weight, 0.0, 1.0);
  return std::lerp(knots[place.above - 1].gpu_bound, knots[place.above].gpu_bound, weight);
}

double EpochTimes::by_data_sheet(const EpochPoint& point) const {
  const double bound = gpu_bound(point);
  const double year = point.processor_year ? *point.processor_year - usual_year_ : 0;
  const double on_gpu = kLimitFactor * limit_term(point.limit) - kPeakPower * log_peak(point) -
                        kBandwidthPower * log_bandwidth(*point.gpu);
  return bound * on_gpu - (1 - bound) * kFasterByYear * year;
}

std::vector<NamedShare> EpochTimes::shares_of(const EpochPoint& point) const {
  const std::vector<Knot>& knots = workloads_.at(point.workload);
  std::vector<NamedShare> shares;
  if (knots.size() < 2) {
    shares.push_back({kKnot, knot_name(point.workload, knots.front().log_batch)});
  } else {
    const Between place = between(knots, std::log(point.batch));
    const auto name = [&](std::size_t k) { return knot_name(point.workload, knots[k].log_batch); };
    shares.push_back({kKnot, name(place.above - 1), 1 - place.weight});
    shares.push_back({kKnot, name(place.above), place.weight});
  }
  const double bound = gpu_bound(point);
  const double limit = bound * limit_term(point.limit);
  const std::array<std::pair<Kind, double>, 3> drivers{
      {{kPeak, bound * log_peak(point)},
       {kBandwidth, bound * log_bandwidth(*point.gpu)},
       {kLimit, limit}}};
  for (const auto& [kind, weight] : drivers) {
    shares.push_back({kind, "", weight});
    shares.push_back({kind + 1UL, point.workload, weight});
  }
  const std::string& gpu = point.gpu->name;
  const std::string both = gpu + " " + point.workload;
  shares.push_back({kLimitOfGpu, gpu, limit});
  shares.push_back({kLimitOfBoth, both, limit});
  shares.push_back({kDevice, gpu, bound});
  shares.push_back({kDeviceOfWorkload, both, bound});
  const std::string& maker = point.processor_maker.empty() ? gpu : point.processor_maker;
  shares.push_back({kHostMaker, maker, 1 - bound});
  shares.push_back({kHost, gpu, 1 - bound});
  shares.push_back({kHostOfWorkload, both, 1 - bound});
  return shares;
}

EpochTimes EpochTimes::fit(const std::vector<EpochPoint>& points) {
  CHECK(!points.empty());
  EpochTimes fitted = fit_effects(points);
  fitted.scales_ = left_out_scales(points);
  return fitted;
}

IntervalScales EpochTimes::left_out_scales(const std::vector<EpochPoint>& points) {
  std::set<std::string> gpus;
  for (const EpochPoint& point : points) gpus.insert(point.gpu->name);
  IntervalScales scales;
  for (const std::string& gpu : gpus) {
    std::vector<EpochPoint> others;
    for (const EpochPoint& point : points) {
      if (point.gpu->name != gpu) others.push_back(point);
    }
    if (others.empty()) continue;
    const EpochTimes without = fit_effects(others);
    for (const EpochPoint& point : points) {
      if (point.gpu->name != gpu) continue;
      const auto estimate = without.estimate(point);
      if (!estimate) continue;
      scales.add(gpu, point.workload, (point.log_time - estimate->mean) / estimate->deviation);
    }
  }
  return scales;
}

EpochTimes EpochTimes::fit_effects(const std::vector<EpochPoint>& points) {
  std::map<std::string, std::vector<const EpochPoint*>> by_workload;
  for (const EpochPoint& point : points) by_workload[point.workload].push_back(&point);
  std::map<std::string, std::vector<Knot>> workloads;
  for (const auto& [workload, its] : by_workload) workloads[workload] = knots_of(its);
  EpochTimes fitted(std::move(workloads));
  Sum years;
  for (const EpochPoint& point : points) {
    if (point.processor_year) years.add(*point.processor_year);
  }
  if (years.count > 0) fitted.usual_year_ = years.mean();
  for (const EpochPoint& point : points) {
    fitted.effects_.add(fitted.shares_of(point), point.log_time - fitted.by_data_sheet(point));
  }
  fitted.effects_.fit();
  return fitted;
}

std::optional<LogEstimate> EpochTimes::estimate(const EpochPoint& point) const {
  if (!workloads_.contains(point.workload)) return std::nullopt;
  LogEstimate estimate = effects_.estimate(shares_of(point));
  estimate.mean += by_data_sheet(point);
  estimate.deviation *= scales_.of(point.workload);
  return estimate;
}

}  // namespace stint
