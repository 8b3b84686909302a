#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/units.h"
#include "measure/tables/lifetime_table.h"

namespace stint {

/// A share of machines with its 95 % interval.
struct SurvivalShare {
  double share = 1;
  double low = 1;
  double high = 1;
};

/// The measured share of machines that outlive an age, for any shape of the hazard (Kaplan and
/// Meier, 1958):
///
///   S(t) = Π over losses at u ≤ t of (1 − lost(u) / at risk(u))
///
/// Machines whose observation ended early count while they were observed. A loss between two probes
/// is placed in the middle. The interval is Greenwood's on the scale of log(−log S), so that it
/// stays between 0 and 1.
class KaplanMeier {
 public:
  explicit KaplanMeier(std::span<const Lifetime> lifetimes);

  /// Nothing when no machine was observed that long, unless all were lost before.
  std::optional<SurvivalShare> at(Seconds age) const;

  int machines() const { return machines_; }  // Number of machines with any observation.
  int losses() const { return losses_; }

 private:
  struct Step {
    Seconds age;
    double share = 1;
    double variance = 0;  // Greenwood's sum of lost / (at risk × (at risk − lost)).
  };

  std::vector<Step> steps_;  // At each age at which machines were lost.
  Seconds watched_;          // Age of the oldest observed machine.
  int machines_ = 0;
  int losses_ = 0;
};

/// The age at which a life is assumed to have ended or its observation stopped.
Seconds middle_age(const Lifetime& lifetime);

/// Whether the row has any information.
bool is_known(const Lifetime& lifetime);

/// The loss rate of a machine, by its age.
using PerSecond = decltype(1.0 / Seconds());

/// The rate from an age on.
struct HazardStep {
  Seconds from;
  PerSecond rate;
};

/// Losses per second of one machine, by its age: constant between steps, so that everything below
/// is exact. It may fall and rise again, as for Google's preemptible VMs.
class Hazard {
 public:
  /// The same at every age; not below zero.
  static Hazard constant(PerSecond rate);

  /// Requires steps of increasing age, the first at zero, with rates that are not below zero.
  explicit Hazard(std::vector<HazardStep> steps);

  PerSecond rate(Seconds age) const;

  /// The rate integrated from the launch.
  double cumulative(Seconds age) const;

  /// P(alive at `age`).
  double survival(Seconds age) const;

  /// P(alive at `age` + `more` | alive at `age`).
  double survival_from(Seconds age, Seconds more) const;

  /// The age at which the integrated rate is `amount`; infinite if it never is. An exponential
  /// amount of mean one gives a random lifetime.
  Seconds age_at(double amount) const;

  /// Expected lifetime until `limit`.
  Seconds mean_until(Seconds limit) const;

  const std::vector<HazardStep>& steps() const { return steps_; }

 private:
  std::vector<HazardStep> steps_;
  std::vector<double> cumulative_;  // At the beginning of each step.
};

}  // namespace stint
