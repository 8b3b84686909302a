#include <fmt/format.h>
#include <utility>

#include "base/table.h"
#include "base/text.h"
#include "cli/render/figures.h"
#include "cli/verbs/options.h"
#include "cli/verbs/verb_list.h"
#include "cli/views/layout_score_views.h"
#include "validate/sharded/validate_layout.h"

namespace stint::cli {
namespace {

constexpr const char* kVerb = "validate layout";
constexpr const char* kOurs = "stint";

/// Formats whose rows are several layouts of one model on one cluster.
std::vector<std::string> layout_formats() {
  return {name_of(ShardedFormat::kVtrain), name_of(ShardedFormat::kMorphling)};
}

Result<ShardedRequest> layout_request(const Invocation& invocation) {
  if (!invocation.has("--format")) {
    return bad_usage("--format is required: the format of the tables, one of " +
                     join(layout_formats(), ", "));
  }
  return ShardedRequest{.format = enumerator<ShardedFormat>(invocation.get("--format")),
                        .train = invocation.list("--train"),
                        .test = invocation.list("--test"),
                        .split = invocation.get("--split"),
                        .priors = invocation.list("--prior"),
                        .bundled = invocation.has("--calibration")};
}

Json layout_json(const LayoutValidation& found) {
  LayoutScoresView view{.overall = found.ours.overall,
                        .jobs = found.ours.groups,
                        .baselines = {},
                        .split = std::nullopt,
                        .notes = found.notes};
  for (const auto& [name, scores] : found.baselines) {
    view.baselines[name] = {.overall = scores.overall, .jobs = scores.groups};
  }
  if (!found.split.empty()) view.split = found.split;
  return encoded(view);
}

std::string layout_score_table(const LayoutValidation& found, const Terminal& terminal) {
  Table table({{.title = "model", .importance = 9},
               {.title = "policy", .importance = 9},
               {.title = "n", .align = Align::kRight, .importance = 7},
               {.title = "mean regret", .align = Align::kRight, .importance = 8},
               {.title = "worst", .align = Align::kRight, .importance = 6},
               {.title = "fastest chosen", .align = Align::kRight, .importance = 5}});
  const auto add = [&](const std::string& job, const std::string& policy, const LayoutScore& it) {
    table.add({job, policy, fmt::to_string(it.n), tenths(it.mean_regret), tenths(it.worst_regret),
               tenths(it.top1)});
  };
  const auto add_all = [&](const std::string& policy, const LayoutScores& scores) {
    for (const auto& [job, score] : scores.groups) add(job, policy, score);
    add("overall", policy, scores.overall);
  };
  add_all(kOurs, found.ours);
  for (const auto& [name, scores] : found.baselines) add("overall", name, scores.overall);
  return table.text(terminal, "-o json");
}

ExitCode layout(const Invocation& invocation) {
  const auto request = layout_request(invocation);
  if (!request.ok()) return report(invocation, kVerb, request.error());
  const auto found = validate_layout(invocation.environment, *request);
  if (!found.ok()) return report(invocation, kVerb, found.error());
  if (invocation.output() == "json") {
    print_answer(invocation, to_text(layout_json(*found), JsonStyle::kPretty) + "\n");
    return kExitOk;
  }
  print_answer(invocation, layout_score_table(*found, invocation.out_terminal));
  for (const std::string& note : found->notes) say(invocation, "Note: " + note + ".");
  say(invocation,
      "Regret = time of the chosen layout / time of the fastest measured one - 1. Each n is a "
      "model,\ncluster and global batch with at least two measured layouts.");
  return kExitOk;
}

}  // namespace

Verb validate_layout_verb() {
  return {
      .path = kVerb,
      .group = VerbGroup::kEvidence,
      .summary = "Score the choice of layouts of sharded models.",
      .details =
          "Learns from the training rows. Among the measured layouts of one model, cluster and "
          "global batch of the test rows, takes the one that is predicted fastest and compares it "
          "with the fastest one. Splits are those of 'stint validate iteration' for sharded "
          "models.",
      .options =
          {{.name = "--format",
            .value = "NAME",
            .help = "Format of the tables.",
            .choices = layout_formats()},
           train_option(),
           {.name = "--test", .value = "FILE...", .help = "Tables to choose from.", .files = true},
           {.name = "--split",
            .value = "HOW",
            .help = "Split instead of --test: leave-one-job-out, leave-one-layers-out, "
                    "max-gpus=N and others."},
           {.name = "--prior",
            .value = "FORMAT=FILE...",
            .help = "Tables of sharded models that the constants begin with.",
            .files = true},
           {.name = "--calibration",
            .value = "NAME",
            .help = "Start from the shipped calibration; never for rows it was fitted to.",
            .choices = {"bundled"}}},
      .outputs = {"table", "json"},
      .examples = {{"stint validate layout --format vtrain --train v.csv --split "
                    "leave-one-layers-out",
                    "Layouts of each model, chosen by what models of other depths tell."},
                   {"stint validate layout --format vtrain --train a.csv --test b.csv -o json",
                    "Layouts of one table, chosen by what another tells."}},
      .run = layout};
}

}  // namespace stint::cli
