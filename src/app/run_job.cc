#include "app/run_job.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

#include "app/python_world.h"
#include "app/run_replan.h"
#include "base/file.h"
#include "base/text.h"
#include "cloud/cluster_files.h"
#include "run/run_folder.h"
#include "run/run_name.h"
#include "run/run_paths.h"
#include "run/secret.h"

namespace stint {
namespace {

namespace fs = std::filesystem;

// To save, to end workers and to give machines back, each of which has a limit of its own.
constexpr Seconds kStopPatience = 10 * kMinute;

Result<std::string> runs_root(const Environment& environment) {
  if (environment.state_folder) return *environment.state_folder + "/runs";
  return failed("there is no place for runs: set HOME or XDG_STATE_HOME");
}

std::string cluster_root(const Environment& environment) {
  return *environment.state_folder + "/local";
}

/// The cluster of a run is called after it; where that cannot be its name, with a part of the
/// secret, so that two runs never share one.
std::string cluster_name(const RunRecord& record) {
  std::string name = "run-";
  for (const char c : record.name) name += c == '.' ? '_' : c;
  const bool same = record.name.find('.') == std::string::npos && name.size() <= 24;
  return same ? name : name.substr(0, 15) + "-" + record.secret.substr(0, 8);
}

Result<std::string> own_program() {
  std::error_code error;
  const fs::path path = fs::read_symlink("/proc/self/exe", error);
  if (error) return failed("cannot find the program that runs; is /proc mounted?");
  return path.string();
}

/// Interpreter, package and threads of the workers.
Result<std::vector<std::string>> worker_variables(const std::string& folder,
                                                  const RunRecord& record) {
  const std::string python = folder + "/python";
  const Status unpacked = unpack_python(python);
  if (!unpacked.ok()) return unpacked.error();
  if (is_python(record.command[0])) {
    const Status torch = check_torch(record.command[0]);
    if (!torch.ok()) return torch.error();
  }
  const char* users = std::getenv("PYTHONPATH");
  return std::vector<std::string>{"PYTHONPATH=" + python + (users ? fmt::format(":{}", users) : ""),
                                  "OMP_NUM_THREADS=1", "PYTHONDONTWRITEBYTECODE=1"};
}

/// Writes all files of a new run; the record last, so that a run with a record is whole.
Status write_run_files(const std::string& folder, const PreparedRun& run) {
  for (const std::string& sub : {checkpoint_folder(folder), log_folder(folder)}) {
    std::error_code error;
    fs::create_directory(sub, error);
    if (error) return failed(fmt::format("cannot make {}: {}", sub, error.message()));
    fs::permissions(sub, fs::perms::owner_all, error);
  }
  Status written = write_file(job_path(folder), write_job(run.job));
  if (written.ok() && run.answer) {
    written = write_file(folder + "/plan.json", write_plan(*run.answer));
  }
  if (!written.ok()) return written;
  return write_file(record_path(folder), write_run(run.record));
}

/// From here on the run goes by itself.
Result<RunResult> conduct_to_end(const Environment& environment, const std::string& folder,
                                 ReplayedRun run, const LocalCluster& cluster,
                                 const RunAudience& progress, bool resumed) {
  auto variables = worker_variables(folder, run.record);
  if (!variables.ok()) return variables.error();
  const auto program = own_program();
  if (!program.ok()) return program.error();
  auto journal = RunJournal::open(journal_path_of(folder));
  if (!journal.ok()) return journal.error();
  RunListeners listeners;
  listeners.happened = [&](const RunEvent& event, const std::vector<RunAction>& actions) {
    if (progress.happened) progress.happened(run, {.event = event, .actions = actions});
  };
  listeners.replan = [&](const Supervisor& supervisor, const RunPlan& plan,
                         const std::string& reason) {
    return think_again(environment, folder, run.record, supervisor, plan, reason);
  };
  if (progress.wish) listeners.replan = nullptr;
  listeners.trained = progress.trained;
  listeners.out_of_memory = progress.out_of_memory;
  listeners.wish = progress.wish;
  const SystemClock clock;
  Runner runner({.record = run.record,
                 .folder = folder,
                 .program = *program,
                 .variables = std::move(*variables),
                 .plans = run.plans,
                 .clock = &clock},
                cluster, *run.supervisor, run.plan, std::move(*journal), std::move(listeners));
  if (resumed) {
    const Status taken = runner.take_over();
    if (!taken.ok()) return taken.error();
  }
  const auto end = runner.run();
  if (!end.ok()) return end.error();
  return RunResult{
      .name = run.record.name, .folder = folder, .end = *end, .warnings = std::move(run.warnings)};
}

/// However it ends, nobody is left paying for machines.
Result<RunResult> conduct(const Environment& environment, const std::string& folder,
                          ReplayedRun run, const LocalCluster& cluster, const RunAudience& progress,
                          bool resumed) {
  auto result = conduct_to_end(environment, folder, std::move(run), cluster, progress, resumed);
  const auto down = cluster.down();
  if (result.ok() && !down.ok()) return down.error();
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
  run.record.began = environment.clock->now();
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
  ReplayedRun replayed{.record = run.record,
                       .plan = run.record.plan,
                       .supervisor = make_supervisor(run.record),
                       .moments = {},
                       .warnings = std::move(run.warnings)};
  return conduct(environment, *folder, std::move(replayed), *cluster, progress, false);
}

Result<RunResult> resume_run(const Environment& environment, const std::string& name,
                             const RunAudience& progress) {
  const auto folder = find_run(environment, name);
  if (!folder.ok()) return folder.error();
  const auto lock = lock_run(*folder);
  if (!lock.ok()) return lock.error();
  auto run = replay_run_folder(*folder);
  if (!run.ok()) return run.error();
  if (run->supervisor->saved() >= run->supervisor->terms().steps) {
    const std::string& its = run->record.name;
    return bad_usage(fmt::format("the run {} is trained already; see 'stint report {}'", its,
                                 shell_quoted(its)));
  }
  auto found = latest(checkpoint_folder(*folder));
  if (!found.ok()) return found.error();
  run->warnings.insert(run->warnings.end(), found->warnings.begin(), found->warnings.end());
  if (const Status begun = progress.began ? progress.began(*folder) : Status(); !begun.ok()) {
    return begun.error();
  }
  auto cluster = LocalCluster::open(cluster_root(environment), cluster_name(run->record));
  if (cluster.ok() && !cluster->status().ok()) {
    (void)clean_clusters(cluster_root(environment));
    cluster = failed("its keeper is gone");
  }
  if (!cluster.ok()) {
    const Seconds passed = environment.clock->now() - run->record.began;
    cluster = LocalCluster::start(cluster_root(environment),
                                  {.name = cluster_name(run->record),
                                   .vms = {},
                                   .notice = run->record.notice,
                                   .pool = pool_from(run->record.pool, passed)});
    if (!cluster.ok()) return cluster.error();
  }
  return conduct(environment, *folder, std::move(*run), *cluster, progress, true);
}

Status stop_run(const Environment& environment, const std::string& name) {
  const auto folder = find_run(environment, name);
  if (!folder.ok()) return folder.error();
  if (const auto runner = running_process(*folder)) {
    if (::kill(*runner, SIGTERM) != 0) return failed("the process that runs it cannot be told");
    const Seconds limit = environment.clock->now() + kStopPatience;
    while (running_process(*folder)) {
      if (environment.clock->now() > limit) {
        return failed(
            fmt::format("process {} was told to stop and goes on; see 'stint status'", *runner));
      }
      ::usleep(100000);
    }
    return {};
  }
  const auto run = replay_run_folder(*folder);
  if (!run.ok()) return run.error();
  const auto cluster = LocalCluster::open(cluster_root(environment), cluster_name(run->record));
  if (!cluster.ok()) return bad_usage(fmt::format("the run {} does not run", run->record.name));
  const auto down = cluster->down();
  if (down.ok()) return {};
  (void)clean_clusters(cluster_root(environment));
  return {};
}

Result<std::string> find_run(const Environment& environment, const std::string& name) {
  const auto root = runs_root(environment);
  if (!root.ok()) return root.error();
  const Status named = name.empty() ? Status() : check_run_name(name);
  if (!named.ok()) return named.error();
  const std::vector<std::string> names = run_names(*root);
  if (names.empty()) return bad_usage("no run was begun yet; begin one with 'stint run'");
  if (!name.empty()) {
    if (std::find(names.begin(), names.end(), name) != names.end()) return *root + "/" + name;
    return bad_usage(
        fmt::format("there is no run {}; there are {}", printable(name), join(names, ", ")));
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
  if (last.empty()) return bad_usage("no run was begun yet; begin one with 'stint run'");
  return *root + "/" + last;
}

}  // namespace stint
