#include <fmt/format.h>

#include "app/import/profile_for.h"
#include "app/plan/predict_cases.h"
#include "base/text.h"
#include "base/unit_text.h"
#include "cli/render/render_import.h"
#include "cli/render/render_operators.h"
#include "cli/verbs/command_consent.h"
#include "cli/verbs/options.h"
#include "cli/verbs/verb_list.h"

namespace stint::cli {
namespace {

constexpr const char* kVerb = "profile";
constexpr const char* kDefaultFile = "job.json";
constexpr const char* kOwnBatch = "own";
// Operators do not change from step to step; the first one sets up the state of the optimizer.
constexpr int kStepsWithoutGpu = 2;
constexpr int kWarmupWithoutGpu = 1;

Status read_batches(const Invocation& invocation, ProfileRequest& request) {
  for (const std::string& text : invocation.list("--batches")) {
    if (text == kOwnBatch) {
      request.own = true;
      continue;
    }
    const auto batch = parse_int(text);
    if (!batch || *batch < 1 || *batch > kBatchMax) {
      return bad_usage(fmt::format("--batches must be whole numbers from 1 to {}, or {}, not '{}'",
                                   kBatchMax, kOwnBatch, printable(text)));
    }
    request.batches.push_back(*batch);
  }
  if (!request.batch_flag.empty() && request.batches.empty()) {
    return bad_usage("--batch-flag needs --batches: the batch sizes to measure");
  }
  return {};
}

Result<ProfileRequest> request_of(const Invocation& invocation) {
  ProfileRequest request{.command = invocation.arguments,
                         .batch_flag = invocation.get("--batch-flag"),
                         .device = invocation.get("--device"),
                         .out = invocation.get("--out"),
                         .keep_command = invocation.has("--keep-command"),
                         .silent = invocation.quiet()};
  // A profile that is printed need not be kept.
  if (request.out.empty() && invocation.output() == "table") request.out = kDefaultFile;
  for (auto [option, count] : {std::pair("--steps", &request.steps),
                               {"--warmup", &request.warmup},
                               {"--workers", &request.workers}}) {
    const auto given = count_of(invocation, option);
    if (!given.ok()) return given.error();
    *count = given->value_or(*count);
  }
  const Status batches = read_batches(invocation, request);
  if (!batches.ok()) return batches.error();
  const auto overrides = overrides_of(invocation);
  if (!overrides.ok()) return overrides.error();
  request.overrides = *overrides;
  if (invocation.has("--name")) request.overrides.name = invocation.get("--name");
  if (invocation.has("--timeout")) {
    const auto limit = parse_quantity<Seconds>(invocation.get("--timeout"));
    if (!limit.ok()) return bad_usage("--timeout: " + limit.error().message);
    if (!(*limit > Seconds{})) return bad_usage("--timeout must be above zero");
    request.limit = *limit;
  }
  return request;
}

/// What `--for` asks for.
Result<ProfileForRequest> request_for(const Invocation& invocation, ProfileRequest run) {
  for (const char* option : {"--workers", "--device"}) {
    if (!invocation.has(option)) continue;
    return bad_usage(fmt::format("{} cannot be combined with --for, which times nothing", option));
  }
  if (run.batches.size() > 2) {
    return bad_usage("--batches takes two batch sizes at most with --for");
  }
  if (!invocation.has("--steps")) run.steps = kStepsWithoutGpu;
  if (!invocation.has("--warmup")) run.warmup = kWarmupWithoutGpu;
  run.operators = true;
  ProfileForRequest request{.run = std::move(run), .gpus = invocation.list("--for")};
  if (!invocation.has("--precision")) return request;
  for (const auto& [precision, name] : names_of(WorkPrecision{})) {
    if (invocation.get("--precision") == name) request.precision = precision;
  }
  return request;
}

ExitCode run_without_gpu(const Invocation& invocation, const ProfileRequest& plain) {
  const auto request = request_for(invocation, plain);
  if (!request.ok()) return report(invocation, kVerb, request.error());
  const auto found = profile_for(invocation.environment, *request);
  if (!found.ok()) return report(invocation, kVerb, found.error());
  print_warnings(invocation, found->warnings);
  if (invocation.output() == "json") {
    print_answer(invocation, write_job(found->job));
  } else {
    print_answer(invocation, profile_for_text(*found, invocation.out_terminal));
  }
  const std::string& out = request->run.out;
  if (out.empty()) return kExitOk;
  say(invocation, fmt::format("Wrote {}. Next: stint plan --job {}{} --deadline 24h", out,
                              shell_quoted(out), found->job.goal ? "" : " --epochs 10"));
  return kExitOk;
}

ExitCode run(const Invocation& invocation) {
  const auto request = request_of(invocation);
  if (!request.ok()) return report(invocation, kVerb, request.error());
  const CommandOrigin command = origin_with_project(invocation, {.command = request->command});
  const Status agreed = confirm_commands(invocation, {&command, 1});
  if (!agreed.ok()) return report(invocation, kVerb, agreed.error());
  if (invocation.has("--for")) return run_without_gpu(invocation, *request);
  if (invocation.has("--precision")) {
    return report(invocation, kVerb, bad_usage("--precision needs --for: the GPUs to predict"));
  }
  const auto found = profile_job(*request);
  if (!found.ok()) return report(invocation, kVerb, found.error());
  print_warnings(invocation, found->warnings);
  if (invocation.output() == "json") {
    print_answer(invocation, write_job(found->job));
  } else {
    print_answer(invocation, profile_text(*found, invocation.out_terminal));
  }
  if (!request->out.empty()) {
    const auto next = predict_command(invocation.environment, request->out);
    say(invocation, fmt::format("Wrote {}.{}", request->out, next ? " Next: " + *next : ""));
  }
  return kExitOk;
}

std::vector<OptionSpec> profile_options() {
  std::vector<OptionSpec> options = {
      {.name = "--for",
       .value = "LIST",
       .help = "GPUs to predict from the operators of the script, which runs on the processor: "
               "A100,H100, or all (default: measure, predict nothing).",
       .list = true},
      {.name = "--precision",
       .value = "NAME",
       .help = "Numbers to compute with on these GPUs (default: those of the script).",
       .choices = {"mixed", "bf16", "fp16", "tf32", "fp32", "fp8"}},
      {.name = "--steps",
       .value = "N",
       .help = "Iterations to measure (default: 20; 2 with --for)."},
      {.name = "--warmup",
       .value = "N",
       .help = "Warm-up iterations before them (default: 5; 1 with --for)."},
      {.name = "--batches",
       .value = "LIST",
       .help =
           "Batch sizes per worker, one run each; own is the script's (default: own, half of it "
           "and twice as much, where the script calls stint.batch_size(its_own) or its "
           "DataLoader can be changed).",
       .list = true},
      {.name = "--batch-flag",
       .value = "FLAG",
       .help =
           "Batch-size flag of the script: --batch-size, or batch= if the value follows without "
           "a space.",
       .dashes = true},
      {.name = "--workers", .value = "N", .help = "Ranks to start on this computer (default: 1)."},
      {.name = "--timeout", .value = "TIME", .help = "Time limit of one run (default: 10min)."},
      {.name = "--name", .value = "NAME", .help = "Name of the job (default: the script's)."}};
  for (OptionSpec& option : goal_options()) options.push_back(std::move(option));
  options.push_back({.name = "--device",
                     .value = "NAME",
                     .help = "Device to label the times with, such as Local-1x, which the emulated "
                             "cloud paces (default: the device that was measured)."});
  options.push_back(
      {.name = "--out",
       .value = "FILE",
       .help = "Output file for the profile (default: job.json; none with -o json)."});
  options.push_back({.name = "--keep-command",
                     .help = "Keep the training command in the profile, so that 'stint run' may "
                             "use it; whoever reads the profile sees its arguments."});
  options.push_back(yes_option());
  return options;
}

}  // namespace

Verb profile_verb() {
  return {
      .path = kVerb,
      .group = VerbGroup::kMeasure,
      .summary = "Measure a PyTorch script and write its job profile.",
      .details =
          "Runs the script unchanged, at three batch sizes where these can be changed, and ends it "
          "after a few iterations. An iteration is one pass in which every optimizer stepped or "
          "was skipped; evaluation is left out. Measures forward, backward, update, input stalls, "
          "memory and the gradient buckets of DistributedDataParallel; with several workers or "
          "with accumulation, also gradient noise. Lists what the training uses, such as autocast "
          "and "
          "clipping. The output of the script goes to standard error. If the script fails, the "
          "measurements so far are kept. GPU times come from CUDA events; this path has never run "
          "on a GPU. "
          "With --for no GPU is needed: the script runs on the processor for a few iterations at a "
          "small batch, its operators are written down with their shapes, and times on the named "
          "GPUs are predicted from them. The profile says that its times are predicted, and 'stint "
          "plan' then plans on these GPUs only. The output says how autocast, fused attention and "
          "torch.compile would change the operators.",
      .arguments = {{.name = "COMMAND", .help = "Training command, after --.", .several = true}},
      .options = profile_options(),
      .outputs = {"table", "json"},
      .examples = {{"stint profile --epochs 90 -- /usr/bin/python3 train.py",
                    "One process, at three batch sizes, with a goal to plan for."},
                   {"stint profile --for A100,H100 --epochs 90 -- /usr/bin/python3 train.py",
                    "Two kinds of GPU, predicted without having one."},
                   {"stint profile --workers 2 --out cnn.json -- /usr/bin/python3 cnn.py",
                    "Two ranks of DistributedDataParallel."},
                   {"stint profile --batches own -- /usr/bin/python3 train.py",
                    "Only the batch size of the script."},
                   {"stint profile --batches 16,32,64 --batch-flag --batch -- python3 train.py",
                    "Batch sizes that the script takes as a flag."}},
      .project = true,
      .run = run};
}

}  // namespace stint::cli
