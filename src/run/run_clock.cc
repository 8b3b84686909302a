#include "run/run_clock.h"

#include <algorithm>

#include "base/check.h"

namespace stint {
namespace {

bool same_boot(const RunRecord& record, const ClockReading& now) {
  return record.clock && !now.name.empty() && record.clock->boot == now.name;
}

}  // namespace

ClockReading read_clocks(const Clock& clock) {
  return {.wall = clock.now(), .boot = boot_time(), .name = boot_id()};
}

void begin_run(RunRecord& record, const ClockReading& now) {
  record.began = now.wall;
  record.clock = RunClockZero{.boot = now.name, .zero = now.boot};
}

Seconds run_time(const RunRecord& record, const ClockReading& now, Seconds last) {
  const Seconds passed =
      same_boot(record, now) ? now.boot - record.clock->zero : now.wall - record.began;
  return std::max(last, passed);
}

bool place_run(RunRecord& record, const ClockReading& now, Seconds last) {
  const Seconds passed = run_time(record, now, last);
  if (same_boot(record, now) && now.boot - record.clock->zero >= last) return false;
  record.clock = RunClockZero{.boot = now.name, .zero = now.boot - passed};
  return true;
}

RunClock::RunClock(const RunRecord& record) {
  CHECK(record.clock.has_value());
  shift_ = record.began - record.clock->zero;
}

Seconds RunClock::now() const { return boot_time() + shift_; }

}  // namespace stint
