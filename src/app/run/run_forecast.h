#pragma once

#include "app/run/run_report.h"
#include "run/run_replay.h"
#include "supervise/rehearsal_run.h"

namespace stint {

/// What the run is expected to come to: the same supervisor, led many times through a world that
/// takes machines back as is believed. Absent chances: there is no deadline, or budget.
RunForecast forecast_of(const RunRecord& record);

/// The same for somebody who knew beforehand how many spot machines there would be and when. What a
/// run is off from this is no bad luck of the market. Nothing where the emulated market was not
/// drawn beforehand.
std::optional<RunForecast> hindsight_of(const RunRecord& record);

/// The same from where a run stands.
RunOutlook outlook_of(const ReplayedRun& run);

/// The same for the rest of a run by another plan.
RunOutlook outlook_of(const RunRecord& record, const RunPlan& plan, const RunSoFar& so_far,
                      double slowness);

/// Where a run stands, for a rehearsal by the plan that it follows.
RunSoFar so_far_of(const Supervisor& supervisor);

}  // namespace stint
