#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/run/run_left.h"
#include "app/share/turnstiles.h"
#include "load/environment.h"
#include "run/run_story.h"
#include "run/search_record.h"

namespace stint {

/// A step of the training as it was measured.
struct LossPoint {
  std::int64_t step = 0;
  Seconds at;  // Since the run began.
  Seconds time;
  double loss = 0;
};

/// A save as it was measured.
struct SavePoint {
  std::int64_t step = 0;
  Bytes bytes;
  Seconds stall;
  Seconds transfer;
};

/// The expected end and cost of a run in progress.
struct RunOutlook {
  TimeRange time;  // Since the run began.
  CostRange cost;
  std::optional<double> p_deadline = {};
};

/// A file that the script wrote.
struct ScriptFile {
  std::string path;
  Bytes size;
};

/// The state and history of a run.
struct RunReport {
  RunRecord record;
  std::string folder;
  bool alive = false;  // A process runs it.
  RunStory story;
  std::vector<LossPoint> steps = {};
  std::vector<SavePoint> saves = {};
  std::vector<ScriptFile> files = {};              // That are there, latest first.
  std::optional<RunOutlook> outlook = {};          // While it goes on.
  std::optional<RunForecast> hindsight = {};       // Of one that ended, had the market been known.
  std::optional<SearchRecord> search = {};         // Where it is one.
  std::vector<TurnstileStanding> turnstiles = {};  // Of machines that it shares now.
  std::optional<LeftMachines> left = {};           // Up though no process runs it.
  std::vector<std::string> warnings = {};
};

/// The run called `name`; empty: the last one.
Result<RunReport> report_run(const Environment& environment, const std::string& name);

/// A line for each run, the latest last.
struct RunLine {
  std::string name;
  bool alive = false;
  std::optional<RunVerdict> outcome = {};
  std::int64_t saved = 0;
  std::int64_t reached = 0;
  std::int64_t steps = 0;
  Seconds began;
  Seconds time;
  Dollars cost;
  std::optional<LeftMachines> left = {};  // Up though no process runs it.
};

struct RunList {
  std::vector<RunLine> runs;
  std::vector<std::string> warnings;
};

Result<RunList> list_runs(const Environment& environment);

}  // namespace stint
