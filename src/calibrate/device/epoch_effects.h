#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/device/interval_scale.h"
#include "calibrate/device/named_effects.h"
#include "catalog/catalog.h"

namespace stint {

/// What decides how long an epoch of a workload takes on one GPU under a power limit.
struct EpochPoint {
  std::string workload;
  const Gpu* gpu = nullptr;  // With fp32 and memory bandwidth.
  double batch = 1;
  bool half = false;                  // Computes at 16 bits, where the GPU can.
  std::optional<int> processor_year;  // In which the machine's processor appeared.
  std::string processor_maker;        // Empty: unknown.
  double limit = 1;                   // Power limit over the largest limit of the GPU.
  std::optional<double> power_share;  // Measured power over that largest limit.
  double log_time = 0;                // Not read for a prediction.
};

/// The logarithm of the seconds of an epoch:
///
///   ln t = c_wb + f (−0.6 ln F − 0.4 ln B + ⅓ (1/ρ − 1)² + Σ_x (s_x + s_xw) x + d + d_w)
///              + (1 − f) (−0.1 · year + m + h + h_w) + ε
///
/// c_wb is the workload w at batch b, linear between the batches that were measured; f is the part
/// of the time that the GPU bounds; F is the peak at the workload's precision, B the bandwidth of
/// the memory and ρ the power limit over the largest one; x are the logarithms of F and B, and
/// (1/ρ − 1)², whose factor depends on the GPU too; d is an effect of the GPU, m one of the maker
/// of the machine's processor and h one of the machine. Single threads of server processors became
/// some 10 % faster each year; where the year is unknown it is the mean of the known ones.
///
/// The host bounds a workload where its epochs shorten in proportion to the batch while the GPU
/// draws little power: with the elasticity e = −d ln t/d ln b and the share u of the power,
///
///   f = 1 − e² · (0.7 − u)/(0.7 − 0.3),  e and the last factor within 0 and 1.
///
/// Deviations are scaled by what the rows of GPUs that are held out of the points in turn ask for,
/// of the workload above all.
class EpochTimes {
 public:
  /// Requires a point.
  static EpochTimes fit(const std::vector<EpochPoint>& points);

  /// Nothing for a workload without points.
  std::optional<LogEstimate> estimate(const EpochPoint& point) const;

 private:
  /// A workload at a batch that was measured.
  struct Knot {
    double log_batch = 0;
    double gpu_bound = 1;
  };

  explicit EpochTimes(std::map<std::string, std::vector<Knot>> workloads);

  static EpochTimes fit_effects(const std::vector<EpochPoint>& points);
  static IntervalScales left_out_scales(const std::vector<EpochPoint>& points);
  static std::vector<Knot> knots_of(const std::vector<const EpochPoint*>& points);
  double gpu_bound(const EpochPoint& point) const;
  std::vector<NamedShare> shares_of(const EpochPoint& point) const;
  double by_data_sheet(const EpochPoint& point) const;

  std::map<std::string, std::vector<Knot>> workloads_;  // Knots in the order of batches.
  double usual_year_ = 0;                               // Mean of the known ones.
  NamedEffects effects_;
  IntervalScales scales_;  // Of deviations.
};

}  // namespace stint
