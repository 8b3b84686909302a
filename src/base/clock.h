#pragma once

#include <string>

#include "base/units.h"

namespace stint {

/// Time since the computer started, with the time for which it was suspended (CLOCK_BOOTTIME).
/// Nobody sets this clock, so that it decides on durations, deadlines and bills. Wall time (Clock)
/// is for people, and steady_now(), which stands still in a suspend, for the limits of waits.
Seconds boot_time();

/// A name of the present boot, in which alone boot_time() counts; empty where the kernel has none.
std::string boot_id();

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
