#pragma once

#include <string>
#include <vector>

#include "calibrate/device/named_effects.h"
#include "catalog/catalog.h"

namespace stint {

/// What decides how long a sample of a benchmark takes on one accelerator of a machine.
struct BenchmarkPoint {
  std::string benchmark;
  std::string submitter;
  const Gpu* gpu = nullptr;  // With fp16 and memory bandwidth.
  double round = 0;          // Number of the round of MLPerf, from v2.1 = 0.
  double batch = 1;          // Samples per accelerator.
  double batch_usual = 1;    // Median of the benchmark.
  double log_time = 0;       // Of a sample on one accelerator; not read for a prediction.
};

/// The logarithm of the seconds of a sample:
///
///   ln t = μ_b − ½ ln F − ½ ln B − ½ ln(F8/F16) [language] + Σ_x (s_x + s_xb) x + d + d_b + u + ε
///
/// with F the peak at 16 bits, B the bandwidth of the memory, x the logarithms of F, B, of the
/// link between accelerators and of the batch per accelerator over its usual one, and the round; d
/// an effect of the accelerator and one of its architecture, u one of the submitter. An index b
/// marks effects of a benchmark.
/// All effects are normal around zero, so an accelerator without rows is predicted by its data
/// sheet and by how benchmarks follow data sheets elsewhere.
class BenchmarkTimes {
 public:
  /// Requires a point.
  static BenchmarkTimes fit(const std::vector<BenchmarkPoint>& points);

  LogEstimate estimate(const BenchmarkPoint& point) const;

 private:
  explicit BenchmarkTimes(NamedEffects effects) : effects_(std::move(effects)) {}

  NamedEffects effects_;
};

/// Whether an architecture computes in 8-bit floating point, at twice the rate of 16 bits.
bool has_fp8(const Gpu& gpu);

}  // namespace stint
