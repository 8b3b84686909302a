#include "app/run/run_job.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

#include "app/run/run_conduct.h"
#include "base/descriptor.h"
#include "base/text.h"
#include "checkpoint/secret.h"
#include "provider/asked_provider.h"
#include "provider/emulated/emulated_engine.h"
#include "run/run_clock.h"
#include "run/run_folder.h"

namespace stint {
namespace {

namespace fs = std::filesystem;

// To save, to end workers and to give machines back, each of which has a limit of its own.
constexpr Seconds kStopPatience = 10 * kMinute;

/// However it ends, nobody is left paying for machines.
Result<RunResult> conduct_and_clear(const Environment& environment, const std::string& folder,
                                    ReplayedRun run, const LocalCluster& cluster,
                                    const RunAudience& progress, bool resumed) {
  const std::string name = run.record.name;
  const EmulatedEngine engine(cluster);
  AskedProvider provider(engine);
  auto result = conduct(environment, folder, std::move(run), provider, progress, resumed);
  const auto down = cluster.down();
  if (down.ok()) return result;
  const std::string left = fmt::format(
      "machines of the cluster {} may still be running and cost money ({}); release them with "
      "'stint stop {}'",
      cluster.name(), down.error().message, shell_quoted(name));
  if (!result.ok()) return Error{result.error().kind, result.error().message + "; " + left};
  result->warnings.push_back(left);
  return result;
}

}  // namespace

Result<RunResult> start_run(const Environment& environment, PreparedRun run,
                            const RunAudience& progress) {
  const auto root = runs_root(environment);
  if (!root.ok()) return root.error();
  const auto folder = make_run_folder(*root, run.record.name);
  if (!folder.ok()) return folder.error();
  const auto lock = lock_run(*folder);
  if (!lock.ok()) return lock.error();
  run.record.secret = make_secret();
  begin_run(run.record, read_clocks(*environment.clock));
  auto cluster = LocalCluster::start(cluster_root(environment), {.name = cluster_name(run.record),
                                                                 .vms = {},
                                                                 .notice = run.record.notice,
                                                                 .pool = run.record.pool});
  if (!cluster.ok()) {
    std::error_code ignored;
    fs::remove_all(*folder, ignored);
    return cluster.error();
  }
  Status written = write_run_files(*folder, run);
  if (written.ok() && progress.began) written = progress.began(*folder);
  if (!written.ok()) {
    (void)cluster->down();
    return written.error();
  }
  return conduct_and_clear(environment, *folder, new_run(run), *cluster, progress, false);
}

Result<RunResult> resume_run(const Environment& environment, const std::string& name,
                             const RunAudience& progress) {
  const auto folder = find_run(environment, name);
  if (!folder.ok()) return folder.error();
  const auto lock = lock_run(*folder);
  if (!lock.ok()) return lock.error();
  auto run = load_to_resume(*folder);
  if (!run.ok()) return run.error();
  if (const Status begun = progress.began ? progress.began(*folder) : Status(); !begun.ok()) {
    return begun.error();
  }
  const auto cluster = cluster_to_resume(environment, *run, cluster_name(run->record));
  if (!cluster.ok()) return cluster.error();
  return conduct_and_clear(environment, *folder, std::move(*run), *cluster, progress, true);
}

Result<StoppedRun> stop_run(const Environment& environment, const std::string& name) {
  const auto folder = find_run(environment, name);
  if (!folder.ok()) return folder.error();
  const auto runner = running_process(*folder);
  if (!runner) return release_left(environment, *folder);
  if (::kill(*runner, SIGTERM) != 0) return failed("cannot signal the process of the run");
  const Deadline limit(kStopPatience);
  while (running_process(*folder)) {
    if (limit.passed()) {
      return failed(fmt::format("process {} did not stop; see 'stint status'", *runner));
    }
    ::usleep(100000);
  }
  const auto run = replay_run_folder(*folder);
  if (!run.ok()) return run.error();
  return StoppedRun{.name = run->record.name, .released = {}, .cost = run->supervisor->cost()};
}

Result<std::string> find_run(const Environment& environment, const std::string& name) {
  const auto root = runs_root(environment);
  if (!root.ok()) return root.error();
  const Status named = name.empty() ? Status() : check_run_name(name);
  if (!named.ok()) return named.error();
  const std::vector<std::string> names = run_names(*root);
  if (names.empty()) return bad_usage("there are no runs yet; start one with 'stint run'");
  if (!name.empty()) {
    if (std::find(names.begin(), names.end(), name) != names.end()) return *root + "/" + name;
    return bad_usage(
        fmt::format("there is no run {}; the runs are {}", printable(name), join(names, ", ")));
  }
  std::string last;
  fs::file_time_type when;
  for (const std::string& one : names) {
    std::error_code error;
    const auto at = fs::last_write_time(record_path(*root + "/" + one), error);
    if (error || (!last.empty() && at <= when)) continue;
    last = one;
    when = at;
  }
  if (last.empty()) return bad_usage("there are no runs yet; start one with 'stint run'");
  return *root + "/" + last;
}

}  // namespace stint
