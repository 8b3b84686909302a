#include <fmt/format.h>
#include <string>
#include <vector>

#include "app/share/interleave_jobs.h"
#include "base/text.h"
#include "base/unit_text.h"
#include "catalog/lookup.h"
#include "cli/render/render_interleave.h"
#include "cli/verbs/options.h"
#include "cli/verbs/verb_list.h"

namespace stint::cli {
namespace {

constexpr const char* kVerb = "interleave";

Error wrong_value(const std::string& option, const std::string& what, const std::string& text) {
  return bad_usage(fmt::format("{} must be {}, not '{}'", option, what, printable(text)));
}

Result<std::vector<Seconds>> times_of(const Invocation& invocation, const std::string& option) {
  std::vector<Seconds> times;
  for (const std::string& text : invocation.list(option)) {
    const auto time = parse_quantity<Seconds>(text);
    if (!time.ok()) return bad_usage(fmt::format("{}: {}", option, time.error().message));
    if (*time <= Seconds{}) return wrong_value(option, "above zero", text);
    times.push_back(*time);
  }
  return times;
}

/// What a number may be.
struct Limits {
  std::string text;
  double low = 0;   // At least,
  double high = 0;  // and below.
};

Status read_number(const Invocation& invocation, const std::string& option, const Limits& limits,
                   double& place) {
  if (!invocation.has(option)) return {};
  const auto number = parse_double(invocation.get(option));
  if (!number || *number < limits.low || *number >= limits.high) {
    return wrong_value(option, limits.text, invocation.get(option));
  }
  place = *number;
  return {};
}

Result<InterleaveRequest> to_request(const Invocation& invocation) {
  InterleaveRequest request{.jobs = invocation.list("--jobs"),
                            .cluster = invocation.get("--cluster"),
                            .calibration = invocation.get("--calibration"),
                            .timeline = invocation.get("--timeline")};
  if (request.jobs.empty()) {
    return bad_usage("--jobs is required: two or more profiles, or names of shipped jobs");
  }
  if (request.cluster.empty()) {
    return bad_usage("--cluster is required, for example --cluster '4x g4dn.12xlarge'");
  }
  auto batches = counts_of(invocation, "--batch-per-worker", kBatchMax);
  if (!batches.ok()) return batches.error();
  request.batch_per_worker = std::move(*batches);
  auto workers = counts_of(invocation, "--workers-per-vm", kWorkersPerVmMax);
  if (!workers.ok()) return workers.error();
  request.workers_per_vm = std::move(*workers);
  const auto iterations = counts_of(invocation, "--iterations", kIntMax);
  if (!iterations.ok()) return iterations.error();
  request.iterations.assign(iterations->begin(), iterations->end());
  auto deadlines = times_of(invocation, "--deadline");
  if (!deadlines.ok()) return deadlines.error();
  request.deadlines = std::move(*deadlines);
  Status read = read_number(invocation, "--confidence", {"a number from 0.5 to below 1", 0.5, 1},
                            request.confidence);
  if (!read.ok()) return read.error();
  read = read_number(invocation, "--compute-slowdown", {"a number from 0 to below 10", 0, 10},
                     request.compute_slowdown);
  if (!read.ok()) return read.error();
  return request;
}

void tell_timeline(const Invocation& invocation, const std::string& path, bool drawn) {
  if (drawn) {
    say(invocation, fmt::format("Wrote the timeline of the turns to {}; open it in "
                                "chrome://tracing or ui.perfetto.dev.",
                                path));
  } else {
    say(invocation, fmt::format("No timeline in {}: no two jobs share machines.", path));
  }
}

/// Lets the first pair run on the emulated cloud.
std::string run_command(const InterleaveRequest& request, const SharingAnswer& answer) {
  std::string jobs;
  for (const SharingMember& member : answer.pairs.front().choice.members) {
    for (std::size_t i = 0; i < request.jobs.size(); ++i) {
      if (answer.jobs[i].name == member.job) jobs += " " + shell_quoted(request.jobs[i]);
    }
  }
  return fmt::format("stint run --cluster {} --interleave{} --steps 100",
                     shell_quoted(request.cluster), jobs);
}

/// What a person would do with the answer: look at the turns, run them, or look at machines for all
/// jobs.
std::string next_command(const InterleaveRequest& request, const SharingAnswer& answer) {
  const bool emulated = answer.price && answer.price->region == kLocalProvider;
  if (!answer.pairs.empty() && emulated) {
    return "Run this pair, of profiles made with --keep-command: " + run_command(request, answer);
  }
  if (!answer.pairs.empty() && request.timeline.empty()) {
    return "A timeline of the turns: the same command with --timeline turns.json";
  }
  std::string command = "stint plan";
  for (const std::string& job : request.jobs) command += " --job " + shell_quoted(job);
  return fmt::format("Plan all jobs together: {}{}", command, emulated ? " --providers local" : "");
}

ExitCode run(const Invocation& invocation) {
  const auto request = to_request(invocation);
  if (!request.ok()) return report(invocation, kVerb, request.error());
  const auto found = interleave_jobs(invocation.environment, *request);
  if (!found.ok()) return report(invocation, kVerb, found.error());
  print_warnings(invocation, found->warnings);
  if (invocation.output() == "json") {
    print_answer(invocation, write_sharing(found->answer));
  } else {
    print_answer(invocation, sharing_sheet(found->answer, invocation.out_terminal));
  }
  if (!request->timeline.empty()) tell_timeline(invocation, request->timeline, found->drawn);
  if (invocation.output() == "table") say(invocation, next_command(*request, found->answer));
  return kExitOk;
}

std::vector<OptionSpec> options() {
  return {{.name = "--jobs",
           .value = "FILE|NAME...",
           .help = "Two or more profiles, or names of shipped jobs.",
           .files = true},
          {.name = "--cluster",
           .value = "TEXT",
           .help = "VMs that two jobs share, for example '4x g4dn.12xlarge'."},
          {.name = "--batch-per-worker",
           .value = "N,...",
           .help = "Samples per worker, one number for all jobs or one each (default: from the "
                   "job's reference batch).",
           .list = true},
          {.name = "--workers-per-vm",
           .value = "N,...",
           .help = "Workers per VM (default: one per accelerator).",
           .list = true},
          {.name = "--iterations",
           .value = "N,...",
           .help = "Iterations of each job (default: to its goal).",
           .list = true},
          {.name = "--deadline",
           .value = "TIME,...",
           .help = "Deadline of each job, from the start: 6h.",
           .list = true},
          {.name = "--confidence",
           .value = "P",
           .help = "Probability of meeting the deadlines (default: 0.95)."},
          {.name = "--compute-slowdown",
           .value = "SHARE",
           .help = "Slowdown of compute while another job communicates (default: 0)."},
          {.name = "--calibration",
           .value = "NAME|FILE",
           .help = "Network calibration (default: the shipped one)."},
          {.name = "--timeline",
           .value = "FILE",
           .help = "Output file for a Chrome trace of the turns of each pair."}};
}

}  // namespace

Verb interleave_verb() {
  return {.path = kVerb,
          .group = VerbGroup::kPlan,
          .summary = "Choose the jobs that share machines.",
          .details =
              "Two distributed jobs share machines: one computes while the other synchronises "
              "gradients. Each pair of jobs is simulated event by event: in turns with whole "
              "gradients or DDP's overlap, with up to 4 turns to 1, or sharing freely. The chosen "
              "pairs save most, subject to memory and deadlines; a job that gains nothing stays "
              "alone. Speedups are over sequential runs with their normal overlap; savings are "
              "over separate clusters of the same kind.",
          .options = options(),
          .outputs = {"table", "json"},
          .examples =
              {{"stint interleave --jobs a.json b.json c.json --cluster '4x g4dn.12xlarge'",
                "The best pair of three jobs on four machines."},
               {"stint interleave --jobs a.json b.json --cluster '4x local.fast' --deadline 6h,1d",
                "A deadline for each job, on the emulated cloud."},
               {"stint interleave --jobs a.json b.json --cluster '2x g5.xlarge' --timeline t.json",
                "Also a timeline of the turns."}},
          .run = run};
}

}  // namespace stint::cli
