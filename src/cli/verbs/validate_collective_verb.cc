#include "cli/verbs/validate_collective_verb.h"

#include "cli/render/render_scores.h"
#include "validate/validate_collective.h"

namespace stint::cli {
namespace {

ExitCode run(const Invocation& invocation) {
  const auto report = validate_collective({.train = invocation.list("--train"),
                                           .test = invocation.list("--test"),
                                           .split = invocation.get("--split"),
                                           .baseline = invocation.get("--baseline")});
  if (!report.ok()) return cli::report(invocation, "validate collective", report.error());
  return print_report(invocation, "validate collective", *report);
}

}  // namespace

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
          .run = run};
}

}  // namespace stint::cli
