#include <algorithm>
#include <fmt/format.h>
#include <tuple>
#include <utility>

#include "app/plan/predict_cases.h"
#include "base/text.h"
#include "base/unit_text.h"
#include "cli/render/figures.h"
#include "cli/render/render_prediction.h"
#include "cli/verbs/model_options.h"
#include "cli/verbs/verb_list.h"

namespace stint::cli {
namespace {

std::optional<Collective> collective_of(const Invocation& invocation) {
  for (const auto& [value, name] : names_of(Collective{})) {
    if (invocation.get("--collective") == name) return value;
  }
  return std::nullopt;
}

/// The options that are counts, and where they go.
Status read_counts(const Invocation& invocation, PredictOptions& options) {
  std::optional<int> accumulation;
  const std::tuple<const char*, std::optional<int>*, int> counts[] = {
      {"--batch-per-worker", &options.batch_per_worker, kBatchMax},
      {"--global-batch", &options.global_batch, kBatchMax},
      {"--workers-per-vm", &options.workers_per_vm, kWorkersPerVmMax},
      {"--servers", &options.servers, kVmsMax},
      {"--accumulation", &accumulation, kBatchMax}};
  for (const auto& [name, place, max] : counts) {
    const auto value = count_of(invocation, name, max);
    if (!value.ok()) return value.error();
    *place = *value;
  }
  options.accumulation = accumulation.value_or(1);
  return {};
}

Result<PredictRequest> to_request(const Invocation& invocation) {
  const auto job = job_text(invocation);
  if (!job.ok()) return job.error();
  PredictRequest request{.job = *job,
                         .cluster = invocation.get("--cluster"),
                         .calibration = invocation.get("--calibration"),
                         .event_driven = invocation.get("--predictor") == "event-driven",
                         .timeline = invocation.get("--timeline")};
  if (request.job.empty()) {
    return bad_usage("--job or --model is required: a profile, or the name of a known model");
  }
  if (request.cluster.empty()) {
    return bad_usage("--cluster is required, for example --cluster '8x g4dn.12xlarge'");
  }
  const Status counts = read_counts(invocation, request.options);
  if (!counts.ok()) return counts.error();
  if (request.options.batch_per_worker && request.options.global_batch) {
    return bad_usage("--batch-per-worker and --global-batch exclude each other; give one of them");
  }
  const bool served = invocation.get("--collective") == "parameter-server";
  if (request.options.servers && !served) {
    return bad_usage("--servers needs --collective parameter-server");
  }
  return request;
}

std::vector<OptionSpec> question_options() {
  std::vector<OptionSpec> options = {
      {.name = "--job",
       .value = "FILE|NAME",
       .help = "Profile of the job, or the name of a shipped job."},
      {.name = "--cluster",
       .value = "TEXT",
       .help = "VMs of the cluster: '8x g4dn.12xlarge', or '4x p3.2xlarge:spot + 2x g5.xlarge'."},
      {.name = "--batch-per-worker",
       .value = "N",
       .help = "Samples per worker and micro-step; the mean on a mixed cluster."},
      {.name = "--global-batch",
       .value = "N",
       .help = "Samples per iteration (default: the job's reference batch)."},
      {.name = "--workers-per-vm",
       .value = "N",
       .help = "Workers per VM (default: one per accelerator)."},
      {.name = "--accumulation", .value = "M", .help = "Micro-steps per all-reduce (default: 1)."},
      {.name = "--servers",
       .value = "N",
       .help = "Parameter servers, with --collective parameter-server (default: one per VM)."},
      {.name = "--calibration",
       .value = "NAME|FILE",
       .help = "Network calibration (default: the shipped one)."},
      {.name = "--predictor",
       .value = "NAME",
       .help = "Closed form, or the event-driven simulator, which follows the profile's buckets "
               "(default: analytic).",
       .choices = {"analytic", "event-driven"}}};
  for (OptionSpec& option : model_options()) options.push_back(std::move(option));
  return options;
}

/// What to ask next, with everything that was said. To 'whatif' a collective is a change from the
/// ring, so where one was said that is the change.
std::string next_step(const Invocation& invocation) {
  std::string command = "stint whatif";
  for (const OptionSpec& option : question_options()) {
    if (!invocation.has(option.name)) continue;
    command += fmt::format(" {} {}", option.name, shell_quoted(invocation.get(option.name)));
  }
  const std::string collective = invocation.get("--collective");
  if (collective.empty() || collective == "ring") {
    return fmt::format("Effect of a change: {} --network '100 Gbit/s'", command);
  }
  return fmt::format("Compare with a ring: {} --collective {}", command, collective);
}

ExitCode verdict(const Invocation& invocation, std::string_view verb,
                 const Prediction& prediction) {
  if (!prediction.memory || prediction.memory->fits) return kExitOk;
  return report(invocation, verb, {ErrorKind::kInfeasible, memory_problem(prediction)});
}

ExitCode predict_iteration(const Invocation& invocation) {
  auto request = to_request(invocation);
  if (!request.ok()) return report(invocation, "predict", request.error());
  request->options.collective = collective_of(invocation).value_or(Collective::kRing);
  const auto answer = predict_job(invocation.environment, *request);
  if (!answer.ok()) return report(invocation, "predict", answer.error());
  print_warnings(invocation, answer->warnings);
  const Prediction& prediction = answer->prediction;
  if (invocation.output() == "json") {
    print_warnings(invocation, answer->doubts);
    print_answer(invocation, write_prediction(prediction));
  } else {
    print_answer(invocation, prediction_sheet(answer->job, prediction, invocation.out_terminal));
    if (workers_of(prediction) > 1) {
      const Date today = date_at(invocation.environment.clock->now());
      print_answer(invocation, sheet_line("network", calibration_text(answer->calibration, today),
                                          invocation.out_terminal));
    }
  }
  if (!request->timeline.empty()) {
    say(invocation,
        fmt::format("Wrote the timeline to {}; open it in chrome://tracing or ui.perfetto.dev.",
                    request->timeline));
  }
  const ExitCode code = verdict(invocation, "predict", prediction);
  // What came from standard input is not there a second time.
  const bool repeats = request->job != kStandardInput;
  if (code == kExitOk && invocation.output() == "table" && repeats) {
    say(invocation, next_step(invocation));
  }
  return code;
}

Result<WhatIf> to_change(const Invocation& invocation) {
  WhatIf change;
  if (invocation.has("--network")) {
    const auto network = parse_quantity<BytesPerSecond>(invocation.get("--network"));
    if (!network.ok()) return bad_usage("--network: " + network.error().message);
    if (*network <= BytesPerSecond{}) return bad_usage("--network must be above zero");
    change.network = *network;
  }
  const auto batch = count_of(invocation, "--batch", kBatchMax);
  if (!batch.ok()) return batch.error();
  change.batch_per_worker = *batch;
  const auto vms = count_of(invocation, "--vms", kVmsMax);
  if (!vms.ok()) return vms.error();
  change.vms = *vms;
  if (invocation.has("--gpu")) change.gpu = invocation.get("--gpu");
  change.collective = collective_of(invocation);
  const bool any =
      change.network || change.batch_per_worker || change.vms || change.gpu || change.collective;
  if (any) return change;
  return bad_usage(
      "a change is required: --network, --batch, --gpu, --vms or --collective, or several");
}

ExitCode whatif(const Invocation& invocation) {
  const auto request = to_request(invocation);
  if (!request.ok()) return report(invocation, "whatif", request.error());
  const auto change = to_change(invocation);
  if (!change.ok()) return report(invocation, "whatif", change.error());
  const auto answer = predict_change(invocation.environment, *request, *change);
  if (!answer.ok()) return report(invocation, "whatif", answer.error());
  print_warnings(invocation, answer->warnings);
  if (invocation.output() == "json") {
    const Json json = change_json(answer->job, answer->before, answer->after);
    print_answer(invocation, to_text(json, JsonStyle::kPretty) + "\n");
  } else {
    print_answer(invocation, change_table(answer->before, answer->after, invocation.out_terminal));
    for (const std::string& assumption : answer->after.assumptions) {
      say(invocation, "Assumed after the change: " + assumption);
    }
  }
  const ExitCode code = verdict(invocation, "whatif", answer->after);
  if (change->gpu && code == kExitOk && invocation.output() == "table") {
    say(invocation, fmt::format("VM types with this GPU: stint catalog list --gpu {}",
                                shell_quoted(*change->gpu)));
  }
  return code;
}

OptionSpec collective_option(const std::string& help) {
  std::vector<std::string> choices;
  for (const auto& [value, name] : names_of(Collective{})) choices.emplace_back(name);
  return {.name = "--collective", .value = "NAME", .help = help, .choices = choices};
}

Verb predict_verb() {
  std::vector<OptionSpec> options = question_options();
  options.push_back(collective_option("All-reduce algorithm (default: ring)."));
  options.push_back(
      {.name = "--timeline",
       .value = "FILE",
       .help = "Output file for a Chrome trace of the iteration with the profile's buckets."});
  return {.path = "predict",
          .group = VerbGroup::kPlan,
          .summary = "Predict the iteration time of a job on a cluster.",
          .details =
              "Starts from a profile of the job on one machine. Shows the parts of an iteration, "
              "the 80 % interval, throughput, dollars per million samples and whether the batch "
              "fits into memory (exit code 3 if it does not). On a mixed cluster each worker gets "
              "a batch in proportion to its speed.",
          .options = options,
          .outputs = {"table", "json"},
          .examples = {{"stint predict --model resnet50 --cluster '8x g4dn.12xlarge'",
                        "ResNet-50 on 32 T4s, at its customary batch."},
                       {"stint predict --job my.json --cluster '4x p3.2xlarge + 2x g5.xlarge'",
                        "Your own job on a mixed cluster."}},
          .run = predict_iteration};
}

Verb whatif_verb() {
  std::vector<OptionSpec> options = question_options();
  options.push_back(
      {.name = "--network", .value = "RATE", .help = "Network rate, for example 100Gbit/s."});
  options.push_back({.name = "--batch", .value = "N", .help = "Samples per worker."});
  options.push_back(
      {.name = "--gpu", .value = "NAME", .help = "GPU in the same VMs, for example A100."});
  options.push_back({.name = "--vms", .value = "N", .help = "Number of VMs."});
  options.push_back(collective_option("All-reduce algorithm."));
  return {
      .path = "whatif",
      .group = VerbGroup::kPlan,
      .summary = "Show how a change affects an iteration, part by part.",
      .details =
          "At least one of --network, --batch, --gpu, --vms and --collective is required. A "
          "hypothetical network leaves the VM's price as it is; a hypothetical GPU has no price.",
      .options = options,
      .outputs = {"table", "json"},
      .examples = {{"stint whatif --job my.json --cluster '8x g4dn.xlarge' --network 50Gbit/s",
                    "A faster network."},
                   {"stint whatif --model resnet50 --cluster '4x p3.2xlarge' --vms 8",
                    "Twice the VMs."}},
      .run = whatif};
}

}  // namespace

std::vector<Verb> predict_verbs() { return {predict_verb(), whatif_verb()}; }

}  // namespace stint::cli
