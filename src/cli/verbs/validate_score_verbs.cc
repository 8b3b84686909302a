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
#include "validate/validate_collective.h"
#include "validate/validate_convergence.h"
#include "validate/validate_memory.h"
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

ExitCode validate_memory_run(const Invocation& invocation) {
  const auto report =
      validate_memory(invocation.environment, {.train = invocation.list("--train"),
                                               .test = invocation.list("--test"),
                                               .split = invocation.get("--split"),
                                               .layers = invocation.get("--layers"),
                                               .plain = invocation.has("--baseline")});
  if (!report.ok()) return cli::report(invocation, "validate memory", report.error());
  return print_report(invocation, "validate memory", *report);
}

ExitCode validate_collective_run(const Invocation& invocation) {
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
                  bad_usage("--format is missing: whose table it is, which is pollux"));
  }
  const auto answer = validate_convergence({.train = invocation.list("--train"),
                                            .test = invocation.list("--test"),
                                            .split = invocation.get("--split"),
                                            .baseline = invocation.get("--baseline")});
  if (!answer.ok()) return report(invocation, kVerb, answer.error());
  return print_report(invocation, kVerb, *answer);
}

}  // namespace

Verb validate_survival_verb() {
  std::vector<OptionSpec> options = validation_options();
  options.push_back({.name = "--split",
                     .value = "HOW",
                     .help = "Instead of --test: predict each zone of 100 machines or more (the "
                             "smaller ones together), or each provider, from the others.",
                     .choices = {"zones", "providers"}});
  options.push_back({.name = "--baseline",
                     .value = "NAME",
                     .help = "Score this instead: losses over the time that machines were watched.",
                     .choices = {"exponential"}});
  return {.path = "validate survival",
          .summary = "Check how well Stint knows how long spot machines live.",
          .details =
              "Fits a hazard that changes with age to lifetimes and compares the predicted share "
              "of machines alive after 1, 3, 6, 12 and 24 hours with the measured one. The files "
              "are lifetimes of Google's preemptible VMs or of probed GPU VMs; their headers tell "
              "them apart. Predictions are lifetimes in seconds.",
          .options = std::move(options),
          .outputs = {"table", "json"},
          .examples = {{"stint validate survival --train lifetimes.csv --split zones",
                        "Predict each zone from the others."},
                       {"stint validate survival --train a.csv --test b.csv -o json",
                        "Predict the machines of one table from those of another."}},
          .run = validate_survival_run};
}

Verb validate_runs_verb() {
  std::vector<OptionSpec> options = validation_options();
  options.push_back({.name = "--calibration",
                     .value = "NAME",
                     .help = "Instead of --train: a shipped calibration, or a file.",
                     .files = true});
  options.push_back(jobs_option());
  options.push_back({.name = "--baseline",
                     .value = "NAME",
                     .help = "Score this instead: ring and overlap at the NIC's rate, nothing "
                             "fitted.",
                     .choices = {"formula"}});
  return {.path = "validate runs",
          .summary = "Check predictions of single runs, mixed clusters among them.",
          .details =
              "Predicts every run that the files start, as 'stint predict' would, and compares the "
              "median of its iterations. The files are measurements (stint.measurement/1, JSON "
              "lines); a run that is only started is predicted and not scored, so predictions can "
              "be written before anything runs. Rows are numbered in the order of the starts.",
          .options = std::move(options),
          .outputs = {"table", "json"},
          .examples = {{"stint validate runs --calibration local --test held_out.jsonl",
                        "Score a calibration on runs it has not seen."},
                       {"stint validate runs --train a.jsonl --test b.jsonl --predictions out.csv",
                        "Learn from some runs and predict others."}},
          .run = validate_runs_run};
}

Verb validate_memory_verb() {
  std::vector<OptionSpec> options = validation_options();
  options.push_back(
      {.name = "--split",
       .value = "HOW",
       .help = "Instead of --test: predict each device's marks, or each job's or "
               "cluster's plans, from the others.",
       .choices = {"leave-one-device-out", "leave-one-job-out", "leave-one-cluster-out"}});
  options.push_back({.name = "--layers",
                     .value = "FILE",
                     .help = "For plans: parameters and activations of each layer."});
  options.push_back({.name = "--baseline",
                     .value = "NAME",
                     .help = "Score this instead: everything fits; 16 bytes a parameter and 2 an "
                             "activation.",
                     .choices = {"plain"}});
  return {.path = "validate memory",
          .summary = "Check how well Stint knows what fits into an accelerator's memory.",
          .details =
              "The files are Gavel's rates of jobs alone and of packed pairs (what fits), or "
              "Sailor's plans (peak memory); their headers tell them apart.",
          .options = std::move(options),
          .outputs = {"table", "json"},
          .examples = {{"stint validate memory --train pairs.csv --split leave-one-device-out",
                        "Predict what fits on each device from the other devices."},
                       {"stint validate memory --train a.csv --test b.csv --layers sizes.csv",
                        "Predict the peak memory of plans from other plans."}},
          .run = validate_memory_run};
}

Verb validate_collective_verb() {
  std::vector<OptionSpec> options = validation_options();
  options.push_back({.name = "--split",
                     .value = "HOW",
                     .help = "Instead of --test: predict sizes of 1 MiB up to 64 MiB from the "
                             "smaller and larger ones.",
                     .choices = {"sizes"}});
  options.push_back({.name = "--baseline",
                     .value = "NAME",
                     .help = "Score this instead: a straight line over sizes, or the largest "
                             "message's bandwidth at every size.",
                     .choices = {"alpha-beta", "bandwidth"}});
  return {.path = "validate collective",
          .summary = "Check how well Stint knows how long all-reduces take.",
          .details =
              "The files are tables of nccl-tests: instance_type, nodes, ranks, collective, "
              "bytes and time_us_out_of_place.",
          .options = std::move(options),
          .outputs = {"table", "json"},
          .examples = {{"stint validate collective --train all_reduce.csv --split sizes",
                        "Predict the sizes between from the small and the large ones."},
                       {"stint validate collective --train seen.csv --test new.csv --predictions "
                        "out.csv",
                        "Predict rows that were not measured."}},
          .run = validate_collective_run};
}

Verb validate_convergence_verb() {
  std::vector<OptionSpec> options = validation_options();
  options.push_back(
      {.name = "--format", .value = "NAME", .help = "Whose tables.", .choices = {"pollux"}});
  options.push_back({.name = "--split",
                     .value = "HOW",
                     .help = "Instead of --test: predict each run in turn from the other batches "
                             "of its job.",
                     .choices = {"leave-one-batch-out"}});
  options.push_back({.name = "--baseline",
                     .value = "NAME",
                     .help = "Score this instead: as many steps or samples as at the nearest "
                             "batch, Scavenger's line, or AdaScale's sum with that batch's noise.",
                     .choices = convergence_baselines()});
  return {.path = "validate convergence",
          .summary = "Check how well Stint knows how many steps a batch size needs.",
          .details =
              "The files are tables of epochs of runs at several batch sizes: model, batch_total, "
              "epoch, progress_in_initial_batch_steps, iteration, metric, grad_sqr and grad_var. "
              "The level of a job is 0.98 of the worst of the best metrics that its training runs "
              "reach (over 0.98 where lower is better); predicted are the steps to it, for each "
              "row those of its run.",
          .options = std::move(options),
          .outputs = {"table", "json"},
          .examples = {{"stint validate convergence --format pollux --train a.csv --test b.csv",
                        "Predict the runs of one file from those of another."},
                       {"stint validate convergence --format pollux --train a.csv --test b.csv -o "
                        "json",
                        "The same for a program to read."}},
          .run = validate_convergence_run};
}

}  // namespace stint::cli
