#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/run/run_left.h"
#include "app/run/run_setup.h"
#include "load/environment.h"
#include "run/run_replay.h"
#include "run/runner.h"

namespace stint {

/// Callbacks for a run in progress. If one of them makes new plans, nothing else does.
struct RunAudience {
  std::function<void(const ReplayedRun&, const RunMoment&)> happened = {};
  std::function<Status(const std::string& folder)> began = {};  // Its files are there.
  // See RunListeners.
  std::function<void(const GangNews&)> trained = {};
  std::function<void(Seconds)> trained_meanwhile = {};
  std::function<void(const std::string& type, int samples)> out_of_memory = {};
  std::function<std::optional<Replanning>(const Supervisor&, const RunPlan&)> wish = {};
};

/// How a run ended.
struct RunResult {
  std::string name;
  std::string folder;
  RunAction end;
  std::vector<std::string> warnings;
};

/// Starts a prepared run, and returns at its end.
Result<RunResult> start_run(const Environment& environment, PreparedRun run,
                            const RunAudience& progress);

/// Resumes a run whose process is gone, or that was stopped. Usage error: there is no such
/// run, it is trained already, or somebody else runs it.
Result<RunResult> resume_run(const Environment& environment, const std::string& name,
                             const RunAudience& progress);

/// Asks the process of the run to stop cleanly, and waits for its end; without a process, releases
/// the remaining machines. Usage error: it has neither.
Result<StoppedRun> stop_run(const Environment& environment, const std::string& name);

/// The folder of a run, by its name; empty: the last one that was begun.
Result<std::string> find_run(const Environment& environment, const std::string& name);

}  // namespace stint
