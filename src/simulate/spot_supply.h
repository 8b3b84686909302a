#pragma once

#include <vector>

#include "base/random.h"
#include "base/units.h"
#include "measure/tables/availability_trace.h"
#include "risk/hazard.h"
#include "risk/spot_time.h"

namespace stint {

/// The launches and losses of spot machines. Places are counted from zero over all machines that a
/// run wants from spot.
class SpotSupply {
 public:
  virtual ~SpotSupply() = default;

  /// The time at which a machine for `place`, requested at `from`, is available; infinite for
  /// never.
  virtual Seconds granted(int place, Seconds from, Random& random) const = 0;

  /// The time at which that machine, which had started up at `ready`, is lost.
  virtual Seconds lost(int place, Seconds granted, Seconds ready, Random& random) const = 0;

  /// After the loss of `place`: the probability of each other machine of its pool to be lost at the
  /// same time.
  virtual double taken_along(int place, Random& random) const = 0;
};

/// Machines that are lost together: a share of losses is a shock to the pool, and takes each other
/// machine with a probability. The loss rate of one machine stays that of its hazard where all have
/// the same age: with n machines, each is the first one lost at 1/(1 + share · chance · (n − 1)) of
/// it.
struct CommonShock {
  double share = 0;
  double chance = 0;
};

/// The wait for a machine: a share of them is available at once, the others after a lognormal time.
struct WaitForSpot {
  double at_once = 1;
  RandomTime otherwise = {};
};

/// Equal spot machines, by their lifetimes.
struct SpotPool {
  int count = 1;
  Hazard hazard;  // Hazard of one machine, by the time since its start-up.
  CommonShock shock = {};
  WaitForSpot wait = {};
};

/// Machines with sampled lifetimes. At time zero all wanted machines are available: a plan begins
/// in a pool that has machines.
class SampledSupply : public SpotSupply {
 public:
  explicit SampledSupply(std::vector<SpotPool> pools);

  Seconds granted(int place, Seconds from, Random& random) const override;
  Seconds lost(int place, Seconds granted, Seconds ready, Random& random) const override;
  double taken_along(int place, Random& random) const override;

 private:
  const SpotPool& pool_of(int place) const;

  std::vector<SpotPool> pools_;
  std::vector<std::size_t> pool_of_place_;
};

/// Machines as a pool had them: place k has one while the trace counts more than k. The trace is
/// read from `start` on and repeats when it ends.
class TraceSupply : public SpotSupply {
 public:
  /// Requires a trace with ticks and a gap above zero, which must outlive this, and start ≥ 0.
  TraceSupply(const AvailabilityTrace& trace, Seconds start);

  Seconds granted(int place, Seconds from, Random& random) const override;
  Seconds lost(int place, Seconds granted, Seconds ready, Random& random) const override;
  double taken_along(int place, Random& random) const override;

 private:
  /// The beginning of the first tick from `tick` on that has more than `place` machines, or no more
  /// than that.
  Seconds next(long tick, int place, bool more) const;

  const AvailabilityTrace& trace_;
  Seconds start_;
};

}  // namespace stint
