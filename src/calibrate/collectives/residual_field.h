#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace stint {

/// Where a collective lies among others, for what their deviations from the law have in common.
struct FieldPoint {
  std::size_t system = 0;
  std::size_t collective = 0;
  bool crosses = false;    // Between VMs.
  bool irregular = false;  // A mesh, whose wiring differs between machines.
  bool many_jobs = false;  // A median over jobs, which differ at the same size.
  double size_log = 0;     // ln of the size as the table states it.
  double workers_log2 = 0;
};

struct FieldEstimate {
  double mean = 0;
  double variance = 0;
  bool same_curve = false;  // A row of the same cluster and collective is known.
};

/// Deviations of measured log times from the law, interpolated by kriging (Matheron 1963): a
/// Gaussian field whose covariance between rows of one system is
///
///   c = a² m(|Δ ln S|/l) e^{−|Δ log₂ n|/k} r + b² e^{−|Δ log₂ n|/k} [same collective]
///       + q² e^{−|Δ log₂ n|/m} r' [same size]
///
/// plus noise, with Matérn's m(d) = (1 + √3 d) e^{−√3 d}: a curve over sizes, an offset of each
/// cluster size, and what jobs make of a size; r and r' are below one between different
/// collectives. It fades with distance, and is zero between systems. Only the nearest rows of a
/// point are used.
class ResidualField {
 public:
  ResidualField() = default;
  /// Requires as many residuals as points.
  ResidualField(std::vector<FieldPoint> points, std::vector<double> residuals);

  using Skip = std::function<bool(std::size_t row)>;

  /// The field at `point`, from the rows that `skip` does not skip.
  FieldEstimate at(const FieldPoint& point, const Skip& skip = {}) const;

  std::size_t size() const { return points_.size(); }
  const FieldPoint& point(std::size_t row) const { return points_[row]; }
  double residual(std::size_t row) const { return residuals_[row]; }

 private:
  std::vector<FieldPoint> points_;
  std::vector<double> residuals_;
};

/// True for two points of one cluster and collective.
bool same_curve(const FieldPoint& a, const FieldPoint& b);

}  // namespace stint
