#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "measure/tables/lifetime_table.h"
#include "risk/hazard.h"

namespace stint {

/// The smoothness of the hazard over age, and whether kinds of machines differ.
struct HazardPrior {
  /// λ in the penalty λ/2 Σ (η_{j+1} − η_j)² on the log-rates of neighbouring steps. Without a
  /// limit it gives the exponential.
  double smoothing = 0;

  /// Whether each kind of machine has its own factor, with a Gamma(k, k) prior of mean one.
  bool kinds = false;
};

/// A hazard that follows the lifetimes, smooth where they have little information:
///
///   rate of machine i at age t = factor(kind of i) · exp(η_j), t in step j
///
/// Steps are of equal length in log(1 + t/10 min), so that the first minutes are resolved as well
/// as the later hours; the last rate holds for ever. η and the factors maximise the penalised
/// likelihood of bounds (S(at_least) − S(at_most); the rate where both are the same; S(at_least) of
/// a machine still alive), by expectation–maximisation over the unobserved loss times.
struct HazardFit {
  Hazard base;                          // Hazard of a machine whose factor is one.
  std::map<std::string, double> kinds;  // Empty: all kinds are alike.
  std::map<std::string, int> seen;      // Machines by kind.
  double smoothing = 0;
  int losses = 0;
  Seconds exposure;  // Observed machine time; a loss between probes in the middle.
};

/// Fits with λ chosen by five-fold cross-validation among these lifetimes; the folds take every
/// fifth row. With fewer than ten losses the rate is constant. Kinds are distinguished only if that
/// makes the lifetimes of held-out zones more likely.
HazardFit fit_hazard(std::span<const Lifetime> lifetimes);

/// Fits with a given prior.
HazardFit fit_hazard(std::span<const Lifetime> lifetimes, const HazardPrior& prior);

/// Losses over exposure: the usual exponential fit.
Hazard fit_exponential(std::span<const Lifetime> lifetimes);

/// The hazard of a machine drawn from `machines`, of which only the kind is used. A kind without
/// data is drawn as the machines of the fit were. Without machines: drawn from those of the fit.
Hazard hazard_of(const HazardFit& fit, std::span<const Lifetime> machines);

/// Log-likelihood of lifetimes, each under the hazard of its own kind.
double log_likelihood(const HazardFit& fit, std::span<const Lifetime> lifetimes);

/// The ratio of the losses of each zone to the fit's: (losses + k) / (expected + k).
std::map<std::string, double> zone_factors(const HazardFit& fit,
                                           std::span<const Lifetime> lifetimes);

}  // namespace stint
