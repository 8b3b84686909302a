#include "cli/verbs/validate_plan_verb.h"

#include <fmt/format.h>
#include <vector>

#include "base/table.h"
#include "base/text.h"
#include "cli/verbs/step_options.h"
#include "validate/validate_plan.h"

namespace stint::cli {
namespace {

constexpr const char* kVerb = "validate plan";
constexpr const char* kOurs = "stint";
constexpr const char* kLegend =
    "Regret = real cost / cost of the best choice that keeps the deadline - 1; time past the\n"
    "deadline is charged twice. Each n is a job and batch per GPU under one of seven deadlines.";

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

Result<double> confidence_of(const Invocation& invocation) {
  if (!invocation.has("--confidence")) return ValidatePlanRequest{}.confidence;
  const auto number = parse_double(invocation.get("--confidence"));
  if (number) return *number;
  return bad_usage(fmt::format("--confidence must be a number between 0 and 1, not '{}'",
                               printable(invocation.get("--confidence"))));
}

ExitCode run(const Invocation& invocation) {
  const auto fail = [&](const Error& error) { return report(invocation, kVerb, error); };
  const auto format = format_of(invocation);
  if (!format.ok()) return fail(format.error());
  const auto confidence = confidence_of(invocation);
  if (!confidence.ok()) return fail(confidence.error());
  const auto validation = validate_plan({.train = invocation.list("--train"),
                                         .test = invocation.list("--test"),
                                         .split = invocation.get("--split"),
                                         .jobs = invocation.get("--jobs"),
                                         .confidence = *confidence});
  if (!validation.ok()) return fail(validation.error());
  if (invocation.output() == "json") {
    print_answer(invocation, write_plan_validation(*validation));
    return kExitOk;
  }
  print_answer(invocation, plan_score_table(*validation, invocation.out_terminal));
  for (const std::string& note : validation->notes) say(invocation, "Note: " + note + ".");
  say(invocation, kLegend);
  return kExitOk;
}

void add_line(Table& table, const std::string& job, const std::string& policy,
              const PlanScore& score) {
  table.add({job, policy, fmt::to_string(score.n), percent(score.mean_regret),
             percent(score.p90_regret), percent(score.deadlines_met)});
}

}  // namespace

std::string plan_score_table(const PlanValidation& validation, const Terminal& terminal) {
  std::vector<std::string> policies{kOurs};
  for (const auto& [policy, scores] : validation.policies) {
    if (policy != kOurs) policies.push_back(policy);
  }
  Table table({{.title = "job", .importance = 9},
               {.title = "policy", .importance = 8},
               {.title = "n", .align = Align::kRight, .importance = 6},
               {.title = "mean regret", .align = Align::kRight, .importance = 9},
               {.title = "90 % below", .align = Align::kRight, .importance = 5},
               {.title = "deadlines met", .align = Align::kRight, .importance = 8}});
  for (const auto& [job, ours] : validation.jobs) {
    for (const std::string& policy : policies) {
      add_line(table, job, policy, validation.policies.at(policy).jobs.at(job));
    }
  }
  for (const std::string& policy : policies) {
    add_line(table, "all", policy, validation.policies.at(policy).overall);
  }
  return table.text(terminal, "-o json");
}

Verb validate_plan_verb() {
  OptionSpec format = format_option();
  format.choices = {"pollux"};  // The only table of rows on VMs that have a price.
  format.help = "Whose table it is.";
  return {.path = kVerb,
          .summary = "Check what choosing clusters by Stint's predictions really costs.",
          .details =
              "For each job and batch per GPU with at least 8 measured test rows, and for seven "
              "deadlines between the fastest and the slowest of them, it chooses the cheapest row "
              "that is predicted to keep the deadline, or the fastest predicted when none is; then "
              "it looks up what that row really took. Other ways to choose stand beside. The "
              "splits are those of 'stint validate iteration'.",
          .options = {std::move(format),
                      train_option(),
                      {.name = "--test",
                       .value = "FILE...",
                       .help = "Tables to choose from; what they measured is for scores only.",
                       .files = true},
                      {.name = "--split",
                       .value = "HOW",
                       .help = "Instead of --test: leave-one-job-out or max-gpus=N."},
                      jobs_option(),
                      {.name = "--confidence",
                       .value = "SHARE",
                       .help = "How sure a plan must be of its deadline (default: 0.95)."}},
          .outputs = {"table", "json"},
          .examples = {{"stint validate plan --format pollux --train t.csv --split max-gpus=6",
                        "Plan larger clusters of known jobs."},
                       {"stint validate plan --format pollux --train a.csv --test b.csv -o json",
                        "Plan with the rows of one table from those of another."}},
          .run = run};
}

}  // namespace stint::cli
