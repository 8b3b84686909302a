#pragma once

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"

namespace stint {

/// Makes the folder of a new run, `root`/`name`, which only its user may look into. Usage errors: a
/// name that cannot be one, or that is taken.
Result<std::string> make_run_folder(const std::string& root, const std::string& name);

/// The names of the runs under `root`, sorted.
std::vector<std::string> run_names(const std::string& root);

/// Says that this process keeps a run going; let go when it is destroyed, or the process ends.
/// Processes that are forked share it until they close it or start another program.
class RunLock {
 public:
  explicit RunLock(Descriptor file) : file_(std::move(file)) {}

 private:
  Descriptor file_;
};

/// Fails where another process has the lock of this run's folder, and says which.
Result<RunLock> lock_run(const std::string& folder);

/// The process that keeps the run in `folder` going, if there is one.
std::optional<pid_t> running_process(const std::string& folder);

}  // namespace stint
