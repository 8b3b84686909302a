#include <fmt/format.h>
#include <utility>
#include <vector>

#include "app/risk/replay_deadline.h"
#include "app/risk/risk_fit.h"
#include "app/risk/risk_survive.h"
#include "base/json.h"
#include "cli/render/render_replay.h"
#include "cli/render/render_risk.h"
#include "cli/render/render_runs.h"
#include "cli/verbs/options.h"
#include "cli/verbs/verb_list.h"

namespace stint::cli {
namespace {

ExitCode simulate(const Invocation& invocation) {
  constexpr const char* kVerb = "risk simulate";
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

constexpr const char* kLegend =
    "S spot, D on demand, + set-up, . waiting: what most machines did; x: most spot machines were\n"
    "not there; a, b: the zone of the spot machines, where there are several.";

ExitCode replay(const Invocation& invocation) {
  constexpr const char* kVerb = "risk replay";
  const auto fail = [&](const Error& error) { return report(invocation, kVerb, error); };
  const auto terms = deadline_terms(invocation);
  if (!terms.ok()) return fail(terms.error());
  const auto start = quantity_of<Seconds>(invocation, "--start", true);
  if (!start.ok()) return fail(start.error());
  const std::string policy =
      invocation.has("--policy") ? invocation.get("--policy") : name_of(Player::kStint);
  const auto played = replay_deadline({.traces = invocation.list("--trace"),
                                       .terms = *terms,
                                       .start = start->value_or(Seconds{}),
                                       .player = enumerator<Player>(policy)});
  if (!played.ok()) return fail(played.error());
  if (invocation.output() == "json") {
    print_answer(invocation, to_text(replay_json(*played, policy), JsonStyle::kPretty) + "\n");
    return kExitOk;
  }
  print_answer(invocation, replay_timeline(*played, invocation.out_terminal));
  print_answer(invocation, "\n" + replay_summary(*played));
  say(invocation, kLegend);
  return kExitOk;
}

void print(const Invocation& invocation, const Json& json, const std::string& text) {
  const bool as_json = invocation.output() == "json";
  print_answer(invocation, as_json ? to_text(json, JsonStyle::kPretty) + "\n" : text);
}

ExitCode fit(const Invocation& invocation) {
  constexpr const char* kVerb = "risk fit";
  RiskFitRequest request{.files = invocation.arguments,
                         .name = invocation.get("--name"),
                         .provenance = invocation.get("--provenance"),
                         .out = invocation.get("--out")};
  const auto machines = count_of(invocation, "--machines");
  if (!machines.ok()) return report(invocation, kVerb, machines.error());
  request.machines = machines->value_or(1);
  const auto gap = quantity_of<Seconds>(invocation, "--gap");
  if (!gap.ok()) return report(invocation, kVerb, gap.error());
  request.gap = gap->value_or(request.gap);
  const auto found = fit_risk(invocation.environment, request);
  if (!found.ok()) return report(invocation, kVerb, found.error());
  print(invocation, risk_fit_json(*found), risk_fit_text(*found, invocation.out_terminal));
  if (found->lifetimes) {
    say(invocation,
        "Alive is measured after Kaplan and Meier; a loss between two probes counts in the middle, "
        "and Google's limit of 24 h is no loss.");
  }
  if (!request.out.empty()) say(invocation, "The calibration is in " + request.out + ".");
  return kExitOk;
}

ExitCode survive(const Invocation& invocation) {
  constexpr const char* kVerb = "risk survive";
  for (const char* option : {"--vm", "--for"}) {
    if (invocation.has(option)) continue;
    return report(invocation, kVerb,
                  bad_usage(fmt::format("{} is missing. For example: stint risk survive --vm "
                                        "p4d.24xlarge --count 8 --for 4h",
                                        option)));
  }
  const auto time = quantity_of<Seconds>(invocation, "--for");
  if (!time.ok()) return report(invocation, kVerb, time.error());
  const auto count = count_of(invocation, "--count");
  if (!count.ok()) return report(invocation, kVerb, count.error());
  const auto found =
      survive_risk(invocation.environment, {.vm = invocation.get("--vm"),
                                            .region = invocation.get("--region"),
                                            .count = count->value_or(1),
                                            .time = **time,
                                            .lifetimes = invocation.list("--lifetimes"),
                                            .advisor = invocation.get("--advisor")});
  if (!found.ok()) return report(invocation, kVerb, found.error());
  print_warnings(invocation, found->warnings);
  print(invocation, survive_json(*found), survive_text(*found, invocation.out_terminal));
  if (invocation.output() == "json") return kExitOk;
  say(invocation, "Hazard: " + found->hazard_origin + ".");
  const bool same = found->hazard_origin.ends_with(found->group_origin);
  say(invocation, fmt::format("Machines are lost together as in {}.",
                              same ? "the same prior" : found->group_origin));
  return kExitOk;
}

Verb fit_verb() {
  return {.path = "risk fit",
          .summary = "Say what traces and lifetimes of spot machines tell about a pool.",
          .details =
              "Reads, told by content: traces (JSON with metadata.gap_seconds and data; CSV of "
              "time_s or time and running_instances; CSV of time_s, event and node), lifetimes "
              "(machine_type, zone, lifetime_s, preempted; or provider, gpu, num_gpus, zone, "
              "last_seen_running_s, found_gone_s, preempted), start-up times (gpu, market, region, "
              "provisioning_s, staging_s, booting_s) and failed starts (provider, gpu, zone, "
              "time_utc).",
          .arguments = {{.name = "FILE...", .help = "What to read.", .several = true}},
          .options = {{.name = "--machines",
                       .value = "N",
                       .help = "A trace is up while so many machines are there (default: 1)."},
                      {.name = "--gap",
                       .value = "TIME",
                       .help = "Cut traces that give times to ticks of this (default: 5 min)."},
                      {.name = "--name", .value = "NAME", .help = "What to call the calibration."},
                      {.name = "--provenance",
                       .value = "TEXT",
                       .help = "Where the files can be had; kept in the calibration."},
                      {.name = "--out",
                       .value = "FILE",
                       .help = "Write the hazard and how machines are lost together here; needs "
                               "lifetimes and traces."}},
          .outputs = {"table", "json"},
          .examples = {{"stint risk fit trace.csv", "How long a pool is up and down."},
                       {"stint risk fit lifetimes.csv -o json", "A fitted hazard."}},
          .run = fit};
}

Verb survive_verb() {
  std::vector<OptionSpec> options = {
      {.name = "--vm", .value = "NAME", .help = "The VM type."},
      {.name = "--count", .value = "N", .help = "How many (default: 1)."},
      {.name = "--for", .value = "TIME", .help = "How long they are needed: 4h."}};
  for (OptionSpec& option : hazard_options()) options.push_back(std::move(option));
  return {.path = "risk survive",
          .summary = "Say how likely a group of spot machines is still there after some time.",
          .details =
              "Takes the hazard from the catalogue's interruption band, from lifetimes that are "
              "given, or from a prior fitted to published lifetimes, and counts that machines of a "
              "pool are lost together. None is replaced.",
          .options = std::move(options),
          .outputs = {"table", "json"},
          .examples = {{"stint risk survive --vm p4d.24xlarge --count 8 --for 4h",
                        "Eight machines for four hours."},
                       {"stint risk survive --vm a2-highgpu-1g --for 1d --lifetimes mine.csv",
                        "By lifetimes of your own."}},
          .run = survive};
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
  return {.path = "risk simulate",
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
          .run = simulate};
}

Verb risk_replay_verb() {
  std::vector<OptionSpec> options = {
      {.name = "--trace",
       .value = "FILE...",
       .help = "How many spot machines there were, tick by tick; see 'stint validate deadline'. "
               "Several files are zones that the job moves between.",
       .files = true}};
  for (OptionSpec& option : deadline_options()) options.push_back(std::move(option));
  options.push_back({.name = "--start",
                     .value = "TIME",
                     .help = "When the job begins, from the start of the trace (default: 0h)."});
  options.push_back({.name = "--policy",
                     .value = "NAME",
                     .help = "Who decides (default: stint).",
                     .choices = {"stint", "greedy", "uniform-progress", "on-demand", "spot"}});
  return {.path = "risk replay",
          .summary = "Show tick by tick how a job with a deadline would have gone on a trace.",
          .details =
              "Plays one window of a recorded trace and draws what was held. Stint's policy "
              "sees the trace before the window and the window until now.",
          .options = std::move(options),
          .outputs = {"table", "json"},
          .examples = {{"stint risk replay --trace pool.json --work 24h --deadline 30h",
                        "From the start of the trace."},
                       {"stint risk replay --trace pool.json --start 3d --policy greedy",
                        "What another policy would have done from the fourth day on."},
                       {"stint risk replay --trace zone-a.json zone-b.json",
                        "Moving between two zones."}},
          .run = replay};
}

std::vector<OptionSpec> hazard_options() {
  return {
      {.name = "--region", .value = "REGION", .help = "Where (default: where spot is cheapest)."},
      {.name = "--lifetimes",
       .value = "FILE...",
       .help = "Fit the hazard to these lifetimes instead.",
       .files = true},
      {.name = "--advisor",
       .value = "FILE",
       .help = "Take the band from this table instead: region, instance_type and "
               "interruption_monthly_pct_range, as of AWS's spot advisor."}};
}

std::vector<Verb> risk_verbs() { return {fit_verb(), survive_verb()}; }

}  // namespace stint::cli
