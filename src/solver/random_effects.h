#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace stint {

/// The share of an unknown in an observation.
struct EffectShare {
  std::size_t unknown = 0;
  double weight = 1;
};

struct Observation {
  std::vector<EffectShare> shares;
  double value = 0;
  std::size_t noise = 0;  // Number of its noise.
  bool at_least = false;  // The observation is a lower bound.
};

/// Variance of each kind of unknown, and of each noise.
struct EffectVariances {
  std::vector<double> kinds;
  std::vector<double> noises;
};

/// Observations that are sums of unknowns of several kinds. Fits are fast when unknowns that occur
/// together have neighbouring numbers.
struct RandomEffects {
  std::vector<std::size_t> kind_of;  // Kind of each unknown.
  std::vector<Observation> observations;
  // Prior, with the weight of two unknowns, or two observations, of each.
  EffectVariances believed;
  bool held = false;  // Keep the prior variances.
  // Degrees of freedom of the noise; infinite: normal.
  double freedom = std::numeric_limits<double>::infinity();
  int rounds = 10;
};

/// A lower triangle in which each row begins at its first number that may not be zero.
struct LowerTriangle {
  std::vector<std::vector<double>> rows;
  std::vector<std::size_t> first;  // Column of each row's first number.

  double& at(std::size_t i, std::size_t j) { return rows[i][j - first[i]]; }
  double at(std::size_t i, std::size_t j) const { return rows[i][j - first[i]]; }
};

/// The posterior of the unknowns.
class FittedEffects {
 public:
  const EffectVariances& variances() const { return variances_; }

  /// Mean and variance of a sum of unknowns, without noise.
  double mean(std::span<const EffectShare> shares) const;
  double variance(std::span<const EffectShare> shares) const;

 private:
  friend FittedEffects fit_random_effects(const RandomEffects& problem);

  EffectVariances variances_;
  std::vector<double> mean_;
  LowerTriangle root_;  // L⁻¹ of the precision L Lᵀ.
};

/// Fits unknowns u and their variances to observations
///
///   y_i = Σ_j x_ij u_j + ε_i,  u_j ~ N(0, v_kind(j)),  ε_i ~ t_ν with scale √s_noise(i)
///
/// by expectation maximisation: in each round u ~ N(m, V) given the variances,
///
///   V⁻¹ = Xᵀ diag(w / s) X + diag(1 / v),  m = V Xᵀ (w / s · y)
///
///   e_i = (y_i − x_i m)² + x_iᵀ V x_i,  w_i = (ν + 1) / (ν + e_i / s)
///
///   s = (Σ w_i e_i + 2 s₀) / (n + 2),  v = (Σ (m_j² + V_jj) + 2 v₀) / (n + 2)
///
/// so that the importance of kinds of unknowns is estimated too, and outliers count little. An
/// observation that is a lower bound counts as its expectation where that is above it. Unknowns
/// without observations keep mean 0 and the variance of their kind. Requires finite weights and
/// values, prior variances above zero for every kind and noise, and freedom > 0.
FittedEffects fit_random_effects(const RandomEffects& problem);

}  // namespace stint
