#include "cli/verbs/validate_runs_verb.h"

#include <utility>

#include "cli/render/render_scores.h"
#include "cli/verbs/step_options.h"
#include "validate/validate_runs.h"

namespace stint::cli {
namespace {

ExitCode run(const Invocation& invocation) {
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

}  // namespace

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
          .run = run};
}

}  // namespace stint::cli
