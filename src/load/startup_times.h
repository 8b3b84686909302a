#pragma once

#include "base/result.h"
#include "base/units.h"
#include "plan/calibration.h"
#include "risk/spot_time.h"

namespace stint {

/// How long VMs and workers take until they train. What each value is for and where it comes from
/// stands in data/calibration/startup.json. Places that seem to mean the same have values of their
/// own where one plans with caution and another forecasts without bias.
struct StartupTimes {
  /// VMs of a cloud, from the request until they can train.
  RandomTime vm_on_demand;
  RandomTime vm_spot;
  Seconds restart;  // Of a training there: save, start again and load.

  /// Of the emulated cloud, what plans count with: from the request for a few VMs until their
  /// workers train together.
  RandomTime plan_cluster;

  /// What the supervisor of a run keeps deadlines by.
  Seconds terms_worker_start;  // Of one worker, two at a time.
  Seconds terms_regroup;

  /// What rehearsals, and so forecasts, count with.
  Seconds forecast_launch;     // Of a VM,
  Seconds forecast_join;       // of one or two workers on it,
  Seconds forecast_join_more;  // and of each further worker.
  Seconds forecast_regroup;    // Of workers that are there.
  Seconds forecast_shutdown;   // Scripts end, VMs are released.

  /// Workers on VMs that are there: one or two, and each further one.
  Seconds move_start;
  Seconds move_start_more;
  Seconds move_regroup;  // Of workers that a move keeps.

  Seconds probe_worker_start;  // Of a probe of the network; of one worker, two at a time.
  BytesPerSecond disk;         // On which states are kept.
};

/// Bad input: a time that is missing, in another unit or not above zero.
Result<StartupTimes> read_startup_times(const Calibration& calibration);

/// The shipped ones, read once.
const StartupTimes& startup_times();

}  // namespace stint
