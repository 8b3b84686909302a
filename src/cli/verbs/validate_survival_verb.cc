#include "cli/verbs/validate_survival_verb.h"

#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "base/file.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/render/render_scores.h"
#include "validate/validate_survival.h"

namespace stint::cli {
namespace {

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

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
        return measured ? percent(std::abs(share - measured->share)) : "";
      };
      table.add({group.name, fmt::to_string(group.machines), fmt::to_string(group.losses),
                 fmt::format("{:g} h", it.age.in(kHour)), measured ? percent(measured->share) : "",
                 measured
                     ? fmt::format("{:.1f} - {:.1f} %", 100 * measured->low, 100 * measured->high)
                     : "",
                 percent(it.predicted), error(it.predicted), percent(it.exponential),
                 error(it.exponential)});
    }
  }
  return table.text(terminal, "-o json");
}

ExitCode run(const Invocation& invocation) {
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
          .run = run};
}

}  // namespace stint::cli
