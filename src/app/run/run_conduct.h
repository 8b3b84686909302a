#pragma once

#include <string>
#include <vector>

#include "app/run/run_job.h"
#include "cloud/local_cluster.h"
#include "provider/provider.h"

namespace stint {

// What runs with machines of their own and runs that share them have in common.

/// The folder of all runs. Fails without a home.
Result<std::string> runs_root(const Environment& environment);

/// The folder of all clusters.
std::string cluster_root(const Environment& environment);

/// The cluster of a run is called after it; where that cannot be its name, with a part of the
/// secret, so that two runs never share one by mistake. Runs that mean to share have the first's.
std::string cluster_name(const RunRecord& record);

/// Writes all files of a new run; the record last, so that a run with a record is whole.
Status write_run_files(const std::string& folder, const PreparedRun& run);

/// What workers get beside the variables of this process: the Python package, which is unpacked
/// into the folder, threads, and the values that the record holds. Usage error: a variable that the
/// record names is not set here.
Result<std::vector<std::string>> worker_variables(const std::string& folder,
                                                  const RunRecord& record);

/// The run in `folder` as far as it went, to go on with. Usage error: it is trained already.
Result<ReplayedRun> load_to_resume(const std::string& folder);

/// A run before its first event.
ReplayedRun new_run(const PreparedRun& run);

/// A cluster on which a run can go on: the one that was left, or a new one with what is left of the
/// market.
Result<LocalCluster> cluster_to_resume(const Environment& environment, const ReplayedRun& run,
                                       const std::string& name);

/// The time since a run began, now.
Seconds run_time_now(const Environment& environment, const ReplayedRun& run);

/// Conducts a run on its machines to the end. `resumed`: some may be there already.
Result<RunResult> conduct(const Environment& environment, const std::string& folder,
                          ReplayedRun run, Provider& provider, const RunAudience& progress,
                          bool resumed);

}  // namespace stint
