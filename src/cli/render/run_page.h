#pragma once

#include <string>

#include "app/run/run_report.h"

namespace stint::cli {

/// The report of a run as one HTML page that needs nothing else: what was run, machines over time,
/// steps and cost against the forecast, the loss, the comparison, the bill and all events. Pages
/// are handed on, so that the training command is named without its arguments unless they are asked
/// for.
std::string run_page(const RunReport& report, bool with_arguments = false);

}  // namespace stint::cli
