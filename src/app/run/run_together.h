#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "app/run/command_origin.h"
#include "app/run/run_job.h"
#include "interleave/pair_options.h"

namespace stint {

/// Two runs on the same machines.
struct RunTogetherRequest {
  // Of both; its plan, job and name are ignored. With a cluster the two below are jobs. Its command
  // is that of a job that has none of its own.
  RunRequest common;
  std::array<std::string, 2> plans;      // Files of plans.
  std::optional<SharingMode> mode = {};  // Absent: what is predicted to be done first.
  std::string name = {};                 // They are called NAME-a and NAME-b; empty: by their jobs.
};

/// Two runs before they begin.
struct PreparedTogether {
  std::array<PreparedRun, 2> runs;
  std::array<CommandOrigin, 2> commands;  // Where the command of each comes from.
  PairOption option;                      // How they will share, and what is predicted of it.
  std::optional<std::string> advice;      // Why Stint would not have them share, a whole sentence.
  std::vector<std::string> warnings = {};
};

/// Looks everything up for two runs that share machines, without starting anything. Usage errors:
/// those of prepare_run, plans of different machines, and a command though both jobs have one.
/// Infeasible: jobs that do not fit into the
/// accelerators together.
Result<PreparedTogether> prepare_together(const Environment& environment,
                                          const RunTogetherRequest& request);

/// The result of one of the runs.
struct MemberEnd {
  std::string name;
  std::string folder;
  std::optional<RunVerdict> outcome = {};  // Absent: its process failed,
  std::string error = {};                  // for this reason.
};

/// Begins both, each conducted by a process of its own, and stays until both are over. If one of
/// them fails or is killed, the other goes on. An interrupt stops both in good order; so does the
/// end of this process.
Result<std::vector<MemberEnd>> start_together(const Environment& environment, PreparedTogether pair,
                                              const RunAudience& progress);

/// Whether a run shares its machines.
Result<bool> is_shared(const Environment& environment, const std::string& name);

/// Goes on with a run that shares machines, and with its partner if that is not over and nobody
/// else runs it. Usage error: as resume_run.
Result<std::vector<MemberEnd>> resume_together(const Environment& environment,
                                               const std::string& name,
                                               const RunAudience& progress);

}  // namespace stint
