#include "cli/verbs/risk_simulate_verb.h"

#include <utility>

#include "cli/render/render_runs.h"

namespace stint::cli {
namespace {

constexpr const char* kVerb = "risk simulate";

ExitCode run(const Invocation& invocation) {
  const auto options = simulation_of(invocation);
  if (!options.ok()) return report(invocation, kVerb, options.error());
  const std::string plan = invocation.has("--plan") ? invocation.get("--plan") : "1";
  const auto found =
      simulate_plan(invocation.environment, {.plan = plan,
                                             .job = invocation.get("--job"),
                                             .calibration = invocation.get("--calibration"),
                                             .trace = invocation.get("--trace"),
                                             .wait = invocation.has("--wait"),
                                             .options = *options});
  if (!found.ok()) return report(invocation, kVerb, found.error());
  print_warnings(invocation, found->warnings);
  const bool as_json = invocation.output() == "json";
  print_answer(invocation, as_json ? to_text(simulation_json(*found), JsonStyle::kPretty) + "\n"
                                   : simulation_text(*found, invocation.out_terminal));
  return kExitOk;
}

}  // namespace

Verb risk_simulate_verb() {
  std::vector<OptionSpec> options = {
      {.name = "--plan",
       .value = "N|FILE",
       .help = "A row of the last answer, or a saved answer (default: row 1)."},
      {.name = "--job",
       .value = "FILE|NAME",
       .help = "The profile that was planned (default: the shipped one that the plan names)."},
      {.name = "--trace",
       .value = "FILE",
       .help = "Machines that a pool had over time, as 'stint risk fit' reads them: runs begin at "
               "random times of it. For plans with one group of spot machines."},
      {.name = "--wait",
       .help = "Wait for spot machines instead of replacing them on demand, as plans with "
               "--markets spot do."}};
  for (OptionSpec& option : simulation_options()) options.push_back(std::move(option));
  return {.path = kVerb,
          .summary = "Play the runs of a plan with machines that are lost, many times.",
          .details =
              "Shows how time and bill are distributed, beside what the plan promised. Machines "
              "are lost by hazards that change with their age, several of a pool at once; the gang "
              "waits for others, restores the last safe state, and goes on. While spot has no "
              "machine one on demand takes its place, and stays.",
          .options = std::move(options),
          .outputs = {"table", "json"},
          .examples = {{"stint risk simulate --plan 1 --runs 10000", "The best plan again."},
                       {"stint risk simulate --plan saved.json --trace counts.json -o json",
                        "Along a trace, for a program to read."}},
          .run = run};
}

}  // namespace stint::cli
