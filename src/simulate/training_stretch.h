#pragma once

#include <limits>
#include <vector>

#include "base/units.h"
#include "risk/save_cost.h"

namespace stint {

inline constexpr Seconds kNever = std::numeric_limits<double>::infinity() * kSecond;

/// When the state of a job is saved. A save that the end of the job would overtake is not begun.
struct SaveSchedule {
  /// After each of these stretches of the job's work, wherever losses fall.
  Seconds interval = kNever;

  /// Instead, where there are any: at these times after the gang has started or started again;
  /// after the last one, as far apart as the last two.
  std::vector<Seconds> begins = {};
};

/// Work in seconds of the undisturbed gang, and when it is saved.
struct SavedWork {
  Seconds work;
  SaveCost save;
  SaveSchedule schedule;
};

/// How far a job is.
struct Progress {
  Seconds work;
  Seconds stalled;     // By the saves on the way.
  Seconds stall_left;  // Of a save that was interrupted.
  int saves = 0;       // Begun, of those by work; or since the start, of those by time.
};

/// What a gang does between a start and the next loss, or the end of the job.
struct Stretch {
  Seconds time;
  Progress end;
  Progress safe;  // The last state that a loss without notice leaves.
  bool done = false;
};

/// Trains from a safe state until `limit` has passed or the job is done. Requires saves that are
/// safe before the next begins.
Stretch train(const SavedWork& job, const Progress& from, Seconds limit);

}  // namespace stint
