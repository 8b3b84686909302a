#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "base/file.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/render/figures.h"
#include "cli/render/render_validation.h"
#include "cli/verbs/options.h"
#include "cli/verbs/verb_list.h"
#include "validate/sharded/validate_memory_layouts.h"
#include "validate/sharded/validate_schedules.h"
#include "validate/validate_collective.h"
#include "validate/validate_collective_tables.h"
#include "validate/validate_convergence.h"
#include "validate/validate_epochs.h"
#include "validate/validate_memory.h"
#include "validate/validate_prices.h"
#include "validate/validate_runs.h"
#include "validate/validate_survival.h"

namespace stint::cli {
namespace {

std::string horizons_table(const SurvivalReport& report, const Terminal& terminal) {
  Table table({{.title = "", .importance = 9},
               right("machines", 5),
               right("lost", 5),
               right("age", 9),
               right("measured", 8),
               right("95 % interval", 4),
               right("stint", 8),
               right("error", 7),
               right("exponential", 6),
               right("error", 6)});
  for (const SurvivalGroup& group : report.groups) {
    for (const SurvivalHorizon& it : group.horizons) {
      const auto& measured = it.measured;
      const auto error = [&](double share) {
        return measured ? tenths(std::abs(share - measured->share)) : "";
      };
      table.add({group.name, fmt::to_string(group.machines), fmt::to_string(group.losses),
                 fmt::format("{:g} h", it.age.in(kHour)), measured ? tenths(measured->share) : "",
                 measured
                     ? fmt::format("{:.1f} - {:.1f} %", 100 * measured->low, 100 * measured->high)
                     : "",
                 tenths(it.predicted), error(it.predicted), tenths(it.exponential),
                 error(it.exponential)});
    }
  }
  return table.text(terminal, "-o json");
}

ExitCode validate_survival_run(const Invocation& invocation) {
  constexpr const char* kVerb = "validate survival";
  const auto found = validate_survival({.train = invocation.list("--train"),
                                        .test = invocation.list("--test"),
                                        .split = invocation.get("--split"),
                                        .exponential = invocation.has("--baseline")});
  if (!found.ok()) return report(invocation, kVerb, found.error());
  if (invocation.output() != "json") {
    print_answer(invocation, horizons_table(*found, invocation.out_terminal) + "\n");
  }
  return print_report(invocation, kVerb, found->scores);
}

ExitCode validate_prices_run(const Invocation& invocation) {
  const auto found = validate_prices({.train = invocation.list("--train"),
                                      .test = invocation.list("--test"),
                                      .split = invocation.get("--split")});
  if (!found.ok()) return report(invocation, "validate prices", found.error());
  return print_report(invocation, "validate prices", *found);
}

ExitCode validate_runs_run(const Invocation& invocation) {
  constexpr const char* kVerb = "validate runs";
  const auto found =
      validate_runs(invocation.environment, {.train = invocation.list("--train"),
                                             .calibration = invocation.get("--calibration"),
                                             .test = invocation.list("--test"),
                                             .jobs = invocation.get("--jobs"),
                                             .formula = invocation.has("--baseline")});
  if (!found.ok()) return report(invocation, kVerb, found.error());
  return print_report(invocation, kVerb, *found);
}

ExitCode validate_schedules_run(const Invocation& invocation) {
  constexpr const char* kVerb = "validate schedules";
  SchedulesRequest request{.test = invocation.list("--test")};
  if (invocation.has("--calibration")) request.calibration = invocation.get("--calibration");
  const auto found = validate_schedules(request);
  if (!found.ok()) return report(invocation, kVerb, found.error());
  return print_report(invocation, kVerb, *found);
}

ExitCode validate_memory_run(const Invocation& invocation) {
  std::optional<MemoryFormat> format;
  if (invocation.has("--format")) format = enumerator<MemoryFormat>(invocation.get("--format"));
  const auto report =
      validate_memory(invocation.environment, {.train = invocation.list("--train"),
                                               .test = invocation.list("--test"),
                                               .split = invocation.get("--split"),
                                               .layers = invocation.get("--layers"),
                                               .plain = invocation.has("--baseline"),
                                               .format = format,
                                               .priors = invocation.list("--prior")});
  if (!report.ok()) return cli::report(invocation, "validate memory", report.error());
  return print_report(invocation, "validate memory", *report);
}

ExitCode validate_collective_run(const Invocation& invocation) {
  constexpr const char* kVerb = "validate collective";
  if (invocation.has("--format")) {
    const auto found = validate_collective_tables(
        invocation.environment, {.format = enumerator<CollectiveFormat>(invocation.get("--format")),
                                 .train = invocation.list("--train"),
                                 .test = invocation.list("--test"),
                                 .split = invocation.get("--split"),
                                 .priors = invocation.list("--prior"),
                                 .calibration = invocation.get("--calibration"),
                                 .baseline = invocation.get("--baseline")});
    if (!found.ok()) return cli::report(invocation, kVerb, found.error());
    return print_report(invocation, kVerb, *found);
  }
  for (const char* option : {"--prior", "--calibration"}) {
    if (!invocation.has(option)) continue;
    return cli::report(invocation, kVerb, bad_usage(fmt::format("{} needs --format", option)));
  }
  const auto report = validate_collective({.train = invocation.list("--train"),
                                           .test = invocation.list("--test"),
                                           .split = invocation.get("--split"),
                                           .baseline = invocation.get("--baseline")});
  if (!report.ok()) return cli::report(invocation, "validate collective", report.error());
  return print_report(invocation, "validate collective", *report);
}

ExitCode validate_convergence_run(const Invocation& invocation) {
  constexpr const char* kVerb = "validate convergence";
  if (!invocation.has("--format")) {
    return report(invocation, kVerb,
                  bad_usage("--format is required: the format of the tables, pollux or zeus"));
  }
  const ConvergenceRequest request{.train = invocation.list("--train"),
                                   .test = invocation.list("--test"),
                                   .split = invocation.get("--split"),
                                   .baseline = invocation.get("--baseline")};
  const bool zeus = invocation.get("--format") == "zeus";
  if (!zeus && request.split == "leave-one-job-out") {
    return report(invocation, kVerb,
                  bad_usage("--split leave-one-job-out needs --format zeus: without a run of its "
                            "own, a job of Pollux has no target"));
  }
  const auto answer = zeus ? validate_epochs(request) : validate_convergence(request);
  if (!answer.ok()) return report(invocation, kVerb, answer.error());
  return print_report(invocation, kVerb, *answer);
}

std::vector<OptionSpec> memory_options() {
  std::vector<OptionSpec> options = validation_options();
  options.push_back({.name = "--format",
                     .value = "NAME",
                     .help =
                         "Published format of tables of sharded layouts (default: marks of what "
                         "fits, or plans with --layers, recognised by their headers).",
                     .choices = choices_of<MemoryFormat>()});
  std::vector<std::string> splits = memory_layout_splits();
  splits.emplace_back("leave-one-device-out");
  options.push_back({.name = "--split",
                     .value = "HOW",
                     .help = "Split instead of --test: each device's marks, each job's or "
                             "cluster's plans, or with --format each date's, model's, cluster's or "
                             "sequence length's layouts, predicted from the others.",
                     .choices = std::move(splits)});
  options.push_back({.name = "--prior",
                     .value = "FORMAT=FILE...",
                     .help = "Tables of layouts to learn from besides --train; needs --format.",
                     .files = true});
  options.push_back({.name = "--layers",
                     .value = "FILE",
                     .help = "Table of parameters and activations of each layer, for plans."});
  options.push_back({.name = "--baseline",
                     .value = "NAME",
                     .help = "Baseline to score instead: everything fits; 16 bytes per parameter "
                             "and 2 per activation, or 34 per token and hidden value of layouts.",
                     .choices = {"plain"}});
  return options;
}

}  // namespace

Verb validate_survival_verb() {
  std::vector<OptionSpec> options = validation_options();
  options.push_back({.name = "--split",
                     .value = "HOW",
                     .help = "Split instead of --test: each zone of 100 machines or more (the "
                             "smaller ones together), or each provider, predicted from the others.",
                     .choices = {"zones", "providers"}});
  options.push_back({.name = "--baseline",
                     .value = "NAME",
                     .help = "Baseline to score instead: losses over the observed machine time.",
                     .choices = {"exponential"}});
  return {.path = "validate survival",
          .group = VerbGroup::kEvidence,
          .summary = "Score predicted survival of spot machines.",
          .details =
              "Fits a hazard that changes with age to lifetimes and compares the predicted share "
              "of machines alive after 1, 3, 6, 12 and 24 hours with the measured one. Files are "
              "lifetimes of Google's preemptible VMs or of probed GPU VMs, recognised by their "
              "headers. Predictions are lifetimes in seconds.",
          .options = std::move(options),
          .outputs = {"table", "json"},
          .examples = {{"stint validate survival --train lifetimes.csv --split zones",
                        "Each zone, predicted from the others."},
                       {"stint validate survival --train a.csv --test b.csv -o json",
                        "Machines of one table, predicted from those of another."}},
          .run = validate_survival_run};
}

Verb validate_prices_verb() {
  std::vector<OptionSpec> options = validation_options();
  options.push_back({.name = "--split",
                     .value = "HOW",
                     .help =
                         "Split instead of --test: the second half of each pool's dates from the "
                         "first halves, or each region predicted from the others.",
                     .choices = {"dates", "regions"}});
  return {.path = "validate prices",
          .group = VerbGroup::kEvidence,
          .summary = "Score intervals of spot prices by their age.",
          .details =
              "Fits how spot prices move, as 'stint calibrate prices' does, and compares later "
              "prices of a pool with the interval around its last known price. A pool without "
              "training rows is known by its first test row. Files are dated spot prices of AWS or "
              "Azure, recognised by their headers. Predictions are in USD/h.",
          .options = std::move(options),
          .outputs = {"table", "json"},
          .examples = {{"stint validate prices --train aws_prices.csv --split dates",
                        "Later prices, predicted from earlier ones."},
                       {"stint validate prices --train a.csv --test b.csv -o json",
                        "Prices of one table, predicted from another."}},
          .run = validate_prices_run};
}

Verb validate_runs_verb() {
  std::vector<OptionSpec> options = validation_options();
  options.push_back({.name = "--calibration",
                     .value = "NAME",
                     .help = "Shipped calibration, or a file, instead of --train.",
                     .files = true});
  options.push_back(jobs_option());
  options.push_back(
      {.name = "--baseline",
       .value = "NAME",
       .help = "Baseline to score instead: ring and overlap at the NIC's rate, nothing fitted.",
       .choices = {"formula"}});
  return {.path = "validate runs",
          .group = VerbGroup::kEvidence,
          .summary = "Score predictions of single runs.",
          .details =
              "Predicts every run that the files start, as 'stint predict' does, and compares with "
              "the median of its iterations. Files are measurements (stint.measurement/1, JSON "
              "lines). A run that is only started is predicted and not scored, so predictions can "
              "be written before anything runs. Rows are numbered in the order of the starts.",
          .options = std::move(options),
          .outputs = {"table", "json"},
          .examples = {{"stint validate runs --calibration local --test held_out.jsonl",
                        "A calibration on unseen runs."},
                       {"stint validate runs --train a.jsonl --test b.jsonl --predictions out.csv",
                        "Runs predicted from other runs."}},
          .run = validate_runs_run};
}

Verb validate_schedules_verb() {
  std::vector<OptionSpec> options;
  for (OptionSpec& it : validation_options()) {
    if (it.name != "--train") options.push_back(std::move(it));
  }
  options.push_back({.name = "--calibration",
                     .value = "NAME",
                     .help = "Shipped calibration of the network, or a file (default: local).",
                     .files = true});
  return {.path = "validate schedules",
          .group = VerbGroup::kEvidence,
          .summary = "Score predictions of sharded steps on emulated VMs.",
          .details =
              "Plays the schedule of each measured step (tensor, pipeline and sharded data "
              "parallelism) operation by operation and compares with the median of its "
              "iterations. Files are JSON lines (stint.layout-step/1) as "
              "tools/measure_layouts.py writes them. Compute is paced, so the score is one of "
              "communication and overlap; nothing is fitted to such steps.",
          .options = std::move(options),
          .outputs = {"table", "json"},
          .examples = {{"stint validate schedules --test data/measurements/layouts/paced.jsonl",
                        "The steps that are shipped with the source."},
                       {"stint validate schedules --test new.jsonl --predictions out.csv",
                        "Predictions of steps, measured or not."}},
          .run = validate_schedules_run};
}

Verb validate_memory_verb() {
  return {.path = "validate memory",
          .group = VerbGroup::kEvidence,
          .summary = "Score predictions of what fits into accelerator memory.",
          .details =
              "Files are Gavel's rates of jobs alone and of packed pairs (what fits), or Sailor's "
              "plans (peak memory), recognised by their headers. With --format they are tables of "
              "sharded layouts and predictions are in the unit of their column of memory.",
          .options = memory_options(),
          .outputs = {"table", "json"},
          .examples = {{"stint validate memory --train pairs.csv --split leave-one-device-out",
                        "What fits on each device, predicted from the other devices."},
                       {"stint validate memory --format bloom --train b.csv --split "
                        "leave-one-date-out",
                        "Peak memory of sharded layouts of each date, predicted from the others."},
                       {"stint validate memory --train a.csv --test b.csv --layers sizes.csv",
                        "Peak memory of plans, predicted from other plans."}},
          .run = validate_memory_run};
}

Verb validate_collective_verb() {
  std::vector<OptionSpec> options = validation_options();
  options.push_back({.name = "--format",
                     .value = "NAME",
                     .help = "Published format of the tables, for the physical law of fabrics "
                             "(default: nccl-tests, each cluster by itself).",
                     .choices = choices_of<CollectiveFormat>()});
  options.push_back({.name = "--split",
                     .value = "HOW",
                     .help = "Split instead of --test: each GPU, VM type, collective, number of "
                             "VMs or GPUs, or band of sizes, predicted from the others; or sizes "
                             "of 1 MiB up to 64 MiB from the smaller and larger ones.",
                     .choices = collective_splits()});
  options.push_back({.name = "--prior",
                     .value = "FORMAT=FILE...",
                     .help = "Tables of other formats whose rows join the training.",
                     .files = true});
  options.push_back({.name = "--calibration",
                     .value = "NAME|FILE",
                     .help = "Constants to start from: bundled, or a file (default: priors only). "
                             "Not with --split.",
                     .files = true});
  std::vector<std::string> baselines = collective_baselines();
  baselines.emplace_back("bandwidth");
  options.push_back({.name = "--baseline",
                     .value = "NAME",
                     .help = "Baseline to score instead: the line rate, a straight line over "
                             "sizes, or the nearest size; without --format a straight line or the "
                             "largest message's bandwidth.",
                     .choices = baselines});
  return {.path = "validate collective",
          .group = VerbGroup::kEvidence,
          .summary = "Score predicted times of collectives.",
          .details =
              "Without --format, files are tables of nccl-tests: instance_type, nodes, ranks, "
              "collective, bytes and time_us_out_of_place. With it, they are published tables "
              "whose measured column is predicted by a physical law of links inside and between "
              "VMs: simai (fraction_of_line_rate), ml-engineering (busbw_gb_s), aceso "
              "(time_s_median), vtrain and nccl (time_us_out_of_place).",
          .options = std::move(options),
          .outputs = {"table", "json"},
          .examples = {{"stint validate collective --train all_reduce.csv --split sizes",
                        "Middle sizes, predicted from the small and the large ones."},
                       {"stint validate collective --format vtrain --train a.csv --test b.csv",
                        "Rows of one published table, predicted from those of another."}},
          .run = validate_collective_run};
}

Verb validate_convergence_verb() {
  std::vector<OptionSpec> options = validation_options();
  options.push_back({.name = "--format",
                     .value = "NAME",
                     .help = "Format of the tables.",
                     .choices = {"pollux", "zeus"}});
  options.push_back({.name = "--split",
                     .value = "HOW",
                     .help = "Split instead of --test: each run in turn, predicted from the other "
                             "batch sizes of its job, or with zeus each workload from its smallest "
                             "batch size and all others.",
                     .choices = {"leave-one-batch-out", "leave-one-job-out"}});
  options.push_back(
      {.name = "--baseline",
       .value = "NAME",
       .help = "Baseline to score instead: as many steps or samples as at the nearest batch size, "
               "Scavenger's line, or AdaScale's sum with that batch size's noise.",
       .choices = convergence_baselines()});
  return {
      .path = "validate convergence",
      .group = VerbGroup::kEvidence,
      .summary = "Score predicted steps to a target metric, by batch size.",
      .details =
          "Files are tables of epochs of runs at several batch sizes: model, batch_total, epoch, "
          "progress_in_initial_batch_steps, iteration, metric, grad_sqr and grad_var. The target "
          "of a job is 0.98 of the worst of the best metrics of its training runs (over 0.98 if "
          "lower is better). Each row of a run predicts the steps of that run to the target. Files "
          "of zeus have epochs to target metrics: dataset, network, optimizer, batch, "
          "target_metric "
          "and epochs, which is what is predicted.",
      .options = std::move(options),
      .outputs = {"table", "json"},
      .examples = {{"stint validate convergence --format pollux --train a.csv --test b.csv",
                    "Runs of one file, predicted from those of another."},
                   {"stint validate convergence --format pollux --train a.csv --test b.csv -o "
                    "json",
                    "The same as JSON."}},
      .run = validate_convergence_run};
}

}  // namespace stint::cli
