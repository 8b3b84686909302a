#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "validate/validation_report.h"

namespace stint {

/// Files of steps of models that are split over emulated VMs (stint.layout-step/1), and the
/// calibration of the emulated network.
struct SchedulesRequest {
  std::vector<std::string> test;
  std::string calibration = "local";
};

/// Each step is one row: its schedule, played operation by operation over links as the calibration
/// has them, beside the measured median; nothing is fitted to such steps. Compute is paced, so it
/// is right by construction: the score is one of communication and of what hides behind what.
/// Beside it, the sum of compute and communication without overlap.
Result<ValidationReport> validate_schedules(const SchedulesRequest& request);

}  // namespace stint
