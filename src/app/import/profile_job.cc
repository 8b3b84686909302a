#include "app/import/profile_job.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <map>

#include "base/file.h"
#include "base/listener.h"
#include "base/run_command.h"
#include "base/temporary_folder.h"
#include "base/text.h"
#include "base/unit_text.h"
#include "converge/noise.h"
#include "load/file_maker.h"
#include "load/job_overrides.h"
#include "load/python_world.h"

namespace stint {
namespace {

namespace fs = std::filesystem;
using Cause = ProcessesEnd::Cause;

constexpr double kQuantile = 1.2816;  // Of a normal distribution, for 10–90 %.

/// The batch that a run asks for.
struct Ask {
  std::optional<int> batch = {};  // Of the script, and of its DataLoaders; absent: its own.
  double scale = 1;               // Of the batch of each DataLoader.
};

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

Status check_command(const std::vector<std::string>& words) {
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

std::string job_name(const ProfileRequest& request) {
  if (request.overrides.name) return *request.overrides.name;
  if (!request.name.empty()) return request.name;
  const std::string script = script_of(request.command).value_or(request.command[0]);
  const std::string stem = fs::path(script).stem().string();
  return stem.empty() ? "job" : stem;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Tells the script or its DataLoaders about a batch.
void ask_for(const ProfileRequest& request, const Ask& ask, Command& command,
             std::map<std::string, std::string>& variables) {
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
                                         const Ask& ask) {
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
    return fmt::format(
        "the script exited with code {} before the first optimizer step; see its output", end.code);
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
        fmt::format("{}exited with code {}; its {} so far are kept", run, end.code, kept));
  }
}

/// One run of the script.
Result<ProfileSummary> run_once(const ProfileRequest& request, const Ask& ask,
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
  const auto records = read_profile_records(text, "the hook's records");
  if (!records.ok()) return records.error();
  const bool measured =
      std::any_of(records->noun.begin(), records->noun.end(),
                  [](const auto& record) { return record.iteration.has_value(); });
  if (!measured) return failed(nothing_measured(records->noun, *end, request.limit));
  auto summary = summarise_profile(records->noun, ask.batch);
  if (!summary.ok()) return failed(summary.error().message);
  summary->own = !ask.batch && ask.scale == 1;
  warn_of_end(*end,
              summary->own
                  ? "the script "
                  : fmt::format("the script at a batch of {} ", summary->compute.batch_per_worker),
              *summary, request.limit, warnings);
  return summary;
}

/// Φ of one run's gradients; nothing where fewer than two iterations tell of it.
std::optional<ProfiledNoise> noise_of(const ProfileSummary& run) {
  NoiseEstimator estimator;
  ProfiledNoise noise;
  for (const GradientSample& sample : run.gradients) {
    std::vector<WorkerGradient> workers;
    for (const double square : sample.squares) {
      workers.push_back({.batch = static_cast<double>(sample.batch), .square = square});
    }
    noise.record.batch = sample.batch * static_cast<int>(workers.size());
    estimator.add(gradient_moments(workers, sample.mean_square));
    ++noise.samples;
  }
  if (noise.samples < 2) return std::nullopt;
  const NoiseScale scale = estimator.estimate(kQuantile);
  noise.record.gradient_square = scale.mean.square;
  noise.record.gradient_variance = scale.mean.variance;
  noise.scale = scale.scale;
  noise.lower = scale.lower;
  noise.upper = scale.upper;
  return noise;
}

/// Bad usage when the script went on with its own batch whatever it was asked.
Status check_asked(const ProfileRequest& request, const std::vector<ProfileSummary>& runs) {
  const int first = runs[0].seen_batch;
  const auto& fixed = runs[0].start.batch_fixed;
  const bool one_changed =
      runs.size() == 1 && (runs[0].own || !fixed || !request.batch_flag.empty() ||
                           first == runs[0].compute.batch_per_worker);
  const bool differ =
      std::any_of(runs.begin(), runs.end(), [&](const auto& it) { return it.seen_batch != first; });
  if (first == 0 || one_changed || differ) return {};
  return bad_usage(fmt::format(
      "the script trained with a batch of {} regardless of the request{}; call stint.batch_size() "
      "in it, or name its flag with --batch-flag",
      first, fixed ? " (" + *fixed + ")" : ""));
}

/// Runs every batch that is named. One that fails is left out if another did not.
Result<std::vector<ProfileSummary>> run_named(const ProfileRequest& request,
                                              std::vector<std::string>& warnings) {
  std::vector<std::optional<int>> batches(request.batches.begin(), request.batches.end());
  if (request.own) batches.emplace_back();
  std::sort(batches.begin(), batches.end());
  batches.erase(std::unique(batches.begin(), batches.end()), batches.end());
  std::vector<ProfileSummary> runs;
  std::optional<Error> first;
  for (const std::optional<int> batch : batches) {
    auto run = run_once(request, {.batch = batch}, warnings);
    if (run.ok()) {
      runs.push_back(std::move(*run));
      continue;
    }
    if (run.error().kind != ErrorKind::kFailed) return run.error();
    if (!first) first = run.error();
    if (batch) warnings.push_back(fmt::format("a batch of {}: {}", *batch, run.error().message));
  }
  if (runs.empty()) return *first;
  const Status asked = check_asked(request, runs);
  if (!asked.ok()) return asked.error();
  return runs;
}

/// What to ask for beside the script's own batch: half of it and twice as much, or what there is
/// room for.
std::vector<Ask> asks_around(const ProfileSummary& own) {
  if (!own.start.batch_from || !own.start.own_batch) return {};
  const int batch = *own.start.own_batch;
  const double epoch = static_cast<double>(own.start.dataset.value_or(0));
  const bool small_data = epoch > 0 && 2.0 * batch * own.passes * own.start.world > epoch;
  std::vector<double> scales = {0.5, 2};
  if (small_data) scales = {0.25, 0.5};
  if (batch < 2) scales = {2, 4};
  std::vector<Ask> asks;
  for (const double scale : scales) {
    const int asked = static_cast<int>(batch * scale);
    if (asked < 1) continue;
    asks.push_back(*own.start.batch_from == "script" ? Ask{.batch = asked} : Ask{.scale = scale});
  }
  return asks;
}

/// The script's own batch, and two around it where it can be asked for them. Nothing but the first
/// has to succeed.
Result<std::vector<ProfileSummary>> run_around(const ProfileRequest& request,
                                               ProfileReport& report) {
  auto own = run_once(request, {}, report.warnings);
  if (!own.ok()) return own.error();
  std::vector<ProfileSummary> runs = {std::move(*own)};
  // A script that hangs or dies would do so again.
  const bool ended_well = report.warnings.empty();
  const std::vector<Ask> asks = ended_well ? asks_around(runs[0]) : std::vector<Ask>();
  std::vector<std::string> left_out = {
      ended_well ? runs[0].start.batch_fixed.value_or("it has no batch size that can be changed")
                 : "it did not end well"};
  for (const Ask& ask : asks) {
    std::vector<std::string> warnings;
    auto run = run_once(request, ask, warnings);
    if (!run.ok() && run.error().kind != ErrorKind::kFailed) return run.error();
    const bool changed = run.ok() && run->seen_batch != 0 &&
                         std::none_of(runs.begin(), runs.end(), [&](const ProfileSummary& it) {
                           return it.seen_batch == run->seen_batch;
                         });
    if (!changed) {
      left_out.push_back(run.ok() ? "asked for another batch, it trained with its own"
                                  : "asked for another batch, " + run.error().message);
      continue;
    }
    run->compute.batch_per_worker = run->seen_batch;
    report.warnings.insert(report.warnings.end(), warnings.begin(), warnings.end());
    runs.push_back(std::move(*run));
  }
  if (runs.size() == 1) {
    report.one_batch = left_out.back();
  } else if (left_out.size() > 1) {
    report.warnings.push_back("one batch is left out: " + left_out.back());
  }
  return runs;
}

/// Puts the goal in that was asked for. What was measured is kept even if the goal cannot be.
void set_goal(const ProfileRequest& request, ProfileReport& report) {
  JobProfile with_goal = report.job;
  const Status set = apply_overrides(request.overrides, with_goal);
  if (set.ok()) {
    report.job = std::move(with_goal);
  } else {
    report.warnings.push_back("the profile has no goal: " + set.error().message);
  }
}

}  // namespace

Result<ProfileReport> profile_job(const ProfileRequest& request) {
  for (const Status& possible :
       {check_overrides(request.overrides), check_command(request.command)}) {
    if (!possible.ok()) return possible.error();
  }
  ProfileReport report;
  const bool named = request.own || !request.batches.empty();
  auto runs = named ? run_named(request, report.warnings) : run_around(request, report);
  if (!runs.ok()) return runs.error();
  report.runs = std::move(*runs);
  std::sort(report.runs.begin(), report.runs.end(),
            [](const ProfileSummary& a, const ProfileSummary& b) {
              return a.compute.batch_per_worker < b.compute.batch_per_worker;
            });
  report.job = profile_of(job_name(request), report.runs);
  if (request.keep_command) report.job.command = request.command;
  if (!request.device.empty()) {
    for (ComputeSample& sample : report.job.compute) sample.device = request.device;
  }
  for (const ProfileSummary& run : report.runs) {
    auto noise = noise_of(run);
    if (!noise) continue;
    // A profile's noise is a fact only where both figures are; a lower bound is told, not kept.
    if (noise->scale) report.job.noise.push_back(noise->record);
    report.noise.push_back(std::move(*noise));
  }
  const std::string& communication = report.runs.back().start.communication;
  if (communication != "timed") report.communication = communication;
  set_goal(request, report);
  const Status valid = validate(report.job);
  if (!valid.ok()) return failed(valid.error().message);
  if (!request.out.empty()) {
    // Of interest to who runs it only, and different on every computer.
    JobProfile with_maker = report.job;
    set_maker(this_maker(), with_maker);
    const Status written = write_output(request.out, write_job(with_maker));
    if (!written.ok()) return written.error();
  }
  return report;
}

}  // namespace stint
