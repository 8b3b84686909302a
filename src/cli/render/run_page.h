#pragma once

#include <string>

#include "app/run/run_report.h"

namespace stint::cli {

/// The report of a run as one HTML page that needs nothing else: machines over time, steps against
/// the plan, the loss, the comparison and all events.
std::string run_page(const RunReport& report);

}  // namespace stint::cli
