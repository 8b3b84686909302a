#pragma once

#include <vector>

#include "base/random.h"
#include "base/units.h"
#include "measure/tables/availability_trace.h"
#include "risk/hazard.h"
#include "risk/spot_time.h"

namespace stint {

/// Where spot machines come from and how they go. Places are counted from zero over all machines
/// that a run wants from spot.
class SpotSupply {
 public:
  virtual ~SpotSupply() = default;

  /// When a machine for `place`, asked for at `from`, is given; infinite for never.
  virtual Seconds granted(int place, Seconds from, Random& random) const = 0;

  /// When the machine that was given then, and had started up at `ready`, is lost.
  virtual Seconds lost(int place, Seconds granted, Seconds ready, Random& random) const = 0;

  /// After `place` was lost: the chance of each other machine of its pool to go at the same time.
  virtual double taken_along(int place, Random& random) const = 0;
};

/// Machines that are lost together: a share of losses is a shock to the pool, and takes each other
/// machine with a chance. The rate at which one machine is lost stays that of its hazard where all
/// have the same age: with n machines, each is hit first at 1/(1 + share · chance · (n − 1)) of it.
struct CommonShock {
  double share = 0;
  double chance = 0;
};

/// How long one waits for a machine: a share of them is there at once, others come after a
/// lognormal time.
struct WaitForSpot {
  double at_once = 1;
  RandomTime otherwise = {};
};

/// Equal spot machines by their lifetimes.
struct SpotPool {
  int count = 1;
  Hazard hazard;  // Of one machine, by the time since it has started up.
  CommonShock shock = {};
  WaitForSpot wait = {};
};

/// Machines with sampled lives. At time zero all that are wanted are there: a plan begins in a pool
/// that has machines.
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
/// read from `start` on and from its beginning again when it ends.
class TraceSupply : public SpotSupply {
 public:
  /// Requires a trace with ticks and a gap above zero, which must outlive this, and start ≥ 0.
  TraceSupply(const AvailabilityTrace& trace, Seconds start);

  Seconds granted(int place, Seconds from, Random& random) const override;
  Seconds lost(int place, Seconds granted, Seconds ready, Random& random) const override;
  double taken_along(int place, Random& random) const override;

 private:
  /// The beginning of the first tick from `tick` on that has more than `place` machines, or no
  /// more.
  Seconds next(long tick, int place, bool more) const;

  const AvailabilityTrace& trace_;
  Seconds start_;
};

}  // namespace stint
