#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "solver/random_effects.h"

namespace stint {

/// The share of an unknown that has a kind and a name in a logarithm of a time.
struct NamedShare {
  std::size_t kind = 0;
  std::string name;
  double weight = 1;
};

/// A logarithm and its deviation, noise included.
struct LogEstimate {
  double mean = 0;
  double deviation = 0;
};

/// Logarithms of times that are sums of unknowns of several kinds, each normal around zero: a
/// front for solver/random_effects.h that knows unknowns by their names.
class NamedEffects {
 public:
  /// `variances` of the kinds, and of the noise, which has four degrees of freedom.
  NamedEffects(std::vector<double> variances, double noise);

  void add(const std::vector<NamedShare>& shares, double value);

  /// Fits what was added. Requires an observation.
  void fit();

  /// The sum of `shares`; an unknown that no observation had is zero with the variance of its kind.
  /// Requires fit().
  LogEstimate estimate(const std::vector<NamedShare>& shares) const;

 private:
  double noise_;
  std::map<std::pair<std::size_t, std::string>, std::size_t> numbers_;
  RandomEffects problem_;
  std::optional<FittedEffects> fitted_;
};

}  // namespace stint
