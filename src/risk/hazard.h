#pragma once

#include <vector>

#include "base/units.h"

namespace stint {

/// How often a machine is lost, by its age.
using PerSecond = decltype(1.0 / Seconds());

/// The rate from an age on.
struct HazardStep {
  Seconds from;
  PerSecond rate;
};

/// Losses per second of one machine, by its age: constant between steps, so that everything below
/// is exact. It may fall and rise again, as Google's preemptible VMs have it.
class Hazard {
 public:
  /// The same at every age; not below zero.
  static Hazard constant(PerSecond rate);

  /// Requires steps that rise in age, the first at zero, with rates that are not below zero.
  explicit Hazard(std::vector<HazardStep> steps);

  PerSecond rate(Seconds age) const;

  /// The rate integrated from birth.
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

  /// Losses per second in the long run, where every machine that is lost or reaches `limit` is
  /// replaced by a new one.
  PerSecond renewal_rate(Seconds limit) const;

  const std::vector<HazardStep>& steps() const { return steps_; }

 private:
  std::vector<HazardStep> steps_;
  std::vector<double> cumulative_;  // At the beginning of each step.
};

}  // namespace stint
