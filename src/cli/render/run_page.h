#pragma once

#include <string>

#include "app/run/run_report.h"

namespace stint::cli {

/// The report of a run as one HTML page that needs nothing else: what was run, machines over time,
/// steps and cost against the forecast, the loss, the comparison, the bill and all events.
std::string run_page(const RunReport& report);

}  // namespace stint::cli
