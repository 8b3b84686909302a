#pragma once

#include "run/run_record.h"

namespace stint {

/// The time and cost of a change of plans during a run.
struct MoveForecast {
  TimeRange time;  // Pause of training, from the last step before to the first worker after.
  CostRange cost;  // Cost of machines that are paid while they do not train.
};

/// The move of a run on the emulated cloud from one plan to another; without a first one, from
/// machines of which none is kept. Kept machines train until the new ones are up, and send them the
/// state; else the state is saved, and read by the new ones:
///
///   kept      half a step, regroup, state / network
///   not kept  half a step, state / disk, start of workers, state / disk
///
/// The interval is kMoveDeviation of the logarithm either way.
MoveForecast move_forecast(const RunRecord& record, const RunPlan* from, const RunPlan& to);

}  // namespace stint
