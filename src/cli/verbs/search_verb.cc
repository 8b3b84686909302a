#include <fmt/format.h>

#include "app/search/search_job.h"
#include "base/text.h"
#include "cli/render/render_run.h"
#include "cli/render/render_search.h"
#include "cli/verbs/options.h"
#include "cli/verbs/verb_list.h"

namespace stint::cli {
namespace {

constexpr const char* kVerb = "search";

Result<double> number_of(const std::string& text, const std::string& what) {
  const auto number = parse_double(text);
  if (number && *number > 0) return *number;
  return bad_usage(fmt::format("{} must be a number above zero, not '{}'", what, printable(text)));
}

/// steps=500 or loss=0.4.
Status read_target(const Invocation& invocation, SearchRequest& request) {
  const auto steps = count_of(invocation, "--steps");
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
  const auto number = number_of(target.substr(sign + 1), "--target " + what);
  if (!number.ok()) return number.error();
  if (what == "loss") {
    request.loss_target = *number;
  } else if (*steps) {
    return bad_usage("--steps says how far away a loss is; --target says the steps already");
  } else {
    request.steps = *number;
  }
  return {};
}

Result<std::vector<int>> counts_of(const Invocation& invocation, const std::string& option) {
  std::vector<int> counts;
  for (const std::string& text : invocation.list(option)) {
    const auto count = parse_int(text);
    if (!count || *count < 1) {
      return bad_usage(
          fmt::format("{} must be whole numbers of 1 or more, not '{}'", option, printable(text)));
    }
    counts.push_back(*count);
  }
  return counts;
}

Status read_space(const Invocation& invocation, SearchRequest& request) {
  request.types = invocation.list("--types");
  const auto most = count_of(invocation, "--max-vms");
  if (!most.ok()) return most.error();
  request.vms_max = most->value_or(request.vms_max);
  auto vms = counts_of(invocation, "--vms");
  if (!vms.ok()) return vms.error();
  request.vms = std::move(*vms);
  auto batches = counts_of(invocation, "--batches");
  if (!batches.ok()) return batches.error();
  request.batches = std::move(*batches);
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
  const auto batch = count_of(invocation, "--batch");
  if (!batch.ok()) return batch.error();
  request.run.global_batch = *batch;
  const auto seed = count_of(invocation, "--seed");
  if (!seed.ok()) return seed.error();
  request.run.seed = static_cast<std::uint64_t>(seed->value_or(1));
  const auto notice = quantity_of<Seconds>(invocation, "--notice", true);
  if (!notice.ok()) return notice.error();
  request.run.notice = notice->value_or(request.run.notice);
  if (!invocation.has("--search-budget")) return {};
  std::string text = invocation.get("--search-budget");
  if (text.ends_with('%')) text.pop_back();
  const auto percent = number_of(text, "--search-budget");
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
                      ? fmt::format("See all of it: stint report {} --html report.html", name)
                      : fmt::format("Go on with it: stint search --resume {}", name));
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
      say(invocation, fmt::format("{}  timed {} with a batch of {}: {:.3f} s a step, believed {}",
                                  moment_text(probe.at), probe.cluster, probe.batch,
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
    if (invocation.has("--dry-run")) {
      print_answer(invocation, outline);
      return kExitOk;
    }
    say(invocation, outline.substr(0, outline.find('\n')));
    result = start_search(invocation.environment, std::move(*prepared), audience);
  }
  if (!result->ok()) return report(invocation, kVerb, result->error());
  return print_end(invocation, **result);
}

std::vector<OptionSpec> space_options() {
  return {{.name = "--types",
           .value = "TYPES",
           .help = "Machines to look at (default: all of the provider).",
           .list = true},
          {.name = "--max-vms", .value = "N", .help = "At most so many at once (default: 4)."},
          {.name = "--vms",
           .value = "COUNTS",
           .help = "Only these numbers of machines: 1,2,4.",
           .list = true},
          {.name = "--batches",
           .value = "BATCHES",
           .help = "Samples of a step to look at (default: half the job's own, its own, twice and "
                   "four times that, as far as it may use them).",
           .list = true},
          {.name = "--markets",
           .value = "MARKETS",
           .help = "Markets to rent on (default: on-demand).",
           .choices = choices_of<Market>(),
           .list = true},
          {.name = "--start",
           .value = "CLUSTER",
           .help = "Where to begin (default: the smallest, or the best that is known)."}};
}

std::vector<OptionSpec> search_options() {
  return {{.name = "--target",
           .value = "WHAT",
           .help = "steps=N at the job's own batch, or loss=LEVEL of the training loss (mean of "
                   "ten steps)."},
          {.name = "--steps",
           .value = "N",
           .help = "With a loss: about how many steps at the job's own batch that takes."},
          {.name = "--objective",
           .value = "WHAT",
           .help = "What is to be least (default: cost); knee weighs both.",
           .choices = choices_of<SearchObjective>()},
          {.name = "--max-time", .value = "TIME", .help = "It shall take no longer."},
          {.name = "--max-cost", .value = "MONEY", .help = "It shall cost no more."},
          {.name = "--mode",
           .value = "MODE",
           .help = "full: find everything out anew; partial (default): use what was learned of the "
                   "job, and probe; none: go where that says.",
           .choices = choices_of<SearchMode>()},
          {.name = "--search-budget",
           .value = "PERCENT",
           .help = "Of the whole training, for probes (default: 5%)."},
          {.name = "--probe-steps", .value = "N", .help = "To time on a setup (default: 10)."},
          {.name = "--rule",
           .value = "RULE",
           .help = "How the learning rate follows the batch (default: the job's, else adascale).",
           .choices = choices_of<LearningRateRule>()}};
}

std::vector<OptionSpec> run_options() {
  return {
      {.name = "--batch", .value = "N", .help = "The job's own batch (default: the profile's)."},
      {.name = "--calibration", .value = "NAME|FILE", .help = "For predictions."},
      {.name = "--on",
       .value = "PROVIDER",
       .help = "Where (default: local, the emulated cloud).",
       .choices = {"local"}},
      {.name = "--name", .value = "NAME", .help = "Of the run (default: after the job)."},
      {.name = "--resume", .value = "NAME", .help = "Go on with a search."},
      {.name = "--compute",
       .value = "KIND",
       .help = "real, or paced-real: real gradients at the pace of the profile (default where the "
               "profile has times).",
       .choices = {"real", "paced-real"}},
      {.name = "--life",
       .value = "LIFE",
       .help = "Of spot machines: hazard:MEAN, spells:STAY/AWAY or trace:FILE."},
      {.name = "--notice", .value = "TIME", .help = "Before one is taken (default: 120s)."},
      {.name = "--seed", .value = "N", .help = "Of lives (default: 1)."},
      {.name = "--dry-run", .help = "Only say where it would begin, its probes and their price."}};
}

}  // namespace

Verb search_verb() {
  std::vector<OptionSpec> options = {
      {.name = "--job", .value = "NAME|FILE", .help = "Its profile."}};
  for (auto& more : {search_options(), space_options(), run_options()}) {
    options.insert(options.end(), more.begin(), more.end());
  }
  return {.path = kVerb,
          .summary = "Train, and find the best batch and cluster meanwhile.",
          .details =
              "It begins the training on a small cluster, times a few steps, measures gradient "
              "noise, and goes on where that is worth the move: to find out, or for good. The "
              "script uses stint.job, whose learning rate follows the batch. No step is lost on "
              "the way. What was learned is kept for the next search of the job.",
          .arguments = {{.name = "COMMAND",
                         .help = "Behind --, the command that trains (default: the job's own).",
                         .required = false,
                         .several = true}},
          .options = std::move(options),
          .outputs = {"table", "json", "csv"},
          .examples = {{"stint search --job cnn.json --target steps=500 -- python3 train.py",
                        "As cheap as possible, on up to four machines of any type."},
                       {"stint search --job cnn.json --target steps=500 --dry-run -- train",
                        "Where it would go, and what that costs."}},
          .run = run};
}

}  // namespace stint::cli
