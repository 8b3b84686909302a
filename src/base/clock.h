#pragma once

#include "base/units.h"

namespace stint {

/// The present time, passed in so that decisions can be replayed.
class Clock {
 public:
  virtual ~Clock() = default;

  /// Time since 1970-01-01T00:00:00Z, without leap seconds.
  virtual Seconds now() const = 0;
};

/// The computer's clock.
class SystemClock : public Clock {
 public:
  Seconds now() const override;
};

/// A clock that stays at the time it is set to.
class FixedClock : public Clock {
 public:
  explicit FixedClock(Seconds now) : now_(now) {}
  Seconds now() const override { return now_; }
  void advance(Seconds step) { now_ += step; }

 private:
  Seconds now_;
};

}  // namespace stint
