#include "cli/verbs/validate_revocations_verb.h"

#include <fmt/format.h>
#include <utility>

#include "app/plan/plan_limits.h"
#include "cli/render/render_runs.h"

namespace stint::cli {
namespace {

constexpr const char* kVerb = "validate revocations";

Result<RevocationsRequest> to_request(const Invocation& invocation) {
  RevocationsRequest request{.job = invocation.get("--job"),
                             .calibration = invocation.get("--calibration")};
  if (request.job.empty()) return bad_usage("say which job: --job FILE, or a shipped one's name");
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
  const auto vms = count_of(invocation, "--max-vms");
  if (!vms.ok()) return vms.error();
  limits.vms_max = vms->value_or(limits.vms_max);
  const auto options = simulation_of(invocation);
  if (!options.ok()) return options.error();
  request.options = *options;
  return request;
}

ExitCode run(const Invocation& invocation) {
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
    say(invocation, fmt::format("No plan of {} keeps the limits, and the nearest is simulated. {}",
                                row.policy, *row.binding));
  }
  say(invocation, "All plans run under one model of time, prices and losses.");
  return kExitOk;
}

}  // namespace

Verb validate_revocations_verb() {
  std::vector<OptionSpec> options = {
      {.name = "--job", .value = "FILE|NAME", .help = "The job's profile, or a shipped one."},
      {.name = "--deadline",
       .value = "TIME",
       .help = "When it must be done (default: 24h, where there is no budget either)."},
      {.name = "--budget",
       .value = "MONEY",
       .help = "What it may cost: 150usd in all, 25usd/h at any time (default: 25usd/h), or both.",
       .list = true},
      {.name = "--providers",
       .value = "NAMES",
       .help = "Only these providers, for example aws,gcp.",
       .list = true},
      {.name = "--regions", .value = "NAMES", .help = "Only these regions.", .list = true},
      {.name = "--max-vms", .value = "N", .help = "The most VMs of a cluster (default: 8)."}};
  for (OptionSpec& option : simulation_options()) options.push_back(std::move(option));
  return {.path = kVerb,
          .summary = "Check what plans cost when spot machines are lost, beside others' plans.",
          .details =
              "Plans a job under the same limits with Stint's own search, with it on demand only, "
              "with DeepVM's rule and with the cheapest VM first. Then it simulates the runs of "
              "each plan, with machines that are lost, saves, and replacements, and shows what "
              "they cost to the end. Where no plan keeps the limits the nearest is simulated.",
          .options = std::move(options),
          .outputs = {"table", "json"},
          .examples = {{"stint validate revocations --job example-resnet50",
                        "With the limits that are the default."},
                       {"stint validate revocations --job my.json --budget 300usd,10usd/h -o json",
                        "Limits of your own, for a program to read."}},
          .run = run};
}

}  // namespace stint::cli
