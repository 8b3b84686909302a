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

/// The folder in which scripts may save their own checkpoints; it outlives the machines.
inline std::string script_folder(const std::string& run) { return run + "/script"; }

/// The notes of the hook in a script: its checkpoints with their steps, and the files it wrote.
inline std::string script_notes_path(const std::string& run) { return run + "/script.jsonl"; }

/// The record of a search, where the run is one.
inline std::string search_path(const std::string& run) { return run + "/search.json"; }

/// The plans that were made during the run, from 2 on.
inline std::string plan_path(const std::string& run, int number) {
  return fmt::format("{}/plan-{}.json", run, number);
}

/// A run's name is the name of its folder: 1 to 64 letters, digits, '-', '_' and '.', beginning
/// with neither '-' nor '.' and without "..". Anything else is a usage error.
Status check_run_name(std::string_view name);

/// Makes the folder of a new run, `root`/`name`, which only its user may read. Usage errors: a name
/// that is not allowed, or that is taken.
Result<std::string> make_run_folder(const std::string& root, const std::string& name);

/// The names of the runs under `root`, sorted.
std::vector<std::string> run_names(const std::string& root);

/// The lock of the process that conducts a run; released on destruction or when the process ends.
/// Forked processes share it until they close it or start another program.
class RunLock {
 public:
  explicit RunLock(Descriptor file) : file_(std::move(file)) {}

 private:
  Descriptor file_;
};

/// Fails where another process has the lock of this run's folder, and names that process.
Result<RunLock> lock_run(const std::string& folder);

/// The process that conducts the run in `folder`, if there is one.
std::optional<pid_t> running_process(const std::string& folder);

}  // namespace stint
