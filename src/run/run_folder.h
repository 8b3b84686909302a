#pragma once

#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"

namespace stint {

// The files in the folder of a run.

inline std::string record_path(const std::string& run) { return run + "/run.json"; }
inline std::string journal_path_of(const std::string& run) { return run + "/journal.jsonl"; }
inline std::string measurements_path(const std::string& run) { return run + "/measurements.jsonl"; }
inline std::string job_path(const std::string& run) { return run + "/job.json"; }
inline std::string checkpoint_folder(const std::string& run) { return run + "/checkpoints"; }
inline std::string log_folder(const std::string& run) { return run + "/log"; }

/// Where scripts that save their own checkpoints may do so; it outlives the machines.
inline std::string script_folder(const std::string& run) { return run + "/script"; }

/// What the hook in a script noted: its checkpoints with their steps, and the files it wrote.
inline std::string script_notes_path(const std::string& run) { return run + "/script.jsonl"; }

/// What a search found, where the run is one.
inline std::string search_path(const std::string& run) { return run + "/search.json"; }

/// Of the plans that were made in mid-run, from 2 on.
inline std::string plan_path(const std::string& run, int number) {
  return fmt::format("{}/plan-{}.json", run, number);
}

/// A run's name is the name of its folder: 1 to 64 letters, digits, '-', '_' and '.', which begins
/// with neither '-' nor '.' and holds no "..". Anything else is a usage error.
Status check_run_name(std::string_view name);

/// Makes the folder of a new run, `root`/`name`, which only its user may look into. Usage errors: a
/// name that cannot be one, or that is taken.
Result<std::string> make_run_folder(const std::string& root, const std::string& name);

/// The names of the runs under `root`, sorted.
std::vector<std::string> run_names(const std::string& root);

/// The lock of the process that conducts a run; released on destruction or when the process ends.
/// Processes that are forked share it until they close it or start another program.
class RunLock {
 public:
  explicit RunLock(Descriptor file) : file_(std::move(file)) {}

 private:
  Descriptor file_;
};

/// Fails where another process has the lock of this run's folder, and says which.
Result<RunLock> lock_run(const std::string& folder);

/// The process that conducts the run in `folder`, if there is one.
std::optional<pid_t> running_process(const std::string& folder);

}  // namespace stint
