#include <fmt/format.h>
#include <vector>

#include "base/table.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/verbs/options.h"
#include "cli/verbs/verb_list.h"
#include "plan/validations.h"
#include "validate/validate_search.h"

namespace stint::cli {
namespace {

constexpr const char* kVerb = "validate search";
constexpr const char* kOurs = "stint";
constexpr const char* kLegend =
    "Time and cost relative to the clairvoyant optimum from the same starting point, moves "
    "included; means over seeds.";

constexpr int kSeedsMax = 10'000;

ExitCode run(const Invocation& invocation) {
  const auto fail = [&](const Error& error) { return report(invocation, kVerb, error); };
  const auto format = format_of(invocation);
  if (!format.ok()) return fail(format.error());
  ValidateSearchRequest request{.steps = invocation.list("--steps"),
                                .convergence = invocation.list("--convergence"),
                                .jobs = invocation.get("--jobs")};
  for (const auto& [objective, name] : names_of(SearchObjective{})) {
    if (invocation.get("--objective") == name) request.objective = objective;
  }
  const auto seeds = count_of(invocation, "--seeds", kSeedsMax);
  if (!seeds.ok()) return fail(seeds.error());
  request.seeds = seeds->value_or(request.seeds);
  const auto validation = validate_search(request);
  if (!validation.ok()) return fail(validation.error());
  if (invocation.output() == "json") {
    print_answer(invocation, write_search_validation(*validation));
    return kExitOk;
  }
  print_answer(invocation, search_score_table(*validation, invocation.out_terminal));
  for (const std::string& note : validation->notes) say(invocation, "Note: " + note + ".");
  say(invocation, kLegend);
  return kExitOk;
}

void add_line(Table& table, const std::string& job, const std::string& policy,
              const SearchScore& score) {
  table.add({job, policy, fmt::format("{:.3f}", score.time_over_oracle),
             fmt::format("{:.3f}", score.cost_over_oracle), fmt::format("{:.1f}", score.probes),
             fmt::format("{:.1f}", score.moves)});
}

}  // namespace

std::string search_score_table(const SearchValidation& validation, const Terminal& terminal) {
  std::vector<std::string> policies{kOurs};
  for (const auto& [policy, score] : validation.policies) {
    if (policy != kOurs) policies.push_back(policy);
  }
  Table table({{.title = "job", .importance = 9},
               {.title = "policy", .importance = 8},
               {.title = "time/oracle", .align = Align::kRight, .importance = 9},
               {.title = "cost/oracle", .align = Align::kRight, .importance = 9},
               {.title = "probes", .align = Align::kRight, .importance = 6},
               {.title = "moves", .align = Align::kRight, .importance = 6}});
  for (const auto& [job, searched] : validation.jobs) {
    for (const std::string& policy : policies) {
      add_line(table, job, policy, searched.policies.at(policy));
    }
  }
  for (const std::string& policy : policies) {
    add_line(table, "all", policy, validation.policies.at(policy));
  }
  return table.text(terminal, "-o json");
}

Verb validate_search_verb() {
  OptionSpec format = format_option();
  format.choices = {"pollux"};  // The only tables of step times and of convergence.
  format.help = "Format of the tables.";
  std::vector<std::string> objectives;
  for (const auto& [objective, name] : names_of(SearchObjective{})) {
    if (objective != SearchObjective::kKnee) objectives.emplace_back(name);  // No oracle has one.
  }
  return {.path = kVerb,
          .group = VerbGroup::kEvidence,
          .summary = "Score the online search of cluster and batch size.",
          .details =
              "Replays the training of the jobs in the tables, each from random clusters and batch "
              "sizes: 20 steps reveal the measured step time and the gradient noise of the epoch; "
              "a move takes 30 s and the start-up of on-demand machines. The prior of a job comes "
              "from the tables of other jobs. Baselines are Scavenger, five random probes and the "
              "smallest cluster. The oracle is the clairvoyant optimum: it knows all tables and "
              "pays for its moves too.",
          .options = {std::move(format),
                      {.name = "--steps",
                       .value = "FILE...",
                       .help = "Tables of step times by cluster and batch per GPU.",
                       .files = true},
                      {.name = "--convergence",
                       .value = "FILE...",
                       .help = "Tables of epochs at several batch sizes.",
                       .files = true},
                      {.name = "--objective",
                       .value = "WHAT",
                       .help = "Quantity to minimise: time (default) or cost.",
                       .choices = std::move(objectives)},
                      {.name = "--seeds",
                       .value = "N",
                       .help = "Starting points to draw for each job (default: 200)."},
                      jobs_option()},
          .outputs = {"table", "json"},
          .examples =
              {{"stint validate search --format pollux --steps s.csv --convergence c.csv",
                "Training time relative to the optimum."},
               {"stint validate search --format pollux --steps s.csv --convergence c.csv -o json",
                "The same as JSON."}},
          .run = run};
}

}  // namespace stint::cli
