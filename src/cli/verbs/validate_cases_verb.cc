#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"
#include "cli/render/render_cases.h"
#include "cli/render/render_validation.h"
#include "cli/verbs/options.h"
#include "cli/verbs/verb_list.h"
#include "validate/validate_cases.h"

namespace stint::cli {
namespace {

/// How many groups over several VMs have a close median ratio, as a sentence.
std::string summary(const CaseReport& report) {
  std::size_t groups = 0;
  std::size_t close = 0;
  for (const CaseGroup& it : report.groups) {
    if (!it.several_vms) continue;
    ++groups;
    close += it.median_ratio >= kCloseMin && it.median_ratio <= kCloseMax ? 1U : 0U;
  }
  return fmt::format(
      "Ratio = predicted over published speed. Over several VMs {} of {} have a median ratio of "
      "{:g} to {:g}.",
      close, counted(groups, "group"), kCloseMin, kCloseMax);
}

ExitCode validate_cases_run(const Invocation& invocation) {
  constexpr const char* kVerb = "validate cases";
  const auto found =
      validate_cases(invocation.environment, {.train = invocation.list("--train"),
                                              .test = invocation.list("--test"),
                                              .calibration = invocation.get("--calibration"),
                                              .perfect = invocation.has("--baseline")});
  if (!found.ok()) return report(invocation, kVerb, found.error());
  if (invocation.output() == "csv") {
    print_answer(invocation, case_csv(*found));
    return kExitOk;
  }
  if (invocation.output() != "json") {
    print_answer(invocation, case_table(*found, invocation.out_terminal) + "\n");
    print_answer(invocation, case_group_table(*found, invocation.out_terminal) + "\n");
    std::vector<NamedScores> placements;
    placements.push_back(
        {found->scores.validation.baseline.value_or("stint"), found->scores.validation.groups});
    for (const Validation& it : found->scores.beside) {
      placements.push_back({it.baseline.value_or("stint"), it.groups});
    }
    print_answer(invocation, score_table("placement", placements, invocation.out_terminal) + "\n");
    say(invocation, summary(*found));
  }
  return print_report(invocation, kVerb, found->scores);
}

}  // namespace

Verb validate_cases_verb() {
  std::vector<OptionSpec> options = validation_options();
  options.push_back({.name = "--calibration",
                     .value = "NAME",
                     .help = "Shipped calibration, or a file (default: as for 'stint predict').",
                     .files = true});
  options.push_back({.name = "--baseline",
                     .value = "NAME",
                     .help = "Baseline to score instead: every worker as fast as in the smaller "
                             "case.",
                     .choices = {"perfect"}});
  return {.path = "validate cases",
          .group = VerbGroup::kEvidence,
          .summary = "Score predictions of published trainings.",
          .details =
              "Predicts each published figure of several VMs from the figure of the same training "
              "on one VM, and each of several GPUs of one VM from that of one GPU, as 'stint "
              "predict' does. Files are tables of published cases (id, model, machines, nodes, "
              "gpus, network, metric, value) or NVIDIA's throughput table, of which the ResNet-50 "
              "rows count. Predictions are in the unit of value; scores are of seconds per step. "
              "Without --test the larger cases of --train are predicted. With --test alone each "
              "case is "
              "predicted from the name of its model, in its own metric: speed, time, scaling "
              "efficiency or memory.",
          .options = std::move(options),
          .outputs = {"table", "json", "csv"},
          .examples = {{"stint validate cases --test cases.csv",
                        "Each case, predicted from its model alone."},
                       {"stint validate cases --train cases.csv",
                        "Each case of several VMs, predicted from its own figure on one."},
                       {"stint validate cases --train cases.csv -o csv",
                        "The same with the source of each figure."}},
          .run = validate_cases_run};
}

}  // namespace stint::cli
