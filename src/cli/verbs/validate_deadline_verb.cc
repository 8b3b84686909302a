#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>
#include <vector>

#include "base/table.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/render/figures.h"
#include "cli/verbs/options.h"
#include "cli/verbs/verb_list.h"
#include "plan/validations.h"
#include "validate/validate_deadline.h"

namespace stint::cli {
namespace {

constexpr const char* kVerb = "validate deadline";
constexpr const char* kLegend =
    "Ratios are means over windows. The clairvoyant optimum knows the whole window in advance;\na "
    "window that misses its deadline costs what was paid until then.";

using NamedScore = std::pair<std::string, DeadlineScore>;

std::string ratio(double value) { return fmt::format("{:.3f}", value); }

std::string misses(int missed, int windows) {
  if (missed == 0) return "none";
  return fmt::format("{} of {}", missed, windows);
}

std::vector<NamedScore> best_first(const DeadlineValidation& validation) {
  std::vector<NamedScore> scores(validation.policies.begin(), validation.policies.end());
  std::stable_sort(scores.begin(), scores.end(), [](const NamedScore& a, const NamedScore& b) {
    return std::pair(a.second.missed > 0, a.second.cost_ratio_to_optimum) <
           std::pair(b.second.missed > 0, b.second.cost_ratio_to_optimum);
  });
  return scores;
}

/// Shows on the error stream how far a long run is.
Progress bar_of(const Invocation& invocation, std::optional<ProgressBar>& bar) {
  if (invocation.quiet()) return {};
  bar.emplace("playing windows", invocation.err_terminal, invocation.err);
  return [&bar](double done) { bar->show(done); };
}

Result<DeadlineValidation> on_traces(const Invocation& invocation, const DeadlineTerms& terms,
                                     Progress progress) {
  for (const char* option : {"--pools", "--seed"}) {
    if (invocation.has(option)) {
      return bad_usage(fmt::format("{} needs --synthetic", option));
    }
  }
  const auto slots = count_of(invocation, "--slots", kPoolsMax);
  if (!slots.ok()) return slots.error();
  const auto zones = count_of(invocation, "--zones", kPoolsMax);
  if (!zones.ok()) return zones.error();
  const auto step = quantity_of<Seconds>(invocation, "--window-step");
  if (!step.ok()) return step.error();
  if (*slots && invocation.has("--machines")) {
    return bad_usage("--slots plays single machines; leave out --machines");
  }
  return validate_deadline({.traces = invocation.list("--traces"),
                            .fit = invocation.list("--fit"),
                            .terms = terms,
                            .zones = zones->value_or(1),
                            .slots = *slots,
                            .window_step = *step,
                            .windows = invocation.get("--windows"),
                            .refusals = invocation.get("--refusals"),
                            .progress = std::move(progress)});
}

Result<DeadlineValidation> on_synthetic(const Invocation& invocation, const DeadlineTerms& terms,
                                        Progress progress) {
  for (const char* option : {"--traces", "--fit", "--machines", "--slots", "--windows"}) {
    if (invocation.has(option)) {
      return bad_usage(
          fmt::format("{} and --synthetic exclude each other; give one of them", option));
    }
  }
  const auto pools = count_of(invocation, "--pools", kPoolsMax);
  if (!pools.ok()) return pools.error();
  const auto seed = count_of(invocation, "--seed", kIntMax);
  if (!seed.ok()) return seed.error();
  const auto step = quantity_of<Seconds>(invocation, "--window-step");
  if (!step.ok()) return step.error();
  const auto zones = count_of(invocation, "--zones", kPoolsMax);
  if (!zones.ok()) return zones.error();
  SyntheticDeadlineRequest request{.terms = terms, .progress = std::move(progress)};
  request.pools = pools->value_or(request.pools);
  request.seed = seed->value_or(request.seed);
  request.zones = zones->value_or(request.zones);
  request.window_step = *step;
  request.refusals = invocation.get("--refusals");
  return validate_deadline_synthetic(request);
}

Result<DeadlineValidation> answer(const Invocation& invocation) {
  const auto terms = deadline_terms(invocation);
  if (!terms.ok()) return terms.error();
  std::optional<ProgressBar> bar;
  Progress progress = bar_of(invocation, bar);
  if (invocation.has("--synthetic")) {
    return on_synthetic(invocation, *terms, std::move(progress));
  }
  return on_traces(invocation, *terms, std::move(progress));
}

ExitCode run(const Invocation& invocation) {
  const auto validation = answer(invocation);
  if (!validation.ok()) return report(invocation, kVerb, validation.error());
  const Terminal& terminal = invocation.out_terminal;
  if (invocation.output() == "json") {
    print_answer(invocation, write_deadline_validation(*validation));
    return kExitOk;
  }
  if (!validation->cells.empty()) {
    print_answer(invocation, deadline_cell_table(*validation, terminal));
  } else {
    print_answer(invocation, deadline_score_table(*validation, terminal));
  }
  if (validation->refusals) {
    const std::string which = fmt::format("On-demand starts fail as recorded: {}.",
                                          without_controls(*validation->refusals));
    print_answer(invocation, fmt::format("\n{}\n{}", wrapped(which, terminal.width, 0),
                                         refusal_table(*validation, terminal)));
  }
  for (const std::string& note : validation->notes) say(invocation, "Note: " + note + ".");
  say(invocation, kLegend);
  if (invocation.has("--windows")) {
    say(invocation, "Wrote the windows to " + invocation.get("--windows") + ".");
  }
  return kExitOk;
}

void add_cell(Table& table, const DeadlineCell& cell) {
  const auto mean = [&](const char* policy) -> std::string {
    const auto found = cell.policies.find(policy);
    return found == cell.policies.end() ? "" : ratio(found->second.cost_ratio_to_optimum);
  };
  table.add({cell.kind, cell.slack > 0 ? fmt::format("{:.4g}", cell.slack) : "",
             fmt::to_string(cell.windows), mean("stint"), mean("informed") + mean("stint-one-zone"),
             mean("greedy"), mean("uniform-progress"),
             misses(cell.policies.at("stint").missed, cell.windows)});
}

std::vector<OptionSpec> options() {
  std::vector<OptionSpec> all = {
      {.name = "--traces",
       .value = "FILE...",
       .help = "Number of spot machines of a pool, tick by tick: JSON with metadata.gap_seconds "
               "and data, or a table of time_s,running_instances or time_s,event,node.",
       .files = true},
      {.name = "--fit",
       .value = "FILE...",
       .help = "Traces of other pools to learn from; no trace learns from itself.",
       .files = true}};
  for (OptionSpec& option : deadline_options()) all.push_back(std::move(option));
  const std::vector<OptionSpec> rest = {
      {.name = "--slots",
       .value = "N",
       .help = "Replays of each trace on one machine: the i-th machine is up when the count is at "
               "least i."},
      {.name = "--zones",
       .value = "N",
       .help = "Traces, or synthetic pools, per region, as zones that the job moves between; "
               "'stint-one-zone' is the mean over staying in each."},
      {.name = "--window-step",
       .value = "TIME",
       .help = "Interval between the starts of windows (default: half the deadline)."},
      {.name = "--windows",
       .value = "OUT.csv",
       .help = "Output file with a line per window: trace, start_tick, slot with --slots, and each "
               "policy's cost in ticks of a spot machine and whether it missed."},
      {.name = "--refusals",
       .value = "FILE",
       .help =
           "Table of failed on-demand starts to replay as well: provider, gpu, zone and time_utc."},
      {.name = "--synthetic",
       .help = "Play two weeks of random pools of seven kinds instead of --traces, under deadlines "
               "of 1.1, 1.25, 1.5 and 2 times the work or the one given."},
      {.name = "--pools", .value = "N", .help = "Synthetic pools of each kind (default: 4)."},
      {.name = "--seed", .value = "S", .help = "Seed of the synthetic pools (default: 1)."}};
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

}  // namespace

std::string deadline_score_table(const DeadlineValidation& validation, const Terminal& terminal) {
  Table table({{.title = "policy", .importance = 9, .width_min = 16},
               {.title = "n", .align = Align::kRight, .importance = 6},
               {.title = "cost / optimum", .align = Align::kRight, .importance = 9},
               {.title = "worst", .align = Align::kRight, .importance = 4},
               {.title = "cost / on-demand", .align = Align::kRight, .importance = 5},
               {.title = "missed", .importance = 8}});
  for (const auto& [name, score] : best_first(validation)) {
    table.add({name, fmt::to_string(validation.windows), ratio(score.cost_ratio_to_optimum),
               ratio(score.worst_ratio_to_optimum), ratio(score.cost_ratio_to_on_demand),
               misses(score.missed, validation.windows)});
  }
  return table.text(terminal, "-o json");
}

std::string refusal_table(const DeadlineValidation& validation, const Terminal& terminal) {
  Table table({{.title = "policy", .importance = 9, .width_min = 16},
               {.title = "missed", .importance = 8},
               {.title = "mean delay", .align = Align::kRight, .importance = 7},
               {.title = "max delay", .align = Align::kRight, .importance = 6},
               {.title = "latest past deadline", .align = Align::kRight, .importance = 7}});
  for (const auto& [name, score] : best_first(validation)) {
    if (!score.refused) continue;
    const RefusalScore& refused = *score.refused;
    table.add({name, misses(refused.missed, validation.windows), hours(refused.slip_mean),
               hours(refused.slip_max), refused.missed > 0 ? hours(refused.late_max) : ""});
  }
  return table.text(terminal, "-o json");
}

std::string deadline_cell_table(const DeadlineValidation& validation, const Terminal& terminal) {
  const bool zones = validation.policies.contains("stint-one-zone");
  Table table({{.title = "pools", .importance = 9},
               {.title = "slack", .align = Align::kRight, .importance = 9},
               {.title = "n", .align = Align::kRight, .importance = 6},
               {.title = "stint", .align = Align::kRight, .importance = 9},
               {.title = zones ? "one zone" : "informed", .align = Align::kRight, .importance = 5},
               {.title = "greedy", .align = Align::kRight, .importance = 7},
               {.title = "uniform-progress", .align = Align::kRight, .importance = 8},
               {.title = "stint missed", .importance = 8}});
  for (const DeadlineCell& cell : validation.cells) add_cell(table, cell);
  add_cell(
      table,
      {.kind = "all", .slack = 0, .windows = validation.windows, .policies = validation.policies});
  return table.text(terminal, "-o json");
}

Verb validate_deadline_verb() {
  return {
      .path = kVerb,
      .group = VerbGroup::kEvidence,
      .summary = "Score deadline policies on spot traces.",
      .details =
          "Plays a job from the beginning of each trace and every half deadline, tick by tick. "
          "Stint's policy sees the past and present of the pool, never its future. Baselines are "
          "on-demand only, spot only, greedy (spot until the last safe moment), Uniform Progress, "
          "and the clairvoyant optimum.",
      .options = options(),
      .outputs = {"table", "json"},
      .examples = {{"stint validate deadline --traces a.json b.json --deadline 30h",
                    "A job of 24 h on one machine."},
                   {"stint validate deadline --traces pool.csv --machines 8 --fit others.csv",
                    "Eight machines, with other pools to learn from."},
                   {"stint validate deadline --traces a.json b.json --zones 2",
                    "A job that moves between two zones."},
                   {"stint validate deadline --synthetic -o json", "Synthetic pools, as JSON."}},
      .run = run};
}

}  // namespace stint::cli
