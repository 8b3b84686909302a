#pragma once

#include <map>
#include <string>
#include <vector>

namespace stint {

/// Deviations from the middle of a normal distribution to its 10th and 90th percentile.
inline constexpr double kInterval80 = 1.2815515655446004;

/// How far deviations are off where a unit (a GPU, an architecture) has no rows, learned by holding
/// units out of the training rows, and told apart by the job of a row.
class IntervalScales {
 public:
  /// Adds the error of a row of a held-out unit, over its deviation.
  void add(const std::string& unit, const std::string& job, double standardised);

  /// The factor on the deviation of a row of `job` in an unseen unit. With f, the factor with which
  /// 80 % intervals hold 80 % of the errors of n units, every unit counting the same, it is
  ///
  ///   f_job^w f_all^((1 − w) w'),  w = n_job / (n_job + 4),  w' = n_all / (n_all + 4)
  ///
  /// so few units decide little, and without any the deviations are believed as they are.
  double of(const std::string& job) const;

 private:
  using ByUnit = std::map<std::string, std::vector<double>>;

  static double scale(const ByUnit& errors, double believed);

  ByUnit all_;
  std::map<std::string, ByUnit> jobs_;
};

}  // namespace stint
