#include "cli/verbs/validate_convergence_verb.h"

#include "cli/render/render_scores.h"
#include "validate/validate_convergence.h"

namespace stint::cli {
namespace {

ExitCode run(const Invocation& invocation) {
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
          .run = run};
}

}  // namespace stint::cli
