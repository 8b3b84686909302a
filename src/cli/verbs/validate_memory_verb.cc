#include "cli/verbs/validate_memory_verb.h"

#include "cli/render/render_scores.h"
#include "validate/validate_memory.h"

namespace stint::cli {
namespace {

ExitCode run(const Invocation& invocation) {
  const auto report =
      validate_memory(invocation.environment, {.train = invocation.list("--train"),
                                               .test = invocation.list("--test"),
                                               .split = invocation.get("--split"),
                                               .layers = invocation.get("--layers"),
                                               .plain = invocation.has("--baseline")});
  if (!report.ok()) return cli::report(invocation, "validate memory", report.error());
  return print_report(invocation, "validate memory", *report);
}

}  // namespace

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
          .run = run};
}

}  // namespace stint::cli
