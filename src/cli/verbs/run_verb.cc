#include <fmt/format.h>
#include <utility>

#include "app/run/run_together.h"
#include "app/search/search_job.h"
#include "base/text.h"
#include "cli/render/figures.h"
#include "cli/render/render_run.h"
#include "cli/verbs/command_consent.h"
#include "cli/verbs/options.h"
#include "cli/verbs/verb_list.h"

namespace stint::cli {
namespace {

constexpr const char* kVerb = "run";
constexpr const char* kPlainWarning =
    "the script does not use stint.Job: after the loss of a machine it starts again from the last "
    "checkpoint that it saved itself, or from the beginning; the forecast assumes the beginning";

Status read_saves(const Invocation& invocation, RunRequest& request) {
  if (invocation.has("--checkpoints")) {
    const std::string place = invocation.get("--checkpoints");
    request.place = place == "folder"   ? CheckpointPlace::kObjectStore
                    : place == "anchor" ? CheckpointPlace::kAnchor
                                        : CheckpointPlace::kTier;
  }
  const auto receivers = count_of(invocation, "--receivers", kVmsMax);
  if (!receivers.ok()) return receivers.error();
  request.receivers = *receivers;
  const auto every = quantity_of<Seconds>(invocation, "--save-every");
  if (!every.ok()) return every.error();
  request.save_every = *every;
  return {};
}

Status read_limits(const Invocation& invocation, RunRequest& request) {
  const auto deadline = quantity_of<Seconds>(invocation, "--deadline");
  if (!deadline.ok()) return deadline.error();
  request.deadline = *deadline;
  const auto budget = quantity_of<Dollars>(invocation, "--budget");
  if (!budget.ok()) return budget.error();
  request.budget = *budget;
  const auto notice = quantity_of<Seconds>(invocation, "--notice", true);
  if (!notice.ok()) return notice.error();
  request.notice = notice->value_or(request.notice);
  const auto tick = quantity_of<Seconds>(invocation, "--tick");
  if (!tick.ok()) return tick.error();
  request.tick = *tick;
  const auto hang = quantity_of<Seconds>(invocation, "--hang-limit");
  if (!hang.ok()) return hang.error();
  request.hang = *hang;
  return {};
}

Status read_counts(const Invocation& invocation, RunRequest& request) {
  const auto batch = count_of(invocation, "--batch", kBatchMax);
  if (!batch.ok()) return batch.error();
  request.global_batch = *batch;
  const auto steps = count_of(invocation, "--steps", kIntMax);
  if (!steps.ok()) return steps.error();
  if (*steps) request.steps = **steps;
  const auto seed = count_of(invocation, "--seed", kIntMax);
  if (!seed.ok()) return seed.error();
  request.seed = static_cast<std::uint64_t>(seed->value_or(1));
  const auto speed = count_of(invocation, "--trace-speed");
  if (!speed.ok()) return speed.error();
  request.trace_speed = speed->value_or(1);
  return {};
}

Result<RunRequest> request_of(const Invocation& invocation) {
  RunRequest request{.cluster = invocation.get("--cluster"),
                     .job = invocation.get("--job"),
                     .calibration = invocation.get("--calibration"),
                     .name = invocation.get("--name"),
                     .command = invocation.arguments,
                     .layout = invocation.get("--layout"),
                     .equal_shares = invocation.has("--equal-shares"),
                     .life = invocation.get("--life"),
                     .expect = invocation.get("--expect"),
                     .environment = invocation.list("--env")};
  if (invocation.has("--plan")) request.plan = invocation.get("--plan");
  if (invocation.has("--plan") && invocation.has("--cluster")) {
    return bad_usage("--plan and --cluster exclude each other; give one of them");
  }
  if (invocation.has("--compute")) {
    request.compute =
        invocation.get("--compute") == "real" ? RunCompute::kReal : RunCompute::kPacedReal;
  }
  const auto overrides = overrides_of(invocation);
  if (!overrides.ok()) return overrides.error();
  request.overrides = *overrides;
  for (const Status& read : {read_saves(invocation, request), read_limits(invocation, request),
                             read_counts(invocation, request)}) {
    if (!read.ok()) return read.error();
  }
  return request;
}

/// What is about to happen, before anything is rented.
std::string outline(const PreparedRun& run) {
  const RunRecord& record = run.record;
  std::vector<std::string> kinds;
  for (const RunMachines& machines : record.plan.machines) {
    kinds.push_back(fmt::format("{}x {} {}{}", machines.count, machines.type,
                                machines.market == Market::kSpot ? "spot" : "on-demand",
                                machines.trains ? "" : " for checkpoints"));
  }
  // A script that takes no orders has its own batch, and makes as many steps as it wants to.
  const std::string work =
      record.plain ? fmt::format("about {} steps with the script's own batch", record.steps)
                   : fmt::format("{} steps of {} samples", record.steps, record.global_batch);
  std::string text = fmt::format("Run {}: {} on {}.", record.name, work, join(kinds, " + "));
  if (record.layout) text += fmt::format(" Layout: {}.", *record.layout);
  if (record.forecast) {
    text += fmt::format(" Expected: {}, {}.", range_text(record.forecast->time),
                        range_text(record.forecast->cost));
    if (record.forecast->p_deadline) {
      text += fmt::format(" P(deadline of {}) {}.", duration(*record.deadline),
                          percent(*record.forecast->p_deadline));
    }
  }
  return text;
}

ExitCode run(const Invocation& invocation) {
  RunAudience progress;
  progress.happened = [&](const ReplayedRun& run, const RunMoment& moment) {
    for (const StoryLine& line : lines_of(*run.supervisor, moment)) {
      say(invocation, fmt::format("{}  {}", moment_text(line.at), story_text(line.text, 0, 12)));
    }
  };
  if (invocation.has("--interleave") && invocation.has("--layout")) {
    return report(invocation, kVerb,
                  bad_usage("--layout and --interleave exclude each other; give one of them"));
  }
  if (invocation.has("--interleave")) {
    const auto request = request_of(invocation);
    if (!request.ok()) return report(invocation, kVerb, request.error());
    return run_interleaved(invocation, *request);
  }
  for (const char* option : {"--mode", "--timeline"}) {
    if (!invocation.has(option) || invocation.has("--resume")) continue;
    return report(invocation, kVerb,
                  bad_usage(fmt::format(
                      "{} needs --interleave: it is for two runs that share machines", option)));
  }
  std::optional<Result<RunResult>> result;
  if (invocation.has("--resume")) {
    const std::string name = invocation.get("--resume");
    const auto shared = is_shared(invocation.environment, name);
    if (shared.ok() && *shared) return resume_interleaved(invocation, name);
    const auto searches = is_search(invocation.environment, name);
    if (searches.ok() && *searches) {
      auto led = resume_search(invocation.environment, name, {.run = progress});
      result = led.ok() ? Result<RunResult>(std::move(led->run)) : Result<RunResult>(led.error());
    } else {
      result = resume_run(invocation.environment, name, progress);
    }
  } else {
    const auto request = request_of(invocation);
    if (!request.ok()) return report(invocation, kVerb, request.error());
    auto prepared = prepare_run(invocation.environment, *request);
    if (!prepared.ok()) return report(invocation, kVerb, prepared.error());
    if (prepared->record.plain) prepared->warnings.emplace_back(kPlainWarning);
    print_warnings(invocation, std::exchange(prepared->warnings, {}));
    const CommandOrigin command = origin_with_project(
        invocation, command_origin(invocation.environment, *request, *prepared));
    say(invocation,
        outline(*prepared) + "\n" + withheld_text(prepared->withheld) + command_text(command));
    if (invocation.has("--dry-run")) return kExitOk;
    const Status agreed = confirm_commands(invocation, {&command, 1});
    if (!agreed.ok()) return report(invocation, kVerb, agreed.error());
    result = start_run(invocation.environment, std::move(*prepared), progress);
  }
  if (!result->ok()) return report(invocation, kVerb, result->error());
  const RunResult& done = **result;
  print_warnings(invocation, done.warnings);
  const auto told = report_run(invocation.environment, done.name);
  if (!told.ok()) return report(invocation, kVerb, told.error());
  if (invocation.output() == "json") {
    print_answer(invocation, to_text(report_json(*told), JsonStyle::kPretty) + "\n");
  } else {
    print_answer(invocation, standing_text(*told, 0, invocation.out_terminal));
  }
  const std::string name = shell_quoted(done.name);
  say(invocation, done.end.outcome == RunVerdict::kTrained
                      ? fmt::format("Report: stint report {} --html report.html", name)
                      : fmt::format("Resume: stint run --resume {}", name));
  return exit_code(done.end.outcome);
}

/// Of two runs that share machines, and of none.
std::vector<OptionSpec> more_options() {
  return {{.name = "--dry-run",
           .help = "Print the machines, the forecast and the command without renting anything."},
          yes_option(),
          env_option(),
          {.name = "--interleave",
           .value = "PLAN...",
           .help = "Two plans for the same machines, or two jobs with --cluster, which take turns.",
           .files = true},
          {.name = "--mode",
           .value = "MODE",
           .help = "Sharing mode of two runs: turns with gradients sent as a whole or in buckets, "
                   "or freely (default: the best by prediction).",
           .choices = {"whole", "bucket", "freely"}},
          {.name = "--timeline",
           .value = "FILE",
           .help = "Output file for a timeline of the turns of two runs."}};
}

std::vector<OptionSpec> run_options() {
  return {
      {.name = "--plan",
       .value = "FILE|N",
       .help = "Saved plan, or row of the last answer of 'stint plan' (default: 1)."},
      {.name = "--cluster",
       .value = "TEXT",
       .help = "VMs to rent instead of a plan: '4x local.large:spot'."},
      {.name = "--job",
       .value = "NAME|FILE",
       .help = "Profile of the job (default: the plan's job)."},
      {.name = "--calibration",
       .value = "NAME|FILE",
       .help = "Network calibration for the forecast."},
      {.name = "--on",
       .value = "PROVIDER",
       .help = "Provider (default: local, the emulated cloud).",
       .choices = {"local"}},
      {.name = "--name",
       .value = "NAME",
       .help = "Name of the run (default: from the job's name)."},
      {.name = "--resume", .value = "NAME", .help = "Name of an unfinished run to resume."},
      {.name = "--steps",
       .value = "N",
       .help = "Steps to train (default: the plan's, else as many as the goal needs)."},
      {.name = "--batch", .value = "N", .help = "Samples per step (default: the plan's)."},
      {.name = "--deadline", .value = "TIME", .help = "Deadline, from now (default: the plan's)."},
      {.name = "--budget",
       .value = "MONEY",
       .help = "Maximum cost; the run stops before it is spent."},
      {.name = "--compute",
       .value = "KIND",
       .help = "Compute mode: real, or paced-real, real gradients at the pace of the profile "
               "(default if the profile has times).",
       .choices = {"real", "paced-real"}},
      {.name = "--checkpoints",
       .value = "PLACE",
       .help = "Checkpoint storage (default: the plan's, else folder).",
       .choices = {"folder", "anchor", "tier"}},
      {.name = "--receivers", .value = "N", .help = "Machines of a checkpoint tier."},
      {.name = "--save-every", .value = "TIME", .help = "Checkpoint interval."},
      {.name = "--layout",
       .value = "LAYOUT",
       .help = "Split of the model over the machines, such as 'dp2 tp2 zero1', for scripts that "
               "ask stint.layout() (default: the script does not split it)."},
      {.name = "--equal-shares", .help = "Give fast and slow machines the same batch."},
      {.name = "--life",
       .value = "LIFE",
       .help = "Lifetime of spot machines: hazard:MEAN, spells:UP/DOWN or trace:FILE "
               "(default: no interruptions)."},
      {.name = "--expect",
       .value = "LIFE",
       .help = "Lifetime that the forecast assumes: hazard:MEAN or spells:UP/DOWN (default: "
               "that of --life; no interruptions for a trace)."},
      {.name = "--trace-speed", .value = "N", .help = "Speed factor for the replay of the trace."},
      {.name = "--notice", .value = "TIME", .help = "Spot interruption notice (default: 120s)."},
      {.name = "--hang-limit",
       .value = "TIME",
       .help = "Maximum time without an optimizer step, after which a script that does not use "
               "stint.Job is restarted (default: 5min, or ten predicted steps if longer)."},
      {.name = "--tick", .value = "TIME", .help = "Interval between market updates."},
      {.name = "--seed", .value = "N", .help = "Seed of lifetimes and forecast (default: 1)."}};
}

}  // namespace

Verb run_verb() {
  Verb verb{
      .path = kVerb,
      .group = VerbGroup::kRun,
      .summary = "Rent the machines of a plan and run the training.",
      .details =
          "Runs on the emulated cloud of this computer. Interrupted machines are replaced; the "
          "others continue with the state they hold, and if none is left, training resumes from "
          "the last checkpoint. A script that uses stint.job keeps its global batch and the order "
          "of its samples on any number of machines. Any other script runs as it is, with "
          "torchrun's "
          "environment and STINT_CHECKPOINT_DIR: its optimizer steps are counted, and after a "
          "crash, a hang or a lost machine it restarts on all machines. Ctrl-C writes a checkpoint "
          "(stint.job) or sends SIGTERM, releases the machines and stops; --resume continues from "
          "there, also after a crash. A command that comes from a plan, a profile or a project "
          "file is "
          "shown and runs only after a confirmation, or with --yes.",
      .arguments = {{.name = "COMMAND",
                     .help = "Training command, after -- (default: the job's own).",
                     .required = false,
                     .several = true}},
      .options = run_options(),
      .outputs = {"table", "json"},
      .examples = {{"stint run --plan 1 -- /usr/bin/python3 train.py", "Run the best plan."},
                   {"stint run --plan 1 --yes", "The same with the command of the plan."},
                   {"stint run --resume cnn-1", "Resume after a crash or a stop."},
                   {"stint run --interleave a.plan b.plan --timeline turns.json",
                    "Two jobs on the same machines, one computing while the other sends."}},
      .project = true,
      .run = run};
  for (OptionSpec& option : goal_options()) verb.options.push_back(std::move(option));
  for (OptionSpec& option : more_options()) verb.options.push_back(std::move(option));
  return verb;
}

}  // namespace stint::cli
