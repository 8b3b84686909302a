#include <fmt/format.h>
#include <utility>
#include <vector>

#include "app/plan/plan_limits.h"
#include "base/table.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/render/figures.h"
#include "cli/render/render_runs.h"
#include "cli/verbs/options.h"
#include "cli/verbs/verb_list.h"
#include "plan/validations.h"
#include "validate/validate_interleave.h"
#include "validate/validate_plan.h"

namespace stint::cli {
namespace {

Result<RevocationsRequest> to_request(const Invocation& invocation) {
  RevocationsRequest request{.job = invocation.get("--job"),
                             .calibration = invocation.get("--calibration")};
  if (request.job.empty())
    return bad_usage("--job is required: a profile, or the name of a shipped job");
  Constraints& limits = request.constraints;
  if (invocation.has("--deadline")) {
    const auto deadline =
        parse_deadline(invocation.get("--deadline"), *invocation.environment.clock);
    if (!deadline.ok()) return deadline.error();
    limits.deadline = *deadline;
  }
  for (const std::string& text : invocation.list("--budget")) {
    const auto spending = parse_budget(text);
    if (!spending.ok()) return spending.error();
    if (spending->budget) limits.budget = spending->budget;
    if (spending->rate_max) limits.rate_max = spending->rate_max;
  }
  limits.providers = invocation.list("--providers");
  limits.regions = invocation.list("--regions");
  const auto vms = count_of(invocation, "--max-vms", kPlannedVmsMax);
  if (!vms.ok()) return vms.error();
  limits.vms_max = vms->value_or(limits.vms_max);
  const auto options = simulation_of(invocation);
  if (!options.ok()) return options.error();
  request.options = *options;
  return request;
}

ExitCode validate_revocations_run(const Invocation& invocation) {
  constexpr const char* kVerb = "validate revocations";
  auto request = to_request(invocation);
  if (!request.ok()) return report(invocation, kVerb, request.error());
  const auto found = validate_revocations(invocation.environment, std::move(*request));
  if (!found.ok()) return report(invocation, kVerb, found.error());
  print_warnings(invocation, found->warnings);
  if (invocation.output() == "json") {
    print_answer(invocation, to_text(revocations_json(*found), JsonStyle::kPretty) + "\n");
    return kExitOk;
  }
  print_answer(invocation, revocations_text(*found, invocation.out_terminal));
  for (const RevocationsRow& row : found->rows) {
    if (!row.binding) continue;
    say(invocation, fmt::format("No plan of {} meets the limits; the nearest one is simulated. {}",
                                row.policy, *row.binding));
  }
  say(invocation, "All plans run under one model of time, prices and losses.");
  return kExitOk;
}

constexpr const char* kPolicies[] = {"separately", "random", "stint", "hindsight"};

std::string chosen_text(const PairsChosen& it) {
  return fmt::format(
      "{} pairs chosen: predicted saving {} of their bill on average, measured {}; {} lose, {} of "
      "them beyond their interval; {} save at least the lower end of their interval ({} are inside "
      "it)",
      it.n, tenths(it.saved_predicted), tenths(it.saved_measured), it.lost, it.lost_beyond,
      percent(it.above_p10), percent(it.coverage80));
}

ExitCode validate_interleave_run(const Invocation& invocation) {
  constexpr const char* kVerb = "validate interleave";
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

constexpr const char* kOurs = "stint";
constexpr const char* kLegend =
    "Regret = real cost / cost of the best choice that meets the deadline - 1; time past "
    "the\ndeadline is charged twice. Each n is a job and batch per GPU under one of seven "
    "deadlines.";

Result<double> confidence_of(const Invocation& invocation) {
  if (!invocation.has("--confidence")) return ValidatePlanRequest{}.confidence;
  const auto number = parse_double(invocation.get("--confidence"));
  if (number) return *number;
  return bad_usage(fmt::format("--confidence must be a number between 0 and 1, not '{}'",
                               printable(invocation.get("--confidence"))));
}

ExitCode validate_plan_run(const Invocation& invocation) {
  constexpr const char* kVerb = "validate plan";
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
  print_answer(invocation, plan_score_table(*validation, invocation.out_terminal) + "\n" +
                               reliability_table(*validation, invocation.out_terminal));
  for (const std::string& note : validation->notes) say(invocation, "Note: " + note + ".");
  say(invocation, kLegend);
  return kExitOk;
}

void add_line(Table& table, const std::string& job, const std::string& policy,
              const PlanScore& score) {
  table.add({job, policy, fmt::to_string(score.n), tenths(score.mean_regret),
             tenths(score.p90_regret), tenths(score.deadlines_met)});
}

}  // namespace

Verb validate_revocations_verb() {
  std::vector<OptionSpec> options = {
      {.name = "--job",
       .value = "FILE|NAME",
       .help = "Profile of the job, the name of a shipped job, or a known model (model:resnet50)."},
      {.name = "--deadline",
       .value = "TIME",
       .help = "Deadline (default: 24h if there is no budget)."},
      {.name = "--budget",
       .value = "MONEY",
       .help = "Maximum cost: 150usd in total, 25usd/h at any time (default: 25usd/h), or both.",
       .list = true},
      {.name = "--providers",
       .value = "NAMES",
       .help = "Providers to consider, for example aws,gcp (default: all).",
       .list = true},
      {.name = "--regions",
       .value = "NAMES",
       .help = "Regions to consider (default: all).",
       .list = true},
      {.name = "--max-vms",
       .value = "N",
       .help = "Maximum number of VMs in a cluster (default: 8)."}};
  for (OptionSpec& option : simulation_options()) options.push_back(std::move(option));
  return {
      .path = "validate revocations",
      .group = VerbGroup::kEvidence,
      .summary = "Compare plans and baselines under spot interruptions.",
      .details =
          "Plans a job under the same limits with Stint's search, with Stint's search "
          "on-demand only, with DeepVM's rule and with the cheapest VM first. Simulates each "
          "plan with interruptions, checkpoints and replacements, and shows the cost of "
          "complete runs. If no plan meets the limits, the nearest one is simulated.",
      .options = std::move(options),
      .outputs = {"table", "json"},
      .examples = {{"stint validate revocations --job model:resnet50", "With the default limits."},
                   {"stint validate revocations --job my.json --budget 300usd,10usd/h -o json",
                    "With your own limits, as JSON."}},
      .run = validate_revocations_run};
}

std::string pairing_score_table(const InterleaveValidation& validation, const Terminal& terminal) {
  Table table({{.title = "network", .importance = 9},
               {.title = "pairing", .importance = 8},
               {.title = "pairs", .align = Align::kRight, .importance = 6},
               {.title = "cost", .align = Align::kRight, .importance = 9},
               {.title = "saved", .align = Align::kRight, .importance = 9}});
  std::string text;
  for (const auto& [name, world] : validation.worlds) {
    for (const char* policy : kPolicies) {
      const auto found = world.policies.find(policy);
      if (found == world.policies.end()) continue;
      table.add({name, policy, fmt::to_string(found->second.pairs), dollars(found->second.cost),
                 tenths(found->second.saved)});
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
  format.help = "Format of the tables.";
  return {
      .path = "validate interleave",
      .group = VerbGroup::kEvidence,
      .summary = "Score the saving of pairs chosen by prediction.",
      .details =
          "Draws mixes of jobs from the test rows of one placement, pairs them by prediction, and "
          "computes the result of each pair from the measured compute and synchronisation times of "
          "its jobs alone. Baselines are random pairs, no pairs, and the best pairs in hindsight. "
          "The tables do not tell how busy the network is during compute, so there are two "
          "results. The splits are those of 'stint validate iteration'.",
      .options = {std::move(format),
                  train_option(),
                  {.name = "--test",
                   .value = "FILE...",
                   .help = "Tables to draw jobs from; measurements are used for scores only.",
                   .files = true},
                  {.name = "--split",
                   .value = "HOW",
                   .help = "Split instead of --test: leave-one-job-out or max-gpus=N."},
                  jobs_option(),
                  {.name = "--mixes", .value = "N", .help = "Mixes to draw (default: 50)."},
                  {.name = "--jobs-per-mix", .value = "N", .help = "Jobs per mix (default: 8)."}},
      .outputs = {"table", "json"},
      .examples = {{"stint validate interleave --format pollux --train t.csv --split max-gpus=6",
                    "Jobs on clusters larger than any in training."},
                   {"stint validate interleave --format pollux --train a.csv --test b.csv",
                    "Rows of another table."}},
      .run = validate_interleave_run};
}

std::string plan_score_table(const PlanValidation& validation, const Terminal& terminal) {
  std::vector<std::string> policies{kOurs};
  for (const auto& [policy, scores] : validation.policies) {
    if (policy != kOurs) policies.push_back(policy);
  }
  Table table({{.title = "job", .importance = 9},
               {.title = "policy", .importance = 8},
               {.title = "n", .align = Align::kRight, .importance = 6},
               {.title = "mean regret", .align = Align::kRight, .importance = 9},
               {.title = "p90", .align = Align::kRight, .importance = 5},
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

std::string reliability_table(const PlanValidation& validation, const Terminal& terminal) {
  Table table({{.title = "P(deadline)", .importance = 9},
               {.title = "of", .importance = 8},
               {.title = "n", .align = Align::kRight, .importance = 7},
               {.title = "promised", .align = Align::kRight, .importance = 9},
               {.title = "kept", .align = Align::kRight, .importance = 9}});
  const auto add = [&](const char* what, const std::vector<ReliabilityBin>& bins) {
    for (const ReliabilityBin& bin : bins) {
      table.add({fmt::format("{:.0f}-{:.0f} %", 100 * bin.from, 100 * bin.to), what,
                 fmt::to_string(bin.n), tenths(bin.promised), tenths(bin.kept)});
    }
  };
  add("plans", validation.reliability);
  add("candidates", validation.reliability_candidates);
  return table.text(terminal, "-o json");
}

Verb validate_plan_verb() {
  OptionSpec format = format_option();
  format.choices = {"pollux"};  // The only table of rows on VMs that have a price.
  format.help = "Format of the tables.";
  return {
      .path = "validate plan",
      .group = VerbGroup::kEvidence,
      .summary = "Score the cost of clusters chosen by prediction.",
      .details =
          "Takes each job and batch per GPU with at least 8 measured test rows, under seven "
          "deadlines between the fastest and the slowest row. Chooses the row of least "
          "predicted cost, a miss of the deadline charged as 'stint plan' does, and looks up the "
          "measured time of that row. 'stint-sure' takes the cheapest row that keeps the deadline "
          "with the confidence. 'true-means' knows the mean of every number of VMs and GPUs: no "
          "planner, but a floor. Baseline "
          "policies choose from the same rows. P(deadline) is compared with the share of "
          "deadlines kept. The splits are "
          "those of 'stint validate iteration'.",
      .options = {std::move(format),
                  train_option(),
                  {.name = "--test",
                   .value = "FILE...",
                   .help = "Tables to choose from; measurements are used for scores only.",
                   .files = true},
                  {.name = "--split",
                   .value = "HOW",
                   .help = "Split instead of --test: leave-one-job-out or max-gpus=N."},
                  jobs_option(),
                  {.name = "--confidence",
                   .value = "SHARE",
                   .help = "Probability that 'stint-sure' demands, and that the charge of a miss "
                           "is even with (default: 0.95)."}},
      .outputs = {"table", "json"},
      .examples = {{"stint validate plan --format pollux --train t.csv --split max-gpus=6",
                    "Larger clusters of known jobs."},
                   {"stint validate plan --format pollux --train a.csv --test b.csv -o json",
                    "Rows of one table, planned from those of another."}},
      .run = validate_plan_run};
}

}  // namespace stint::cli
