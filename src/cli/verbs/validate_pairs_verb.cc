#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "cli/render/render_validation.h"
#include "cli/verbs/verb_list.h"
#include "validate/validate_pairs.h"

namespace stint::cli {
namespace {

constexpr const char* kVerb = "validate pairs";

/// Verdicts, yes or no, have no place among errors of numbers.
std::map<std::string, Score> numbers_of(const Validation& validation) {
  std::map<std::string, Score> groups;
  for (const auto& [name, score] : validation.groups) {
    if (!score.accuracy) groups.emplace(name, score);
  }
  return groups;
}

void print_verdicts(const Invocation& invocation, const Validation& validation) {
  for (const auto& [name, score] : validation.groups) {
    if (!score.accuracy) continue;
    const std::string balanced =
        score.balanced_accuracy ? fmt::format(", {:.1f} % balanced", 100 * *score.balanced_accuracy)
                                : "";
    print_answer(invocation,
                 fmt::format("{} ({}): {:.1f} % of {} right{}\n", name,
                             validation.baseline ? "always yes" : "stint", 100 * *score.accuracy,
                             counted(static_cast<std::size_t>(score.n), "verdict"), balanced));
  }
}

void print_tables(const Invocation& invocation, const PairsReport& found) {
  std::vector<Validation> all{found.validation};
  all.insert(all.end(), found.beside.begin(), found.beside.end());
  const Terminal& terminal = invocation.out_terminal;
  print_answer(invocation, validation_table(all, terminal));
  std::vector<NamedScores> groups;
  for (const Validation& it : all)
    groups.push_back({it.baseline.value_or("stint"), numbers_of(it)});
  if (!groups.front().rows.empty()) {
    print_answer(invocation, "\n" + score_table("rows", groups, terminal));
  }
  print_answer(invocation, "\n");
  // All baselines give the same verdicts.
  for (const bool baseline : {false, true}) {
    const auto one = std::find_if(all.begin(), all.end(), [&](const Validation& it) {
      return it.baseline.has_value() == baseline;
    });
    if (one != all.end()) print_verdicts(invocation, *one);
  }
}

bool nothing_measured(const Validation& validation) {
  return std::all_of(validation.groups.begin(), validation.groups.end(),
                     [](const auto& group) { return group.second.n == 0; });
}

ExitCode run(const Invocation& invocation) {
  const auto found =
      validate_pairs(invocation.environment, {.train = invocation.list("--train"),
                                              .test = invocation.list("--test"),
                                              .split = invocation.get("--split"),
                                              .baseline = invocation.get("--baseline")});
  if (!found.ok()) return report(invocation, kVerb, found.error());
  if (invocation.has("--predictions")) {
    const Status written =
        write_output(invocation.get("--predictions"), pair_predictions_csv(found->predictions));
    if (!written.ok()) return report(invocation, kVerb, written.error());
  }
  if (invocation.output() == "json") {
    print_answer(invocation, write_validation(found->validation));
    return kExitOk;
  }
  if (nothing_measured(found->validation)) {
    say(invocation, "No measured pair was predicted, so there is no score.");
  } else {
    print_tables(invocation, *found);
  }
  constexpr int kColumns = 80;
  for (const std::string& note : found->validation.notes) {
    say(invocation, wrapped(note, kColumns, 0));
  }
  const auto predicted =
      std::count_if(found->predictions.begin(), found->predictions.end(),
                    [](const PairLine& line) { return line.first.predicted.has_value(); });
  say(invocation, fmt::format("{} of {} predicted.", predicted,
                              counted(found->predictions.size(), "test row")));
  return kExitOk;
}

std::vector<OptionSpec> options() {
  std::vector<OptionSpec> list = validation_options();
  for (OptionSpec& it : list) {
    if (it.name != "--predictions") continue;
    it.help =
        "Output CSV of row, predictions for a and b, the ends of their 80 % intervals, the "
        "probability that the pair fits, and note.";
  }
  list.push_back({.name = "--format",
                  .value = "NAME",
                  .help = "Format of the tables (default: gavel).",
                  .choices = {"gavel"}});
  list.push_back({.name = "--split",
                  .value = "HOW",
                  .help = "Split instead of --test: the pairs of each job, at all its batch sizes "
                          "or at one, predicted from the pairs without it; those of two jobs from "
                          "all others; or every fifth row from the others.",
                  .choices = {"leave-one-job-out", "leave-one-job-type-out",
                              "leave-one-pairing-out", "fifths"}});
  list.push_back({.name = "--baseline",
                  .value = "NAME",
                  .help = "Baseline to score instead: each job at half of its rate alone, or at "
                          "the usual share of that rate on the GPU.",
                  .choices = {"half-speed", "mean-slowdown"}});
  return list;
}

}  // namespace

Verb validate_pairs_verb() {
  return {
      .path = kVerb,
      .group = VerbGroup::kEvidence,
      .summary = "Score predicted speeds of two jobs that share a GPU.",
      .details =
          "Predicts the steps per second of two jobs on one GPU from their rates alone and from "
          "measured pairs, and whether both fit into its memory. Files are Gavel's packed pairs "
          "and rates of jobs alone, recognised by their headers. Both jobs of a pair are scored. A "
          "job is a model at all its batch sizes; one batch size of it is a job type.",
      .options = options(),
      .outputs = {"table", "json"},
      .examples = {{"stint validate pairs --train pairs.csv alone.csv --split leave-one-job-out",
                    "Pairs of each job, predicted from the pairs without it."},
                   {"stint validate pairs --train a.csv --test b.csv --predictions out.csv",
                    "Pairs of one table, predicted from those of another."}},
      .run = run};
}

}  // namespace stint::cli
