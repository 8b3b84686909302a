#include <fmt/format.h>

#include "app/search/search_job.h"
#include "base/text.h"
#include "cli/render/figures.h"
#include "cli/render/render_run.h"
#include "cli/render/render_search.h"
#include "cli/verbs/command_consent.h"
#include "cli/verbs/options.h"
#include "cli/verbs/verb_list.h"

namespace stint::cli {
namespace {

constexpr const char* kVerb = "search";

Result<double> number_of(const std::string& text, const std::string& what,
                         double max = NumberLimits().max) {
  const auto number = parse_double(text);
  if (!number || *number <= 0) {
    return bad_usage(
        fmt::format("{} must be a number above zero, not '{}'", what, printable(text)));
  }
  if (*number >= NumberLimits().min && *number <= max) return *number;
  return bad_usage(fmt::format("{} must be from {} to {}, not '{}'", what, NumberLimits().min, max,
                               printable(text)));
}

/// steps=500 or loss=0.4.
Status read_target(const Invocation& invocation, SearchRequest& request) {
  const auto steps = count_of(invocation, "--steps", kIntMax);
  if (!steps.ok()) return steps.error();
  if (*steps) request.steps = **steps;
  if (!invocation.has("--target")) return {};
  const std::string target = invocation.get("--target");
  const std::size_t sign = target.find('=');
  const std::string what = target.substr(0, sign);
  if (sign == std::string::npos || (what != "steps" && what != "loss")) {
    return bad_usage(
        fmt::format("--target must be steps=N or loss=LEVEL, not '{}'", printable(target)));
  }
  const auto number = number_of(target.substr(sign + 1), "--target " + what,
                                what == "steps" ? kStepsMax : NumberLimits().max);
  if (!number.ok()) return number.error();
  if (what == "loss") {
    request.loss_target = *number;
  } else if (*steps) {
    return bad_usage(
        "--steps goes with --target loss=LEVEL; --target steps=N has the steps already");
  } else {
    request.steps = *number;
  }
  return {};
}

Status read_space(const Invocation& invocation, SearchRequest& request) {
  request.types = invocation.list("--types");
  const auto most = count_of(invocation, "--max-vms", kVmsMax);
  if (!most.ok()) return most.error();
  request.vms_max = most->value_or(request.vms_max);
  auto vms = counts_of(invocation, "--vms", kVmsMax);
  if (!vms.ok()) return vms.error();
  request.vms = std::move(*vms);
  auto batches = counts_of(invocation, "--batches", kBatchMax);
  if (!batches.ok()) return batches.error();
  request.batches = std::move(*batches);
  auto workers = counts_of(invocation, "--workers-per-vm", kWorkersPerVmMax);
  if (!workers.ok()) return workers.error();
  request.workers_per_vm = std::move(*workers);
  const auto kinds = count_of(invocation, "--max-kinds", 2);
  if (!kinds.ok()) return kinds.error();
  request.kinds_max = kinds->value_or(request.kinds_max);
  if (!invocation.has("--markets")) return {};
  request.markets.clear();
  for (const std::string& market : invocation.list("--markets")) {
    request.markets.push_back(enumerator<Market>(market));
  }
  return {};
}

Status read_limits(const Invocation& invocation, SearchRequest& request) {
  const auto time = quantity_of<Seconds>(invocation, "--max-time");
  if (!time.ok()) return time.error();
  request.time_max = *time;
  const auto cost = quantity_of<Dollars>(invocation, "--max-cost");
  if (!cost.ok()) return cost.error();
  request.cost_max = *cost;
  const auto probe = count_of(invocation, "--probe-steps");
  if (!probe.ok()) return probe.error();
  request.probe_steps = probe->value_or(request.probe_steps);
  const auto batch = count_of(invocation, "--batch", kBatchMax);
  if (!batch.ok()) return batch.error();
  request.run.global_batch = *batch;
  const auto seed = count_of(invocation, "--seed", kIntMax);
  if (!seed.ok()) return seed.error();
  request.run.seed = static_cast<std::uint64_t>(seed->value_or(1));
  const auto notice = quantity_of<Seconds>(invocation, "--notice", true);
  if (!notice.ok()) return notice.error();
  request.run.notice = notice->value_or(request.run.notice);
  if (!invocation.has("--search-budget")) return {};
  std::string text = invocation.get("--search-budget");
  if (text.ends_with('%')) text.pop_back();
  const auto percent = number_of(text, "--search-budget", 1e6);
  if (!percent.ok()) return percent.error();
  request.budget = *percent / 100;
  return {};
}

Result<SearchRequest> request_of(const Invocation& invocation) {
  SearchRequest request;
  request.run.job = invocation.get("--job");
  request.run.calibration = invocation.get("--calibration");
  request.run.name = invocation.get("--name");
  request.run.cluster = invocation.get("--start");
  request.run.command = invocation.arguments;
  request.run.life = invocation.get("--life");
  request.run.environment = invocation.list("--env");
  if (invocation.has("--compute")) {
    request.run.compute =
        invocation.get("--compute") == "real" ? RunCompute::kReal : RunCompute::kPacedReal;
  }
  if (invocation.has("--objective")) {
    request.objective = enumerator<SearchObjective>(invocation.get("--objective"));
  }
  if (invocation.has("--mode")) request.mode = enumerator<SearchMode>(invocation.get("--mode"));
  if (invocation.has("--rule")) {
    request.rule = enumerator<LearningRateRule>(invocation.get("--rule"));
  }
  for (const Status& read : {read_target(invocation, request), read_space(invocation, request),
                             read_limits(invocation, request)}) {
    if (!read.ok()) return read.error();
  }
  return request;
}

ExitCode code_of(const SearchResult& done, const RunReport& report) {
  if (done.run.end.outcome == RunVerdict::kStopped) return kExitInterrupted;
  const SearchRecord& record = done.record;
  const bool late = record.time_max && report.story.time > *record.time_max;
  const bool dear = record.cost_max && report.story.cost > *record.cost_max;
  if (late || dear) return kExitBreached;
  const bool reached = done.run.end.outcome == RunVerdict::kTrained && done.shortfall.empty();
  return reached ? kExitOk : kExitFailed;
}

ExitCode print_end(const Invocation& invocation, const SearchResult& done) {
  print_warnings(invocation, done.run.warnings);
  const auto told = report_run(invocation.environment, done.run.name);
  if (!told.ok()) return report(invocation, kVerb, told.error());
  if (invocation.output() == "json") {
    print_answer(invocation,
                 to_text(search_json(*told, done.shortfall), JsonStyle::kPretty) + "\n");
  } else if (invocation.output() == "csv") {
    print_answer(invocation, surface_csv(done.record));
  } else {
    print_answer(invocation, standing_text(*told, 0, invocation.out_terminal) + "\n" +
                                 search_text(done.record, invocation.out_terminal));
  }
  const ExitCode code = code_of(done, *told);
  if (!done.shortfall.empty()) {
    say(invocation, fmt::format("stint search: {}", done.shortfall));
  } else if (code == kExitBreached) {
    say(invocation, "stint search: the target is reached, but not within the limits");
  }
  const std::string name = shell_quoted(done.run.name);
  say(invocation, done.run.end.outcome == RunVerdict::kTrained
                      ? fmt::format("Report: stint report {} --html report.html", name)
                      : fmt::format("Resume: stint search --resume {}", name));
  return code;
}

ExitCode run(const Invocation& invocation) {
  SearchAudience audience;
  audience.run.happened = [&](const ReplayedRun& run, const RunMoment& moment) {
    for (const StoryLine& line : lines_of(*run.supervisor, moment)) {
      say(invocation, fmt::format("{}  {}", moment_text(line.at), without_controls(line.text)));
    }
  };
  std::size_t told = 0;
  audience.learned = [&](const SearchRecord& record) {
    for (; told < record.probes.size(); ++told) {
      const SearchProbe& probe = record.probes[told];
      say(invocation,
          fmt::format("{}  timed {} at batch size {}: {:.3f} s per step, predicted {}",
                      moment_text(probe.at), cluster_text(choice_of(probe)), probe.batch,
                      probe.step.in(kSecond), range_text(probe.predicted)));
    }
  };
  std::optional<Result<SearchResult>> result;
  if (invocation.has("--resume")) {
    result = resume_search(invocation.environment, invocation.get("--resume"), audience);
  } else {
    const auto request = request_of(invocation);
    if (!request.ok()) return report(invocation, kVerb, request.error());
    auto prepared = prepare_search(invocation.environment, *request);
    if (!prepared.ok()) return report(invocation, kVerb, prepared.error());
    print_warnings(invocation, prepared->run.warnings);
    print_warnings(invocation, prepared->record.warnings);
    const std::string outline = search_outline(*prepared, invocation.err_terminal);
    const CommandOrigin command = origin_with_project(
        invocation, command_origin(invocation.environment, request->run, prepared->run));
    if (invocation.has("--dry-run")) {
      print_answer(invocation,
                   outline + withheld_text(prepared->run.withheld) + command_text(command) + "\n");
      return kExitOk;
    }
    say(invocation, outline.substr(0, outline.find('\n') + 1) +
                        withheld_text(prepared->run.withheld) + command_text(command));
    const Status agreed = confirm_commands(invocation, {&command, 1});
    if (!agreed.ok()) return report(invocation, kVerb, agreed.error());
    result = start_search(invocation.environment, std::move(*prepared), audience);
  }
  if (!result->ok()) return report(invocation, kVerb, result->error());
  return print_end(invocation, **result);
}

std::vector<OptionSpec> space_options() {
  return {{.name = "--types",
           .value = "TYPES",
           .help = "VM types to consider (default: all of the provider).",
           .list = true},
          {.name = "--max-vms", .value = "N", .help = "Maximum number of VMs (default: 4)."},
          {.name = "--vms",
           .value = "COUNTS",
           .help = "Cluster sizes to consider: 1,2,4.",
           .list = true},
          {.name = "--max-kinds",
           .value = "N",
           .help = "Maximum number of VM types and markets in a cluster, 1 or 2 (default: 2)."},
          {.name = "--workers-per-vm",
           .value = "COUNTS",
           .help = "Workers per VM to consider (default: 1, 2, 4 and so on, and one for each "
                   "accelerator).",
           .list = true},
          {.name = "--batches",
           .value = "BATCHES",
           .help = "Batch sizes to consider (default: half the job's own, its own, twice and four "
                   "times that, as far as it may use them).",
           .list = true},
          {.name = "--markets",
           .value = "MARKETS",
           .help = "Markets to rent on (default: on-demand).",
           .choices = choices_of<Market>(),
           .list = true},
          {.name = "--start",
           .value = "CLUSTER",
           .help = "Starting cluster (default: the smallest, or the best known)."}};
}

std::vector<OptionSpec> search_options() {
  return {{.name = "--target",
           .value = "WHAT",
           .help = "Target: steps=N at the job's own batch size, or loss=LEVEL of the training "
                   "loss (mean of ten steps)."},
          {.name = "--steps",
           .value = "N",
           .help = "Estimate of the steps to the target loss, at the job's own batch size."},
          {.name = "--objective",
           .value = "WHAT",
           .help = "Quantity to minimise (default: cost); knee weighs time and cost.",
           .choices = choices_of<SearchObjective>()},
          {.name = "--max-time", .value = "TIME", .help = "Maximum total time."},
          {.name = "--max-cost", .value = "MONEY", .help = "Maximum total cost."},
          {.name = "--mode",
           .value = "MODE",
           .help = "Use of earlier results: full probes everything again; partial (default) uses "
                   "them and probes; none uses them without probes.",
           .choices = choices_of<SearchMode>()},
          {.name = "--search-budget",
           .value = "PERCENT",
           .help = "Share of the training to spend on probes (default: 5%)."},
          {.name = "--probe-steps", .value = "N", .help = "Steps per probe (default: 10)."},
          {.name = "--rule",
           .value = "RULE",
           .help = "Learning-rate rule for batch sizes (default: the job's, else adascale).",
           .choices = choices_of<LearningRateRule>()}};
}

std::vector<OptionSpec> run_options() {
  return {
      {.name = "--batch", .value = "N", .help = "Batch size of the job (default: the profile's)."},
      {.name = "--calibration",
       .value = "NAME|FILE",
       .help = "Network calibration for predictions."},
      {.name = "--on",
       .value = "PROVIDER",
       .help = "Provider (default: local, the emulated cloud).",
       .choices = {"local"}},
      {.name = "--name",
       .value = "NAME",
       .help = "Name of the run (default: from the job's name)."},
      {.name = "--resume", .value = "NAME", .help = "Name of a search to resume."},
      {.name = "--compute",
       .value = "KIND",
       .help = "Compute mode: real, or paced-real, real gradients at the pace of the profile "
               "(default if the profile has times).",
       .choices = {"real", "paced-real"}},
      {.name = "--life",
       .value = "LIFE",
       .help = "Lifetime of spot machines: hazard:MEAN, spells:UP/DOWN or trace:FILE."},
      {.name = "--notice", .value = "TIME", .help = "Spot interruption notice (default: 120s)."},
      {.name = "--seed", .value = "N", .help = "Seed of lifetimes (default: 1)."},
      {.name = "--dry-run",
       .help = "Print the starting cluster, the probes and their cost without training."},
      yes_option(),
      env_option()};
}

}  // namespace

Verb search_verb() {
  std::vector<OptionSpec> options = {
      {.name = "--job", .value = "NAME|FILE", .help = "Profile of the job."}};
  for (auto& more : {search_options(), space_options(), run_options()}) {
    options.insert(options.end(), more.begin(), more.end());
  }
  return {
      .path = kVerb,
      .group = VerbGroup::kRun,
      .summary = "Train while searching for the best batch and cluster.",
      .details =
          "Starts the training on a small cluster, times a few steps and measures gradient noise. "
          "Moves the training when the move pays for itself, either to probe another setup or to "
          "stay there. No step is lost in a move. The script uses stint.job, whose learning rate "
          "follows the batch size. The next search of the job starts from the results of this one.",
      .arguments = {{.name = "COMMAND",
                     .help = "Training command, after -- (default: the job's own).",
                     .required = false,
                     .several = true}},
      .options = std::move(options),
      .outputs = {"table", "json", "csv"},
      .examples = {{"stint search --job cnn.json --target steps=500 -- python3 train.py",
                    "At the lowest cost, on up to four machines of any type."},
                   {"stint search --job cnn.json --target steps=500 --dry-run -- train",
                    "The starting cluster, the probes and their cost."}},
      .project = true,
      .run = run};
}

}  // namespace stint::cli
