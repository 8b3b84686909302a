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
    "S spot, D on-demand, + set-up, . waiting, by most machines; x: most spot machines "
    "were\nunavailable; a, b: the zone of the spot machines, if there are several.";

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
  const auto machines = count_of(invocation, "--machines", kVmsMax);
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
        "Survival is the Kaplan-Meier estimate; a loss between two observations counts at the "
        "middle, and Google's limit of 24 h is no loss.");
  }
  if (!request.out.empty()) say(invocation, "Wrote the calibration to " + request.out + ".");
  return kExitOk;
}

ExitCode survive(const Invocation& invocation) {
  constexpr const char* kVerb = "risk survive";
  for (const char* option : {"--vm", "--for"}) {
    if (invocation.has(option)) continue;
    return report(
        invocation, kVerb,
        bad_usage(fmt::format(
            "{} is required. For example: stint risk survive --vm p4d.24xlarge --count 8 --for 4h",
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
  say(invocation,
      fmt::format("Correlation of losses: {}.", same ? "the same prior" : found->group_origin));
  return kExitOk;
}

Verb fit_verb() {
  return {
      .path = "risk fit",
      .group = VerbGroup::kMeasure,
      .summary = "Fit spot hazard and availability to records.",
      .details =
          "Reads these files, recognised by content: traces (JSON with metadata.gap_seconds and "
          "data; CSV of time_s or time and running_instances; CSV of time_s, event and node), "
          "lifetimes (machine_type, zone, lifetime_s, preempted; or provider, gpu, num_gpus, zone, "
          "last_seen_running_s, found_gone_s, preempted), published shares of machines lost "
          "(provider, within_h, lost_min_pct, lost_max_pct, source), start-up times (gpu, market, "
          "region, provisioning_s, staging_s, booting_s) and failed starts (provider, gpu, zone, "
          "time_utc). With --out, each file of lifetimes and each published share counts as one "
          "study of the pools.",
      .arguments = {{.name = "FILE...",
                     .help = "Traces, lifetimes, start-up times or failed starts.",
                     .several = true}},
      .options = {{.name = "--machines",
                   .value = "N",
                   .help = "Machines that a trace needs to count as up (default: 1)."},
                  {.name = "--gap",
                   .value = "TIME",
                   .help = "Tick for traces that give times (default: 5 min)."},
                  {.name = "--name", .value = "NAME", .help = "Name of the calibration."},
                  {.name = "--provenance",
                   .value = "TEXT",
                   .help = "Source of the files, stored in the calibration."},
                  {.name = "--out",
                   .value = "FILE",
                   .help = "Output file for the hazard and the correlation of losses; needs "
                           "lifetimes and traces."}},
      .outputs = {"table", "json"},
      .examples = {{"stint risk fit trace.csv", "Lengths of the up and down periods of a pool."},
                   {"stint risk fit lifetimes.csv -o json", "A fitted hazard."}},
      .run = fit};
}

Verb survive_verb() {
  std::vector<OptionSpec> options = {
      {.name = "--vm", .value = "NAME", .help = "VM type."},
      {.name = "--count", .value = "N", .help = "Number of machines (default: 1)."},
      {.name = "--for", .value = "TIME", .help = "Time they are needed: 4h."}};
  for (OptionSpec& option : hazard_options()) options.push_back(std::move(option));
  return {.path = "risk survive",
          .group = VerbGroup::kPlan,
          .summary = "Estimate the survival probability of spot machines.",
          .details =
              "Takes the hazard from the catalogue's interruption band, from given lifetimes, or "
              "from a prior fitted to published lifetimes. Machines of a pool are lost together. "
              "No machine is replaced.",
          .options = std::move(options),
          .outputs = {"table", "json"},
          .examples = {{"stint risk survive --vm p4d.24xlarge --count 8 --for 4h",
                        "Eight machines for four hours."},
                       {"stint risk survive --vm a2-highgpu-1g --for 1d --lifetimes mine.csv",
                        "With your own lifetimes."}},
          .run = survive};
}

}  // namespace

Verb risk_simulate_verb() {
  std::vector<OptionSpec> options = {
      {.name = "--plan",
       .value = "N|FILE",
       .help = "Row of the last answer, or a saved answer (default: row 1)."},
      {.name = "--job",
       .value = "FILE|NAME",
       .help = "Profile of the planned job (default: the shipped job that the plan names)."},
      {.name = "--trace",
       .value = "FILE",
       .help = "Machines of a pool over time, in a format of 'stint risk fit', from which runs "
               "start at random times; for plans with one group of spot machines."},
      {.name = "--wait",
       .help = "Wait for spot machines instead of replacing them on-demand, as plans with "
               "--markets spot do."}};
  for (OptionSpec& option : simulation_options()) options.push_back(std::move(option));
  return {.path = "risk simulate",
          .group = VerbGroup::kPlan,
          .summary = "Simulate a plan under spot interruptions, many times.",
          .details =
              "Shows the distributions of time and cost next to those of the plan. The hazard "
              "changes with the age of a machine, and machines of a pool are lost together. The "
              "cluster waits for a replacement, restores the last checkpoint and continues. While "
              "no spot machine is available, an on-demand machine takes its place and stays.",
          .options = std::move(options),
          .outputs = {"table", "json"},
          .examples = {{"stint risk simulate --plan 1 --runs 10000",
                        "The best plan of the last answer."},
                       {"stint risk simulate --plan saved.json --trace counts.json -o json",
                        "On a trace, as JSON."}},
          .run = simulate};
}

Verb risk_replay_verb() {
  std::vector<OptionSpec> options = {
      {.name = "--trace",
       .value = "FILE...",
       .help = "Number of spot machines, tick by tick, in a format of 'stint validate deadline'; "
               "several files are zones that the job moves between.",
       .files = true}};
  for (OptionSpec& option : deadline_options()) options.push_back(std::move(option));
  options.push_back({.name = "--start",
                     .value = "TIME",
                     .help = "Start of the job, from the start of the trace (default: 0h)."});
  options.push_back({.name = "--policy",
                     .value = "NAME",
                     .help = "Policy (default: stint).",
                     .choices = {"stint", "greedy", "uniform-progress", "on-demand", "spot"}});
  return {.path = "risk replay",
          .group = VerbGroup::kPlan,
          .summary = "Replay a job with a deadline on a trace.",
          .details =
              "Plays one window of a recorded trace and draws the machines that were held. Stint's "
              "policy sees the trace before the window and the window so far.",
          .options = std::move(options),
          .outputs = {"table", "json"},
          .examples = {{"stint risk replay --trace pool.json --work 24h --deadline 30h",
                        "From the start of the trace."},
                       {"stint risk replay --trace pool.json --start 3d --policy greedy",
                        "Another policy, from the fourth day on."},
                       {"stint risk replay --trace zone-a.json zone-b.json",
                        "Two zones that the job moves between."}},
          .run = replay};
}

std::vector<OptionSpec> hazard_options() {
  return {{.name = "--region",
           .value = "REGION",
           .help = "Region (default: the one with the cheapest spot price)."},
          {.name = "--lifetimes",
           .value = "FILE...",
           .help = "Lifetimes to fit the hazard to.",
           .files = true},
          {.name = "--advisor",
           .value = "FILE",
           .help = "Table to take the interruption band from: region, instance_type and "
                   "interruption_monthly_pct_range, as of AWS's spot advisor."}};
}

std::vector<Verb> risk_verbs() { return {fit_verb(), survive_verb()}; }

}  // namespace stint::cli
