#include "cli/verbs/validate_interleave_verb.h"

#include <fmt/format.h>

#include "base/table.h"
#include "base/text.h"
#include "cli/render/figures.h"
#include "cli/verbs/step_options.h"
#include "validate/validate_interleave.h"

namespace stint::cli {
namespace {

constexpr const char* kVerb = "validate interleave";
constexpr const char* kPolicies[] = {"separately", "random", "stint", "hindsight"};

std::string share(double fraction) { return fmt::format("{:.1f} %", 100 * fraction); }

std::string chosen_text(const PairsChosen& it) {
  return fmt::format(
      "{} pairs chosen, to save {} of their bill on average: they save {}; {} lose, {} of them "
      "more than their interval allows; {} save what the interval says or more ({} lie inside it)",
      it.n, share(it.saved_predicted), share(it.saved_measured), it.lost, it.lost_beyond,
      percent(it.above_p10), percent(it.coverage80));
}

ExitCode run(const Invocation& invocation) {
  const auto fail = [&](const Error& error) { return report(invocation, kVerb, error); };
  const auto format = format_of(invocation);
  if (!format.ok()) return fail(format.error());
  ValidateInterleaveRequest request{.train = invocation.list("--train"),
                                    .test = invocation.list("--test"),
                                    .split = invocation.get("--split"),
                                    .jobs = invocation.get("--jobs")};
  const auto mixes = count_of(invocation, "--mixes");
  if (!mixes.ok()) return fail(mixes.error());
  const auto jobs = count_of(invocation, "--jobs-per-mix");
  if (!jobs.ok()) return fail(jobs.error());
  request.mixes = mixes->value_or(request.mixes);
  request.jobs_per_mix = jobs->value_or(request.jobs_per_mix);
  const auto validation = validate_interleave(request);
  if (!validation.ok()) return fail(validation.error());
  if (invocation.output() == "json") {
    print_answer(invocation, write_interleave_validation(*validation));
    return kExitOk;
  }
  print_answer(invocation, pairing_score_table(*validation, invocation.out_terminal));
  for (const std::string& note : validation->notes) say(invocation, "Note: " + note + ".");
  return kExitOk;
}

}  // namespace

std::string pairing_score_table(const InterleaveValidation& validation, const Terminal& terminal) {
  Table table({{.title = "network", .importance = 9},
               {.title = "pairs are", .importance = 8},
               {.title = "pairs", .align = Align::kRight, .importance = 6},
               {.title = "cost", .align = Align::kRight, .importance = 9},
               {.title = "saved", .align = Align::kRight, .importance = 9}});
  std::string text;
  for (const auto& [name, world] : validation.worlds) {
    for (const char* policy : kPolicies) {
      const auto found = world.policies.find(policy);
      if (found == world.policies.end()) continue;
      table.add({name, policy, fmt::to_string(found->second.pairs), dollars(found->second.cost),
                 share(found->second.saved)});
    }
    text += sheet_line(name, world.assumption, terminal);
    text += sheet_line("", chosen_text(world.chosen), terminal);
  }
  return fmt::format("{} mixes of {} jobs each\n\n{}\n{}", validation.mixes,
                     validation.jobs_per_mix, table.text(terminal, "-o json"), text);
}

Verb validate_interleave_verb() {
  OptionSpec format = format_option();
  format.choices = {"pollux"};  // The only table that says what is synchronisation.
  format.help = "Whose table it is.";
  return {
      .path = kVerb,
      .summary = "Check what pairing jobs by Stint's predictions really saves.",
      .details =
          "It draws mixes of jobs from the test rows of one placement, pairs them by what is "
          "predicted of each, and plays what the pairs come to with the computing and the "
          "synchronisation that were measured for each job alone; beside it pairs at random, "
          "none, and the best in hindsight. How busy the network was while a job computed was "
          "not measured, so there are two answers. The splits are those of 'stint validate "
          "iteration'.",
      .options = {std::move(format),
                  train_option(),
                  {.name = "--test",
                   .value = "FILE...",
                   .help = "Tables to draw jobs from; what they measured is for scores only.",
                   .files = true},
                  {.name = "--split",
                   .value = "HOW",
                   .help = "Instead of --test: leave-one-job-out or max-gpus=N."},
                  jobs_option(),
                  {.name = "--mixes", .value = "N", .help = "To draw (default: 50)."},
                  {.name = "--jobs-per-mix", .value = "N", .help = "In each (default: 8)."}},
      .outputs = {"table", "json"},
      .examples = {{"stint validate interleave --format pollux --train t.csv --split max-gpus=6",
                    "Pair jobs on clusters larger than any that was learned from."},
                   {"stint validate interleave --format pollux --train a.csv --test b.csv",
                    "Pair the rows of another table."}},
      .run = run};
}

}  // namespace stint::cli
