#pragma once

#include "app/run_report.h"
#include "app/run_setup.h"
#include "run/run_replay.h"

namespace stint {

/// What the run is expected to come to: the same supervisor, led many times through a world that
/// takes machines back as the request says.
RunForecast forecast_of(const PreparedRun& run, const RunRequest& request);

/// The same from where a run stands.
RunOutlook outlook_of(const ReplayedRun& run);

}  // namespace stint
