#include <fmt/format.h>

#include "app/plan/layout_cases.h"
#include "base/text.h"
#include "cli/render/render_layouts.h"
#include "cli/verbs/model_options.h"
#include "cli/verbs/verb_list.h"

namespace stint::cli {
namespace {

constexpr const char* kVerb = "layouts";

/// The training as a job. How long it goes on does not matter to its layouts.
std::string training_text(const Invocation& invocation) {
  std::string text = fmt::format("model:{},samples=1", invocation.get("--model"));
  constexpr std::pair<const char*, const char*> kKeys[] = {
      {"--seq", "seq"}, {"--precision", "precision"}, {"--method", "method"}, {"--batch", "batch"}};
  for (const auto& [option, key] : kKeys) {
    if (invocation.has(option)) text += fmt::format(",{}={}", key, invocation.get(option));
  }
  return text;
}

Result<LayoutsRequest> to_request(const Invocation& invocation) {
  if (!invocation.has("--model")) {
    return bad_usage("--model is required: a known transformer or config.json");
  }
  if (invocation.get("--model").find(',') != std::string::npos) {
    return bad_usage("the path of --model must not contain a comma");
  }
  if (!invocation.has("--cluster")) {
    return bad_usage("--cluster is required, for example --cluster '2x p4d.24xlarge'");
  }
  LayoutsRequest request{.job = training_text(invocation),
                         .cluster = invocation.get("--cluster"),
                         .layout = invocation.get("--layout")};
  const auto rows = count_of(invocation, "--rows");
  if (!rows.ok()) return rows.error();
  request.rows = rows->value_or(request.rows);
  return request;
}

/// What to ask next, with everything that was said.
std::string next_step(const Invocation& invocation, const LayoutsAnswer& answer) {
  std::string command = "stint layouts";
  for (const char* option :
       {"--model", "--cluster", "--batch", "--seq", "--precision", "--method"}) {
    if (!invocation.has(option)) continue;
    command += fmt::format(" {} {}", option, shell_quoted(invocation.get(option)));
  }
  return fmt::format("One layout taken apart: {} --layout {}", command,
                     shell_quoted(to_text(answer.layouts.front().layout)));
}

ExitCode layouts(const Invocation& invocation) {
  const auto request = to_request(invocation);
  if (!request.ok()) return report(invocation, kVerb, request.error());
  const auto answer = list_layouts(invocation.environment, *request);
  if (!answer.ok()) return report(invocation, kVerb, answer.error());
  print_warnings(invocation, answer->warnings);
  const bool one = !request->layout.empty();
  if (invocation.output() == "json") {
    print_answer(invocation, layouts_json(*answer));
  } else if (invocation.output() == "csv") {
    print_answer(invocation, layouts_csv(*answer));
  } else if (one) {
    print_answer(invocation, layout_sheet(answer->layouts.front(), invocation.out_terminal));
  } else {
    print_answer(invocation, layouts_sheet(*answer, invocation.out_terminal));
    if (!answer->layouts.empty()) say(invocation, next_step(invocation, *answer));
  }
  if (answer->fitting > 0) return kExitOk;
  return report(invocation, kVerb, {ErrorKind::kInfeasible, layouts_problem(*answer)});
}

std::vector<OptionSpec> layouts_options() {
  return {
      {.name = "--model",
       .value = "NAME|FILE",
       .help = "Known transformer ('stint models list'), or a config.json of Hugging Face.",
       .files = true},
      {.name = "--cluster", .value = "TEXT", .help = "Equal VMs, for example '2x p4d.24xlarge'."},
      {.name = "--layout",
       .value = "TEXT",
       .help = "One layout to take apart, for example 'dp8 tp2 zero1 mb2'."},
      {.name = "--batch",
       .value = "N",
       .help = "Samples of an iteration (default: customary for the model, else 128)."},
      {.name = "--seq",
       .value = "N",
       .help = "Tokens of a sample (default: customary for the model, at most 2048)."},
      {.name = "--precision",
       .value = "NAME",
       .help = "Numbers to compute with (default: mixed, 16 bits where the GPU has tensor units).",
       .choices = {"mixed", "bf16", "fp16", "tf32", "fp32", "fp8"}},
      {.name = "--method",
       .value = "NAME",
       .help = "Weights to train: full, lora[:RANK] or frozen[:LAYERS] (default: full)."},
      {.name = "--rows", .letter = "-n", .value = "N", .help = "Number of layouts (default: 10)."}};
}

}  // namespace

Verb layouts_verb() {
  return {
      .path = kVerb,
      .group = VerbGroup::kPlan,
      .summary = "List the ways to split a model over one cluster.",
      .details =
          "A layout gives the data (dp), tensor (tp) and pipeline (pp) degrees, the stage of ZeRO "
          "(zero3 is FSDP, hsdp keeps its shards within a VM), the micro-batch (mb), what is "
          "computed again (recompute) and sequence parallelism (sp). Feasible layouts fit into "
          "memory with 90 % probability and are listed fastest first; 'bubble' has the transfers "
          "between stages. Exit code 3 if none fits.",
      .options = layouts_options(),
      .outputs = {"table", "json", "csv"},
      .examples = {{"stint layouts --model llama-2-7b --cluster '1x p4de.24xlarge'",
                    "A 7 B model on 8 A100s."},
                   {"stint layouts --model llama-2-7b --cluster p4d.24xlarge --layout 'dp8 zero3'",
                    "What each axis of one layout costs."}},
      .run = layouts};
}

}  // namespace stint::cli
