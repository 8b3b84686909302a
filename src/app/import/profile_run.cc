#include "app/import/profile_run.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <map>

#include "base/file.h"
#include "base/listener.h"
#include "base/run_command.h"
#include "base/temporary_folder.h"
#include "base/text.h"
#include "base/unit_text.h"
#include "load/file_maker.h"
#include "load/job_overrides.h"
#include "load/python_world.h"

namespace stint {
namespace {

namespace fs = std::filesystem;
using Cause = ProcessesEnd::Cause;

constexpr int kExitOfSignals = 128;  // As in shells; see exit_code_of in base/process.h.

/// The script among the words of a command: the first that is no flag of a Python interpreter.
std::optional<std::string> script_of(const std::vector<std::string>& words) {
  if (!is_python(words[0])) return std::nullopt;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "-m" || words[i] == "-c" || words[i] == "-") return std::nullopt;
    if (words[i] == "-W" || words[i] == "-X") {
      ++i;
    } else if (!words[i].starts_with('-')) {
      return words[i];
    }
  }
  return std::nullopt;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Tells the script or its DataLoaders about a batch.
void ask_for(const ProfileRequest& request, const BatchAsk& ask, Command& command,
             std::map<std::string, std::string>& variables) {
  if (ask.max) variables["STINT_PROFILE_BATCH_MAX"] = fmt::format("{}", *ask.max);
  if (request.operators) variables["STINT_PROFILE_OPERATORS"] = "1";
  if (ask.scale != 1) variables["STINT_PROFILE_LOADER_SCALE"] = fmt::format("{}", ask.scale);
  if (!ask.batch) return;
  const std::string batch = fmt::format("{}", *ask.batch);
  variables["STINT_BATCH_SIZE"] = batch;
  if (request.batch_flag.empty()) {
    variables["STINT_PROFILE_LOADER_BATCH"] = batch;
  } else if (request.batch_flag.ends_with('=')) {
    command.words.push_back(request.batch_flag + batch);
  } else {
    command.words.push_back(request.batch_flag);
    command.words.push_back(batch);
  }
}

/// One command per worker.
Result<std::vector<Command>> commands_of(const ProfileRequest& request, const std::string& folder,
                                         const BatchAsk& ask) {
  Command command{.words = request.command};
  std::map<std::string, std::string> variables;
  variables["PYTHONPATH"] = python_path(folder, variable("PYTHONPATH"));
  variables["STINT_PROFILE_OUT"] = folder + "/records";
  // A script that resumes from this folder, as under `stint run`, trains from the beginning here
  // and leaves its own checkpoints alone.
  variables["STINT_CHECKPOINT_DIR"] = folder + "/checkpoints";
  variables["STINT_PROFILE_STEPS"] = fmt::format("{}", request.steps);
  variables["STINT_PROFILE_WARMUP"] = fmt::format("{}", request.warmup);
  ask_for(request, ask, command, variables);
  if (request.workers == 1) {
    command.variables = assignments(variables);
    return std::vector<Command>{command};
  }
  const auto port = free_loopback_port();
  if (!port.ok()) return port.error();
  variables["MASTER_ADDR"] = "127.0.0.1";
  variables["MASTER_PORT"] = fmt::format("{}", *port);
  variables["WORLD_SIZE"] = fmt::format("{}", request.workers);
  variables["NODE_RANK"] = "0";
  variables["OMP_NUM_THREADS"] = "1";
  std::vector<Command> commands;
  for (int rank = 0; rank < request.workers; ++rank) {
    variables["RANK"] = variables["LOCAL_RANK"] = fmt::format("{}", rank);
    command.variables = assignments(variables);
    commands.push_back(command);
  }
  return commands;
}

/// How a script ended that did not end well.
std::string failed_end(int code) {
  const int signal = code - kExitOfSignals;
  if (signal <= 0 || signal >= NSIG) return fmt::format("exited with code {}", code);
  return fmt::format("was ended by signal {} ({})", signal, ::strsignal(signal));
}

/// What to do about a script that failed before its first step.
std::string_view failed_end_advice(int code) {
  // Seen with bfloat16 on processors that report more than their hypervisor lets programs use.
  if (code == kExitOfSignals + SIGILL) {
    return "a library uses instructions that this computer refuses; with bfloat16 set "
           "ONEDNN_MAX_CPU_ISA=AVX512_CORE";
  }
  return "see its output";
}

/// Why nothing was measured, from how far the script came.
std::string nothing_measured(const std::vector<ProfileRecord>& records, const ProcessesEnd& end,
                             Seconds limit) {
  std::int64_t backwards = 0;
  bool ended = false;
  for (const ProfileRecord& record : records) {
    if (!record.exit) continue;
    ended = true;
    backwards += record.exit->backwards;
  }
  if (end.cause == Cause::kTimeLimit) {
    return fmt::format(
        "the script took no optimizer step within {} and was stopped; raise --timeout if it needs "
        "longer to start",
        to_text(limit));
  }
  if (end.code != 0) {
    return fmt::format("the script {} before the first optimizer step; {}", failed_end(end.code),
                       failed_end_advice(end.code));
  }
  if (!ended) {
    return "the script ended without importing torch, or its interpreter ignores PYTHONPATH (-I, "
           "-E)";
  }
  if (backwards == 0) return "the script never called backward, so there is nothing to measure";
  return "the script called backward, but no PyTorch optimizer took a step";
}

/// What the summary of a run that did not end well is to be taken with.
void warn_of_end(const ProcessesEnd& end, const std::string& run, const ProfileSummary& summary,
                 Seconds limit, std::vector<std::string>& warnings) {
  const std::string kept = counted(static_cast<std::size_t>(summary.steps), "iteration");
  if (end.cause == Cause::kTimeLimit) {
    warnings.push_back(
        fmt::format("{}did not end within {}; its {} so far are kept", run, to_text(limit), kept));
  } else if (end.code != 0) {
    warnings.push_back(
        fmt::format("{}{}; its {} so far are kept", run, failed_end(end.code), kept));
  }
}

}  // namespace

Status check_training_command(const std::vector<std::string>& words) {
  if (words.empty()) {
    return bad_usage(
        "the training command is required. For example: stint profile -- /usr/bin/python3 "
        "train.py");
  }
  const auto script = script_of(words);
  std::error_code error;
  if (script && !fs::exists(*script, error)) {
    return bad_input(fmt::format("there is no script {}; check the path", printable(*script)));
  }
  return is_python(words[0]) ? check_torch(words[0]) : Status();
}

std::string profiled_name(const ProfileRequest& request) {
  if (request.overrides.name) return *request.overrides.name;
  if (!request.name.empty()) return request.name;
  const std::string script = script_of(request.command).value_or(request.command[0]);
  const std::string stem = fs::path(script).stem().string();
  return stem.empty() ? "job" : stem;
}

Result<ProfiledRun> run_script(const ProfileRequest& request, const BatchAsk& ask,
                               std::vector<std::string>& warnings) {
  const auto folder = TemporaryFolder::make();
  if (!folder.ok()) return folder.error();
  const Status unpacked = unpack_python(folder->path());
  if (!unpacked.ok()) return unpacked.error();
  std::error_code error;
  fs::create_directory(folder->path() + "/checkpoints", error);
  if (error)
    return failed(fmt::format("cannot create a folder for checkpoints: {}", error.message()));
  const auto commands = commands_of(request, folder->path(), ask);
  if (!commands.ok()) return commands.error();
  const auto end =
      run_together(*commands, request.limit,
                   request.silent ? std::optional<std::string>("/dev/null") : std::nullopt);
  if (!end.ok()) return end.error();
  if (end->cause == Cause::kInterrupted) {
    return Error{ErrorKind::kInterrupted, "interrupted; nothing was written"};
  }
  const std::string records_file = folder->path() + "/records";
  const std::string text = fs::exists(records_file) ? *read_file(records_file) : std::string();
  auto records = read_profile_records(text, "the hook's records");
  if (!records.ok()) return records.error();
  const bool measured =
      std::any_of(records->noun.begin(), records->noun.end(),
                  [](const auto& record) { return record.iteration.has_value(); });
  if (!measured) return failed(nothing_measured(records->noun, *end, request.limit));
  auto summary = summarise_profile(records->noun, ask.batch);
  if (!summary.ok()) return failed(summary.error().message);
  summary->own = !ask.batch && ask.scale == 1 && !ask.max;
  warn_of_end(*end,
              summary->own
                  ? "the script "
                  : fmt::format("the script at a batch of {} ", summary->compute.batch_per_worker),
              *summary, request.limit, warnings);
  return ProfiledRun{std::move(*summary), std::move(records->noun)};
}

void set_goal(const ProfileRequest& request, JobProfile& job, std::vector<std::string>& warnings) {
  JobProfile with_goal = job;
  const Status set = apply_overrides(request.overrides, with_goal);
  if (set.ok()) {
    job = std::move(with_goal);
  } else {
    warnings.push_back("the profile has no goal: " + set.error().message);
  }
}

Status keep_profile(const ProfileRequest& request, const JobProfile& job) {
  const Status valid = validate(job);
  if (!valid.ok()) return failed(valid.error().message);
  if (request.out.empty()) return {};
  // Of interest to who runs it only, and different on every computer.
  JobProfile with_maker = job;
  set_maker(this_maker(), with_maker);
  return write_output(request.out, write_job(with_maker));
}

}  // namespace stint
