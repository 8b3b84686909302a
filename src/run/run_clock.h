#pragma once

#include <string>

#include "base/clock.h"
#include "run/run_record.h"

namespace stint {

/// What the clocks of this computer show at one moment.
struct ClockReading {
  Seconds wall;      // Since 1970.
  Seconds boot;      // Since this boot; see boot_time().
  std::string name;  // Of this boot.
};

/// The present reading, with the wall time of `clock`.
ClockReading read_clocks(const Clock& clock);

/// Lets the run begin at this moment.
void begin_run(RunRecord& record, const ClockReading& now);

/// The time since the run began. In the boot to which the record refers, boot time alone decides;
/// after a reboot only wall time tells how long the computer was off. It is never before `last`,
/// the time of the latest event in the journal.
Seconds run_time(const RunRecord& record, const ClockReading& now, Seconds last);

/// Places the run on the clock of this boot, for a process that takes it over, so that what follows
/// depends on boot time alone. Returns whether that changed the record.
bool place_run(RunRecord& record, const ClockReading& now, Seconds last);

/// The clock of a run: it shows the wall time of the run's beginning and the boot time that passed
/// since. Setting the computer's clock does not change it, and a suspend counts.
class RunClock : public Clock {
 public:
  /// `record` is placed on the clock of this boot.
  explicit RunClock(const RunRecord& record);

  Seconds now() const override;

 private:
  Seconds shift_;  // From boot time to the time that is shown.
};

}  // namespace stint
