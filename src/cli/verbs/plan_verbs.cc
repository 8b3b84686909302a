#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "app/plan/plan_cases.h"
#include "app/plan/plan_limits.h"
#include "base/text.h"
#include "cli/render/render_explain.h"
#include "cli/render/render_plan.h"
#include "cli/verbs/machine_options.h"
#include "cli/verbs/model_options.h"
#include "cli/verbs/options.h"
#include "cli/verbs/verb_list.h"
#include "load/model_files.h"
#include "load/plan_files.h"

namespace stint::cli {
namespace {

Status read_limits(const Invocation& invocation, Constraints& constraints) {
  if (invocation.has("--deadline")) {
    const auto deadline =
        parse_deadline(invocation.get("--deadline"), *invocation.environment.clock);
    if (!deadline.ok()) return deadline.error();
    constraints.deadline = *deadline;
  }
  if (invocation.has("--budget")) {
    const auto spending = parse_budget(invocation.get("--budget"));
    if (!spending.ok()) return spending.error();
    constraints.budget = spending->budget;
    constraints.rate_max = spending->rate_max;
  }
  if (invocation.has("--confidence")) {
    const auto confidence = parse_confidence(invocation.get("--confidence"));
    if (!confidence.ok()) return confidence.error();
    constraints.confidence = *confidence;
  } else {
    constraints.miss = miss_charge(constraints.confidence);
  }
  return {};
}

Status read_choice(const Invocation& invocation, Constraints& constraints) {
  for (const std::string& market : invocation.list("--markets")) {
    constraints.markets.push_back(enumerator<Market>(market));
  }
  constraints.providers = invocation.list("--providers");
  constraints.regions = invocation.list("--regions");
  constraints.machines = machines_of(invocation);
  const auto quotas = parse_quotas(join(invocation.list("--quota"), ","));
  if (!quotas.ok()) return quotas.error();
  constraints.quotas = *quotas;
  const auto vms = count_of(invocation, "--max-vms", kPlannedVmsMax);
  if (!vms.ok()) return vms.error();
  constraints.vms_max = vms->value_or(constraints.vms_max);
  return {};
}

Result<PlanRequest> to_request(const Invocation& invocation) {
  const auto job = job_text(invocation);
  if (!job.ok()) return job.error();
  PlanRequest request{.job = *job,
                      .calibration = invocation.get("--calibration"),
                      .disabled_passes = invocation.list("--disable-pass"),
                      .save = invocation.get("--save"),
                      .command = invocation.arguments};
  if (request.job.empty()) {
    return bad_usage("--job or --model is required: a profile, or the name of a known model");
  }
  const Status limits = read_limits(invocation, request.constraints);
  if (!limits.ok()) return limits.error();
  const Status choice = read_choice(invocation, request.constraints);
  if (!choice.ok()) return choice.error();
  if (invocation.has("--objective")) {
    request.objective = enumerator<Objective>(invocation.get("--objective"));
  }
  if (invocation.has("--policy")) request.policy = invocation.get("--policy");
  if (invocation.has("--vm")) request.vm = invocation.get("--vm");
  const auto overrides = overrides_of(invocation);
  if (!overrides.ok()) return overrides.error();
  request.overrides = *overrides;
  if (invocation.has("--name")) request.overrides.name = invocation.get("--name");
  const auto rows = count_of(invocation, "--rows");
  if (!rows.ok()) return rows.error();
  request.rows = rows->value_or(request.rows);
  request.compare = invocation.list("--compare");
  return request;
}

void print_plans(const Invocation& invocation, const PlanOutcome& outcome) {
  if (invocation.output() == "json") {
    print_answer(invocation, write_plan(outcome.answer));
  } else if (invocation.output() == "csv") {
    const bool none = outcome.answer.plans.empty() && outcome.answer.nearest;
    print_answer(invocation, plan_csv(none ? std::vector<Plan>{outcome.answer.nearest->plan}
                                           : outcome.answer.plans));
  } else {
    print_answer(invocation, plan_sheet(outcome, invocation.verbose(), invocation.out_terminal));
  }
}

/// The row that a person looks at first: the knee of a front, else the best.
std::size_t first_row(const std::vector<Plan>& plans) {
  const auto knee = std::find_if(plans.begin(), plans.end(), is_knee);
  return knee == plans.end() ? 1 : static_cast<std::size_t>(knee - plans.begin()) + 1;
}

/// What only the table has room for.
Status check_output(const Invocation& invocation) {
  const std::string output = invocation.output();
  if (invocation.has("--explain") && output != "table") {
    return bad_usage("--explain is for the table; 'stint explain -o json' explains the last plan");
  }
  if (invocation.has("--compare") && output == "csv") {
    return bad_usage("-o csv has no compared clusters; use -o json");
  }
  return {};
}

/// Prints the outcome of planning, or reports what went wrong; `row` is what to look at first, and
/// zero where the answer was not kept to be looked at.
ExitCode print_outcome(const Invocation& invocation, std::string_view verb,
                       const PlanRequest& request, std::size_t& row) {
  const auto outcome = plan_job(invocation.environment, request);
  if (!outcome.ok()) return report(invocation, verb, outcome.error());
  print_warnings(invocation, outcome->warnings);
  print_plans(invocation, *outcome);
  const std::vector<Plan>& plans = outcome->answer.plans;
  if (invocation.has("--explain") && !plans.empty()) {
    print_answer(invocation,
                 "\n" + explanation_sheet(explain(outcome->answer, first_row(plans) - 1),
                                          invocation.out_terminal));
  }
  row = outcome->kept ? first_row(outcome->answer.plans) : 0;
  if (!request.save.empty()) say(invocation, fmt::format("Wrote {}.", request.save));
  if (!outcome->answer.plans.empty()) return kExitOk;
  return report(invocation, verb,
                {ErrorKind::kInfeasible, fmt::format("no plan meets the constraints: {}",
                                                     outcome->answer.nearest->binding)});
}

ExitCode plan(const Invocation& invocation) {
  const auto request = to_request(invocation);
  if (!request.ok()) return report(invocation, "plan", request.error());
  const Status output = check_output(invocation);
  if (!output.ok()) return report(invocation, "plan", output.error());
  if (invocation.list("--job").size() > 1) return plan_several(invocation, *request);
  if (invocation.list("--deadline").size() > 1) {
    return report(invocation, "plan", bad_usage("one job takes one deadline"));
  }
  std::size_t row = 1;
  const ExitCode code = print_outcome(invocation, "plan", *request, row);
  const bool shown = invocation.has("--explain");
  if (code == kExitOk && invocation.output() == "table" && row > 0 && !shown) {
    say(invocation, fmt::format("Details of this plan: stint explain --plan {}", row));
  }
  return code;
}

ExitCode explain_plan(const Invocation& invocation) {
  const std::string which = invocation.has("--plan") ? invocation.get("--plan") : "1";
  const auto picked = load_plan(invocation.environment, which);
  if (!picked.ok()) return report(invocation, "explain", picked.error());
  print_warnings(invocation, picked->warnings);
  const Explanation explanation = explain(picked->answer, picked->row);
  if (invocation.output() == "json") {
    print_answer(invocation, to_text(explanation_json(explanation), JsonStyle::kPretty) + "\n");
    return kExitOk;
  }
  print_answer(invocation, explanation_sheet(explanation, invocation.out_terminal));
  if (explanation.runner_up && parse_int(which)) {
    say(invocation, fmt::format("Details of the runner-up: stint explain --plan {}",
                                explanation.runner_up->row + 1));
  }
  return kExitOk;
}

/// A training that the demo plans.
struct DemoTraining {
  const char* flags;  // As a person would write them.
  const char* job;
  Seconds deadline;
};

constexpr DemoTraining kDemo[] = {
    {"--model resnet50 --epochs 90", "model:resnet50,epochs=90", 24 * kHour},
    {"--model llama-3-8b --method lora --tokens 100M",
     "model:llama-3-8b,tokens=100000000,method=lora:16", 12 * kHour},
};

ExitCode demo(const Invocation& invocation) {
  if (invocation.has("--run")) return demo_run(invocation);
  for (const DemoTraining& it : kDemo) {
    say(invocation,
        fmt::format("$ stint plan {} --deadline {}\n", it.flags, deadline_flag(it.deadline)));
    std::size_t row = 1;
    const ExitCode code =
        print_outcome(invocation, "demo",
                      {.job = it.job, .constraints = {.deadline = it.deadline}, .rows = 5}, row);
    if (code != kExitOk) return code;
    print_answer(invocation, "\n");
  }
  const auto model = load_model("resnet50");
  if (model.ok()) say(invocation, "Facts of resnet50: " + model->source);
  say(invocation, fmt::format("\nTry next:\n"
                              "  stint explain --plan 1\n"
                              "  stint plan {0} --budget 300usd\n"
                              "  stint plan {0} --objective front\n"
                              "  stint predict {0} --cluster '1x g5.12xlarge'\n"
                              "  stint models list\n"
                              "  stint catalog list --gpu A100\n"
                              "  stint demo --run                          (on an emulated cloud)\n"
                              "  stint profile --help                      (a profile of your own)",
                              kDemo[0].flags));
  return kExitOk;
}

std::vector<std::string> pass_names() {
  std::vector<std::string> names;
  for (const PassName& pass : switchable_passes()) names.emplace_back(pass.name);
  return names;
}

std::vector<OptionSpec> limit_options() {
  return {{.name = "--deadline",
           .value = "TIME",
           .help = "Deadline: 12h, '2d 3h', 2026-11-20T18:00Z, or a date (0:00 UTC); for several "
                   "jobs one for all or one each.",
           .list = true},
          {.name = "--budget",
           .value = "MONEY",
           .help = "Maximum cost: 150usd or '$150' in total, or 3usd/h as expected."},
          {.name = "--confidence",
           .value = "P",
           .help = "Required probability of meeting deadline and budget: 0.9 or 90% (default: 0.95 "
                   "for a budget; for a deadline none, and missing it costs 2.9 bills)."},
          {.name = "--markets",
           .value = "MARKETS",
           .help = "Markets to rent on (default: both).",
           .choices = choices_of<Market>(),
           .list = true},
          {.name = "--providers",
           .value = "NAMES",
           .help = "Providers to consider, for example aws,gcp (default: all).",
           .list = true},
          {.name = "--regions",
           .value = "NAMES",
           .help = "Regions to consider (default: all).",
           .list = true},
          {.name = "--quota",
           .value = "QUOTAS",
           .help = "vCPU quotas of types, families or classes: g5=32,p4d:spot=96.",
           .list = true},
          {.name = "--max-vms",
           .value = "N",
           .help = "Maximum number of VMs in a cluster (default: 64)."}};
}

std::vector<OptionSpec> answer_options() {
  return {{.name = "--compare",
           .value = "CLUSTER",
           .help = "Cluster to compare with the best plan: '8x p3.2xlarge'; may be repeated.",
           .repeated = true},
          {.name = "--explain",
           .letter = "-w",
           .help = "Explain the first plan after the table, as 'stint explain' does."}};
}

std::vector<OptionSpec> plan_options() {
  std::vector<OptionSpec> options = {
      {.name = "--job",
       .value = "FILE|NAME",
       .help = "Profile of the job, or the name of a shipped job; several jobs get one bill.",
       .files = true}};
  for (OptionSpec& option : model_options()) {
    // The goal options have one that means the same for any job.
    if (option.name != "--epochs") options.push_back(std::move(option));
  }
  for (OptionSpec& option : goal_options()) options.push_back(std::move(option));
  options.push_back(
      {.name = "--name", .value = "NAME", .help = "Name of the job (default: its profile's)."});
  for (OptionSpec& option : limit_options()) options.push_back(std::move(option));
  for (OptionSpec& option : machine_options()) options.push_back(std::move(option));
  options.push_back({.name = "--objective",
                     .value = "NAME",
                     .help = "Quantity to minimise (default: cost under a deadline, time under a "
                             "budget alone, else the Pareto front).",
                     .choices = choices_of<Objective>()});
  options.push_back({.name = "--policy",
                     .value = "NAME",
                     .help = "Baseline policy to compare with Stint's plan.",
                     .choices = choices_of<Policy>()});
  for (OptionSpec& option : answer_options()) options.push_back(std::move(option));
  options.push_back({.name = "--vm", .value = "TYPE", .help = "VM type for the policy scavenger."});
  options.push_back({.name = "--calibration",
                     .value = "NAME|FILE",
                     .help = "Network calibration (default: the shipped one)."});
  options.push_back({.name = "--disable-pass",
                     .value = "NAMES",
                     .help = "Passes of the optimiser to disable, for comparison.",
                     .choices = pass_names(),
                     .list = true});
  options.push_back({.name = "--rows",
                     .letter = "-n",
                     .value = "N",
                     .help = "Maximum number of plans to show (default: 10)."});
  options.push_back(
      {.name = "--save",
       .value = "FILE",
       .help =
           "Output file for the answer as JSON; for several jobs a folder with one plan each."});
  return options;
}

Verb plan_verb() {
  return {
      .path = "plan",
      .group = VerbGroup::kPlan,
      .summary = "Choose machines for a job by deadline, budget or both.",
      .details =
          "Searches every cluster of the catalogue that the constraints allow. Machines with "
          "another processor than amd64, or whose accelerators do not run CUDA, are considered "
          "only "
          "where --arch, --gpu or --types ask for them. Shows the best "
          "plans with their expected time and cost, the 80 % intervals and the probability of "
          "meeting the deadline. Lists what was excluded and why, and bounds the saving of any "
          "other plan. If no plan meets the constraints, the nearest one is shown, with exit code "
          "3. 'stint explain' reads the last answer. With several jobs, each job gets its cheapest "
          "plan, and two jobs share a cluster if that costs less and meets both deadlines.",
      .arguments = {{.name = "COMMAND",
                     .help = "Training command for 'stint run', after -- (default: the job's own).",
                     .required = false,
                     .several = true}},
      .options = plan_options(),
      .outputs = {"table", "json", "csv"},
      .examples = {{"stint plan --model resnet50 --epochs 90 --deadline 24h",
                    "The cheapest plan within a day."},
                   {"stint plan --job my.json --epochs 90 --budget 150usd --markets spot",
                    "The fastest plan within the budget, on spot VMs."},
                   {"stint plan --job my.json --objective front --providers aws",
                    "The Pareto front of time and cost."},
                   {"stint plan --job my.json --deadline 24h --gpu A100,H100 --exclude 'p4de.*'",
                    "Two models of GPU, without one VM family."},
                   {"stint plan --job a.json --job b.json --deadline 12h,24h",
                    "One bill for two jobs, which may share machines."},
                   {"stint plan --model resnet50 --deadline 24h --compare '8x p3.2xlarge'",
                    "What the cluster that you had in mind costs more."},
                   {"stint plan --job my.json --deadline 12h --policy cheapest-first",
                    "The cost of a simple rule, for comparison."}},
      .project = true,
      .run = plan};
}

Verb explain_verb() {
  return {.path = "explain",
          .group = VerbGroup::kPlan,
          .summary = "Explain the cost, time and runner-up of a plan.",
          .details =
              "Shows the bill, the parts of an iteration, the layout of the job, the runner-up, "
              "and the changes of price or speed at which the two plans swap ranks.",
          .options = {{.name = "--plan",
                       .value = "N|FILE",
                       .help = "Row of the last answer, or a saved answer (default: row 1)."}},
          .outputs = {"table", "json"},
          .examples = {{"stint explain", "The best plan of the last answer."},
                       {"stint explain --plan 2 -o json", "The second plan, as JSON."}},
          .run = explain_plan};
}

Verb demo_verb() {
  return {.path = "demo",
          .group = VerbGroup::kPlan,
          .summary = "Plan two trainings of known models over the catalogue.",
          .options = {{.name = "--run",
                       .help = "Profile, plan, run, interrupt and report a small training on the "
                               "emulated cloud instead; two minutes."}},
          .examples = {{"stint demo", "Plan ResNet-50 on ImageNet and a LoRA fine-tune."},
                       {"stint demo --verbose", "Also the statistics of the optimiser."},
                       {"stint demo --run", "A whole run on this computer."}},
          .run = demo};
}

}  // namespace

std::vector<Verb> plan_verbs() { return {plan_verb(), explain_verb(), demo_verb()}; }

}  // namespace stint::cli
