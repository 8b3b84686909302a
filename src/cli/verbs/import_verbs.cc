#include <fmt/format.h>

#include "app/import/import_cases.h"
#include "app/plan/predict_cases.h"
#include "base/text.h"
#include "base/unit_text.h"
#include "cli/render/render_import.h"
#include "cli/verbs/verb_list.h"

namespace stint::cli {
namespace {

void print(const Invocation& invocation, const Json& json, const std::string& text) {
  const bool as_json = invocation.output() == "json";
  print_answer(invocation, as_json ? to_text(json, JsonStyle::kPretty) + "\n" : text);
}

Result<TraceImportRequest> to_trace_request(const Invocation& invocation) {
  TraceImportRequest request{
      .files = invocation.arguments,
      .hints = {.name = invocation.get("--name"), .device = invocation.get("--device")},
      .out = invocation.get("--out")};
  const auto batch = count_of(invocation, "--batch", kBatchMax);
  if (!batch.ok()) return batch.error();
  request.hints.batch_per_worker = *batch;
  if (invocation.has("--gradients")) {
    const auto bytes = parse_quantity<Bytes>(invocation.get("--gradients"));
    if (!bytes.ok()) return bad_usage("--gradients: " + bytes.error().message);
    if (!(*bytes > Bytes{})) return bad_usage("--gradients must be above zero");
    request.hints.gradients = *bytes;
  }
  return request;
}

ExitCode trace(const Invocation& invocation) {
  constexpr const char* kVerb = "import trace";
  const auto request = to_trace_request(invocation);
  if (!request.ok()) return report(invocation, kVerb, request.error());
  const auto profile = import_trace(invocation.environment, *request);
  if (!profile.ok()) return report(invocation, kVerb, profile.error());
  print(invocation, trace_json(*profile), trace_text(*profile, invocation.out_terminal));
  if (!request->out.empty()) {
    const auto next = predict_command(invocation.environment, request->out);
    say(invocation,
        fmt::format("Wrote the profile to {}.{}", request->out, next ? " Next: " + *next : ""));
  } else if (profile->job) {
    say(invocation, "To keep the profile, add --out job.json");
  }
  return kExitOk;
}

ExitCode nccl(const Invocation& invocation) {
  const NcclImportRequest request{
      .files = invocation.arguments, .vm = invocation.get("--vm"), .out = invocation.get("--out")};
  const auto table = import_nccl(request);
  if (!table.ok()) return report(invocation, "import nccl", table.error());
  print(invocation, nccl_json(*table), nccl_text(*table, invocation.out_terminal));
  if (request.out.empty()) {
    say(invocation, "To keep the table, add --out rows.csv");
  } else {
    say(invocation,
        fmt::format(
            "Wrote the table to {0}. Next: stint validate collective --train {0} --split sizes",
            shell_quoted(request.out)));
  }
  return kExitOk;
}

Verb trace_verb() {
  return {
      .path = "import trace",
      .group = VerbGroup::kMeasure,
      .summary = "Convert torch.profiler traces to a job profile.",
      .details =
          "Reads Chrome traces of torch.profiler, plain or gzip, of any size, one file per rank. "
          "Iterations are the ProfilerStep annotations, or the intervals between two optimizer "
          "steps. Facts that the traces lack are listed; they have shapes if the profiler ran with "
          "record_shapes=True.",
      .arguments = {{.name = "FILE...", .help = "Trace of each rank.", .several = true}},
      .options = {{.name = "--name",
                   .value = "NAME",
                   .help = "Name of the job (default: the first file's name)."},
                  {.name = "--out", .value = "FILE", .help = "Output file for the job profile."},
                  {.name = "--batch",
                   .value = "N",
                   .help = "Samples per worker and iteration, if the traces lack them."},
                  {.name = "--gradients",
                   .value = "BYTES",
                   .help = "Gradient size, if the traces lack it: '100 MB'."},
                  {.name = "--device",
                   .value = "NAME",
                   .help = "GPU of the catalogue, or processor, of the traces."}},
      .outputs = {"table", "json"},
      .examples = {{"stint import trace rank0.json rank1.json --out job.json",
                    "Two ranks of one job."},
                   {"stint import trace t.json.gz --batch 32 --gradients '102 MB'",
                    "A trace without shapes."}},
      .run = trace};
}

Verb nccl_verb() {
  return {.path = "import nccl",
          .group = VerbGroup::kMeasure,
          .summary = "Convert the output of nccl-tests to a table.",
          .details =
              "Reads the text of all_reduce_perf and its siblings, one or several runs per file. "
              "Lines with wrong results are dropped and counted.",
          .arguments = {{.name = "FILE...", .help = "Output of nccl-tests.", .several = true}},
          .options = {{.name = "--vm",
                       .value = "NAME",
                       .help = "Instance type of the hosts (default: the GPU's name)."},
                      {.name = "--out", .value = "FILE", .help = "Output file for the table."}},
          .outputs = {"table", "json"},
          .examples = {{"stint import nccl all_reduce.txt --vm p4d.24xlarge --out rows.csv",
                        "For stint validate collective."},
                       {"stint import nccl *.txt -o json", "As JSON."}},
          .run = nccl};
}

}  // namespace

std::vector<Verb> import_verbs() { return {trace_verb(), nccl_verb()}; }

}  // namespace stint::cli
