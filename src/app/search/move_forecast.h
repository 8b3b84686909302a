#pragma once

#include "run/run_record.h"

namespace stint {

/// What a change of plans in mid-run takes.
struct MoveForecast {
  TimeRange time;  // Training stands still, from the last step before to the first worker after.
  CostRange cost;  // Of machines that are paid while they do not train.
};

/// The move of a run on the emulated cloud from one plan to another; without a first one, from
/// machines of which none is kept. Where some are kept they train on until the newcomers are there,
/// and give them the state; else it is saved, and read by the others:
///
///   kept      half a step, regroup, state / network
///   not kept  half a step, state / disk, start of workers, state / disk
///
/// The interval is kMoveDeviation of the logarithm either way.
MoveForecast move_forecast(const RunRecord& record, const RunPlan* from, const RunPlan& to);

}  // namespace stint
