#include <fmt/format.h>
#include <utility>

#include "app/local/probe_network.h"
#include "base/text.h"
#include "base/unit_text.h"
#include "cli/render/render_probe.h"
#include "cli/verbs/options.h"
#include "cli/verbs/verb_list.h"

namespace stint::cli {
namespace {

constexpr const char* kVerb = "probe network";

Status read_lists(const Invocation& invocation, ProbeRequest& request) {
  if (invocation.has("--sizes")) request.sizes.clear();
  for (const std::string& text : invocation.list("--sizes")) {
    const auto size = parse_quantity<Bytes>(text);
    if (!size.ok()) return bad_usage("--sizes: " + size.error().message);
    request.sizes.push_back(*size);
  }
  auto counts = counts_of(invocation, "--vms", kVmsMax);
  if (!counts.ok()) return counts.error();
  request.counts = std::move(*counts);
  return {};
}

Result<ProbeRequest> request_of(const Invocation& invocation) {
  if (!invocation.has("--cluster")) {
    return bad_usage(
        "--cluster is required. For example: stint probe network --cluster '4x local.large'");
  }
  ProbeRequest request{.cluster = invocation.get("--cluster"),
                       .out = invocation.get("--out"),
                       .fold = invocation.get("--fold")};
  if (invocation.has("--python")) request.python = invocation.get("--python");
  if (invocation.has("--calibration")) request.calibration = invocation.get("--calibration");
  for (auto [option, count] :
       {std::pair("--rounds", &request.rounds), {"--repeats", &request.repeats}}) {
    const auto given = count_of(invocation, option);
    if (!given.ok()) return given.error();
    *count = given->value_or(*count);
  }
  const auto every = quantity_of<Seconds>(invocation, "--every", true);
  if (!every.ok()) return every.error();
  request.every = every->value_or(Seconds{});
  const Status lists = read_lists(invocation, request);
  if (!lists.ok()) return lists.error();
  return request;
}

ExitCode run(const Invocation& invocation) {
  const auto request = request_of(invocation);
  if (!request.ok()) return report(invocation, kVerb, request.error());
  const auto outline = outline_probe(invocation.environment, *request);
  if (!outline.ok()) return report(invocation, kVerb, outline.error());
  if (invocation.has("--dry-run")) {
    print_answer(invocation, outline_text(*outline, *request, invocation.out_terminal));
    return kExitOk;
  }
  say(invocation, outline_text(*outline, *request, invocation.err_terminal));
  std::optional<ProbeReport> found;
  {
    ProgressBar bar("probing", invocation.err_terminal, invocation.err);
    auto probed =
        probe_network(invocation.environment, *request, [&](double done) { bar.show(done); });
    if (!probed.ok()) return report(invocation, kVerb, probed.error());
    found = std::move(*probed);
  }
  print_warnings(invocation, found->warnings);
  const Date today = date_at(invocation.environment.clock->now());
  if (invocation.output() == "json") {
    print_answer(invocation, to_text(probe_json(*found, today), JsonStyle::kPretty) + "\n");
  } else {
    print_answer(invocation, probe_text(*found, today, invocation.out_terminal));
  }
  if (found->not_folded) return report(invocation, kVerb, *found->not_folded);
  if (invocation.output() == "json") return kExitOk;
  if (!request->fold.empty()) {
    say(invocation, fmt::format("Predict with this calibration: stint predict --calibration {} "
                                "--cluster {} --job paced-5mb",
                                shell_quoted(request->fold), shell_quoted(request->cluster)));
  } else {
    say(invocation,
        "To use the result, add --fold FILE, or --out FILE for 'stint calibrate buckets'.");
  }
  return kExitOk;
}

}  // namespace

Verb probe_network_verb() {
  return {
      .path = kVerb,
      .group = VerbGroup::kMeasure,
      .summary = "Measure all-reduce times by size, VMs, pair and time.",
      .details =
          "Creates the cluster on the emulated cloud, all-reduces tensors over some of its VMs "
          "with PyTorch's Gloo as DistributedDataParallel does, and compares with the calibration. "
          "Measures every pair of VMs (28 at most) in several rounds, to separate differences "
          "between pairs from changes over time.",
      .options =
          {{.name = "--cluster", .value = "TEXT", .help = "VMs of the cluster: '8x local.large'."},
           {.name = "--on",
            .value = "PROVIDER",
            .help = "Provider (default: local, the emulated cloud).",
            .choices = {"local"}},
           {.name = "--sizes",
            .value = "LIST",
            .help = "Tensor sizes (default: 1MB,5MB,25MB).",
            .list = true},
           {.name = "--vms",
            .value = "LIST",
            .help = "Numbers of VMs (default: 2, 4, 8 … and all).",
            .list = true},
           {.name = "--rounds", .value = "N", .help = "Rounds of all measurements (default: 3)."},
           {.name = "--repeats",
            .value = "N",
            .help = "Repetitions of each all-reduce in a round (default: 3)."},
           {.name = "--every",
            .value = "TIME",
            .help = "Interval between the starts of rounds, to see changes over a longer time."},
           {.name = "--calibration",
            .value = "NAME|FILE",
            .help = "Calibration to compare with, and to fold into (default: local)."},
           {.name = "--fold",
            .value = "FILE",
            .help = "Output file for the calibration, with the probe folded in."},
           {.name = "--out",
            .value = "FILE",
            .help = "File to append the measurements to (stint.measurement/1)."},
           {.name = "--python",
            .value = "PROGRAM",
            .help = "Interpreter with torch (default: /usr/bin/python3)."},
           {.name = "--dry-run",
            .help = "Print the measurements and their duration without measuring."}},
      .outputs = {"table", "json"},
      .examples = {{"stint probe network --cluster '4x local.large'",
                    "Error of the shipped calibration on this computer."},
                   {"stint probe network --cluster '8x local.large' --fold lab.json",
                    "Fold the probe into a calibration."},
                   {"stint probe network --cluster '8x local.small' --rounds 6 --every 10min",
                    "Six rounds over an hour."}},
      .run = run};
}

}  // namespace stint::cli
