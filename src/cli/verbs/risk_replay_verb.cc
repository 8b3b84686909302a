#include "cli/verbs/risk_replay_verb.h"

#include <utility>
#include <vector>

#include "app/risk/replay_deadline.h"
#include "cli/render/render_replay.h"
#include "cli/verbs/choices.h"
#include "cli/verbs/deadline_options.h"
#include "cli/verbs/quantity_option.h"

namespace stint::cli {
namespace {

constexpr const char* kVerb = "risk replay";
constexpr const char* kLegend =
    "S spot, D on demand, + set-up, . waiting: what most machines did; x: most spot machines were\n"
    "not there; a, b: the zone of the spot machines, where there are several.";

ExitCode run(const Invocation& invocation) {
  const auto fail = [&](const Error& error) { return report(invocation, kVerb, error); };
  const auto terms = deadline_terms(invocation);
  if (!terms.ok()) return fail(terms.error());
  const auto start = quantity_of<Seconds>(invocation, "--start", true);
  if (!start.ok()) return fail(start.error());
  const std::string policy =
      invocation.has("--policy") ? invocation.get("--policy") : name_of(Player::kStint);
  const auto replay = replay_deadline({.traces = invocation.list("--trace"),
                                       .terms = *terms,
                                       .start = start->value_or(Seconds{}),
                                       .player = enumerator<Player>(policy)});
  if (!replay.ok()) return fail(replay.error());
  if (invocation.output() == "json") {
    print_answer(invocation, to_text(replay_json(*replay, policy), JsonStyle::kPretty) + "\n");
    return kExitOk;
  }
  print_answer(invocation, replay_timeline(*replay, invocation.out_terminal));
  print_answer(invocation, "\n" + replay_summary(*replay));
  say(invocation, kLegend);
  return kExitOk;
}

}  // namespace

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
  return {.path = kVerb,
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
          .run = run};
}

}  // namespace stint::cli
