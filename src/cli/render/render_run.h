#pragma once

#include <string>

#include "app/run/run_report.h"
#include "base/json.h"
#include "base/terminal.h"
#include "cli/verb.h"
#include "cli/views/run_views.h"

namespace stint::cli {

/// How a run ended; else running, unattended (machines are up, but no process conducts them) or
/// halted.
std::string state_text(const RunReport& report);

/// "00:01:23.4": when something happened, since the run began.
std::string moment_text(Seconds at);

/// A line of a story, wrapped and indented; lines of a script within it stay as they are.
std::string story_text(const std::string& text, int width, int indent);

/// All runs, one to a line.
std::string runs_text(const RunList& list, const Terminal& terminal);
Json runs_json(const RunList& list);

/// Where a run stands: progress, time, money and the latest events; for `status` and `watch`.
std::string standing_text(const RunReport& report, std::size_t events, const Terminal& terminal);

/// What was predicted against what was measured, machines, and all events.
std::string report_text(const RunReport& report, const Terminal& terminal);
RunReportView report_view(const RunReport& report);
Json report_json(const RunReport& report);

/// What a run that ended so exits with.
ExitCode exit_code(RunVerdict outcome);

/// A row of the comparison.
struct ForecastRow {
  std::string what;
  std::string predicted;
  std::string interval;
  std::string measured;
  std::string off;  // Measured over predicted, in percent.
};

std::vector<ForecastRow> forecast_rows(const RunReport& report);

}  // namespace stint::cli
