#pragma once

#include <span>
#include <vector>

#include "measure/tables/lifetime_table.h"
#include "risk/hazard.h"

namespace stint {

/// One study of the machines of a provider: the hazard of its typical machine, and how much its
/// pools differ.
struct PoolStudy {
  Hazard hazard;
  double variance = 0;  // Of the logarithm of the rate between the pools of the study.
};

/// The study of these lifetimes, all of one provider and time; its pools are the zones.
PoolStudy study_of(std::span<const Lifetime> lifetimes);

/// A published share of machines lost within a time, as a constant rate in the geometric middle of
/// its ends: ln λ is uniform between them, with a variance of (ln λ_max − ln λ_min)² / 12.
PoolStudy study_of(const PublishedLosses& published);

/// The pools of a provider: their cumulative hazards are log-normal around the median's.
struct PoolPopulation {
  Hazard median;
  double deviation = 0;  // Of the logarithm of the rate of a pool that no study observed.
};

/// The population that the studies are drawn from. Each study counts once, however many machines
/// it started, because the machines of a study share the state of a few pools at one time:
///
///   ln Λ(t) = mean over studies of ln Λ_s(t)
///   deviation² = (1 + 1/n) · variance over studies of ln Λ_s(24 h) + mean variance within studies
///
/// The term 1/n is for the mean, which is estimated as well. Studies without losses are ignored.
PoolPopulation pool_population(std::span<const PoolStudy> studies);

/// The factors on the rate of the median pool that stand for the calmest and the worst quarter of a
/// population: its quantiles 1/8 and 7/8. With the median they represent it with weights of a
/// quarter, a half and a quarter.
struct QuarterFactors {
  double low = 1;
  double high = 1;
};
QuarterFactors quarter_factors(double deviation);

/// The deviation of the logarithm with these quarters; their ratio alone counts.
double deviation_of(const QuarterFactors& factors);

/// The hazard with all rates times `factor`.
Hazard times(const Hazard& hazard, double factor);

/// The factor on the rates of the median pool, given one's own machines in it, at the quantiles
/// 1/8, 1/2 and 7/8 of
///
///   P(ln f) ∝ normal(ln f; 0, deviation) · f^losses · exp(−f Σ Λ(age))
///
/// One's own losses outweigh a wide population after a few of them.
struct PoolFactor {
  double low = 1;
  double median = 1;
  double high = 1;
};
PoolFactor observed_factor(const PoolPopulation& population, std::span<const Lifetime> own);

}  // namespace stint
