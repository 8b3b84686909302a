#include "app/run/run_conduct.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <utility>

#include "app/run/run_replan.h"
#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "cloud/cluster_files.h"
#include "load/python_world.h"
#include "run/run_clock.h"
#include "run/run_folder.h"
#include "run/worker_environment.h"

namespace stint {
namespace {

namespace fs = std::filesystem;

Result<std::string> own_program() {
  std::error_code error;
  const fs::path path = fs::read_symlink("/proc/self/exe", error);
  if (error) return failed("cannot find the stint binary; is /proc mounted?");
  return path.string();
}

}  // namespace

Result<std::string> runs_root(const Environment& environment) {
  if (environment.state_folder) return *environment.state_folder + "/runs";
  return failed("there is no folder for runs: set HOME or XDG_STATE_HOME");
}

std::string cluster_root(const Environment& environment) {
  return *environment.state_folder + "/local";
}

std::string cluster_name(const RunRecord& record) {
  if (record.sharing) return record.sharing->cluster;
  std::string name = "run-";
  for (const char c : record.name) name += c == '.' ? '_' : c;
  const bool same = record.name.find('.') == std::string::npos && name.size() <= 24;
  return same ? name : name.substr(0, 15) + "-" + record.secret.substr(0, 8);
}

Result<std::vector<std::string>> worker_variables(const std::string& folder,
                                                  const RunRecord& record) {
  const std::string python = folder + "/python";
  const Status unpacked = unpack_python(python);
  if (!unpacked.ok()) return unpacked.error();
  if (is_python(record.command[0])) {
    const Status torch = check_torch(record.command[0]);
    if (!torch.ok()) return torch.error();
  }
  if (const auto missing = missing_variable(record.environment, variable_names())) {
    return bad_usage(fmt::format(
        "the run {} passes {} on to its workers, and it is not set; set it and try again",
        record.name, *missing));
  }
  const char* ours = std::getenv("PYTHONPATH");
  std::map<std::string, std::string> variables = {{"PYTHONPATH", ours == nullptr ? "" : ours},
                                                  {"OMP_NUM_THREADS", "1"},
                                                  {"PYTHONDONTWRITEBYTECODE", "1"}};
  for (const std::string& given : given_values(record.environment)) {
    const std::size_t equals = given.find('=');
    variables[given.substr(0, equals)] = given.substr(equals + 1);
  }
  // Scripts need not know of the hook that counts their steps, nor of turns.
  variables["PYTHONPATH"] = python_path(python, variables["PYTHONPATH"]);
  return assignments(variables);
}

Status write_run_files(const std::string& folder, const PreparedRun& run) {
  for (const std::string& sub :
       {checkpoint_folder(folder), log_folder(folder), script_folder(folder)}) {
    std::error_code error;
    fs::create_directory(sub, error);
    if (error) return failed(fmt::format("cannot create {}: {}", sub, error.message()));
    fs::permissions(sub, fs::perms::owner_all, error);
  }
  Status written = write_file(job_path(folder), write_job(run.inputs.job));
  if (written.ok() && run.answer) {
    written = write_file(folder + "/plan.json", write_plan(*run.answer));
  }
  if (!written.ok()) return written;
  written = write_file(record_path(folder), write_run(run.record));
  if (!written.ok()) return written;
  // It holds the secret of the run, and values of variables. The folder is private already.
  std::error_code error;
  fs::permissions(record_path(folder), fs::perms::owner_read | fs::perms::owner_write, error);
  if (error)
    return failed(fmt::format("cannot protect {}: {}", record_path(folder), error.message()));
  return {};
}

Result<ReplayedRun> load_to_resume(const std::string& folder) {
  auto run = replay_run_folder(folder);
  if (!run.ok()) return run.error();
  if (run->supervisor->trained()) {
    const std::string& its = run->record.name;
    return bad_usage(
        fmt::format("the run {} is complete; see 'stint report {}'", its, shell_quoted(its)));
  }
  auto found = latest(checkpoint_folder(folder));
  if (!found.ok()) return found.error();
  run->warnings.insert(run->warnings.end(), found->warnings.begin(), found->warnings.end());
  return run;
}

ReplayedRun new_run(const PreparedRun& run) {
  return {.record = run.record,
          .plan = run.record.plan,
          .supervisor = make_supervisor(run.record),
          .warnings = run.warnings};
}

Seconds run_time_now(const Environment& environment, const ReplayedRun& run) {
  return run_time(run.record, read_clocks(*environment.clock), run.supervisor->now());
}

Result<LocalCluster> cluster_to_resume(const Environment& environment, const ReplayedRun& run,
                                       const std::string& name) {
  auto cluster = LocalCluster::open(cluster_root(environment), name);
  if (cluster.ok() && cluster->status().ok()) return cluster;
  if (cluster.ok()) (void)clean_clusters(cluster_root(environment));  // Its keeper is gone.
  return LocalCluster::start(cluster_root(environment),
                             {.name = name,
                              .vms = {},
                              .notice = run.record.notice,
                              .pool = pool_from(run.record.pool, run_time_now(environment, run))});
}

Result<RunResult> conduct(const Environment& environment, const std::string& folder,
                          ReplayedRun run, Provider& provider, const RunAudience& progress,
                          bool resumed) {
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
  listeners.trained_meanwhile = progress.trained_meanwhile;
  listeners.out_of_memory = progress.out_of_memory;
  listeners.wish = progress.wish;
  const SystemClock wall;
  if (place_run(run.record, read_clocks(wall), run.supervisor->now())) {
    const Status written = write_file(record_path(folder), write_run(run.record));
    if (!written.ok()) return written.error();
  }
  const RunClock clock(run.record);
  Runner runner({.record = run.record,
                 .folder = folder,
                 .program = *program,
                 .variables = std::move(*variables),
                 .plans = run.plans,
                 .clock = &clock,
                 .teller = run.teller,
                 .member = run.record.sharing ? run.record.sharing->member : 0,
                 .attempt = static_cast<std::int64_t>(wall.now().in(kSecond))},
                provider, *run.supervisor, run.plan, std::move(*journal), std::move(listeners));
  if (resumed) {
    const Status taken = runner.take_over();
    if (!taken.ok()) return taken.error();
  }
  const auto end = runner.run();
  if (!end.ok()) return end.error();
  return RunResult{
      .name = run.record.name, .folder = folder, .end = *end, .warnings = std::move(run.warnings)};
}

}  // namespace stint
