#pragma once

#include "app/run/run_report.h"
#include "run/run_replay.h"
#include "supervise/rehearsal_run.h"

namespace stint {

/// The forecast of a run: the same supervisor, simulated many times in a world that
/// interrupts machines as estimated. Absent probabilities: there is no deadline, or budget.
RunForecast forecast_of(const RunRecord& record);

/// The same with the spot capacity of the run known in advance. The difference between a
/// run and this forecast is not due to the market. Nothing where the emulated market was not
/// drawn in advance.
std::optional<RunForecast> hindsight_of(const RunRecord& record);

/// The same from where a run stands.
RunOutlook outlook_of(const ReplayedRun& run);

/// The same for the rest of a run by another plan.
RunOutlook outlook_of(const RunRecord& record, const RunPlan& plan, const RunSoFar& so_far,
                      double slowness);

/// Where a run stands, for a rehearsal by the plan that it follows.
RunSoFar so_far_of(const Supervisor& supervisor);

}  // namespace stint
