#include <fmt/format.h>

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
  for (const std::string& text : invocation.list("--vms")) {
    const auto count = parse_int(text);
    if (!count) {
      return bad_usage(fmt::format("--vms must be whole numbers, not '{}'", printable(text)));
    }
    request.counts.push_back(*count);
  }
  return {};
}

Result<ProbeRequest> request_of(const Invocation& invocation) {
  if (!invocation.has("--cluster")) {
    return bad_usage(
        "--cluster is missing. For example: stint probe network --cluster '4x local.large'");
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
    say(invocation, fmt::format("Use it: stint predict --calibration {} --cluster {} --job …",
                                shell_quoted(request->fold), shell_quoted(request->cluster)));
  } else {
    say(invocation, "Learn from it: add --fold FILE, or --out FILE for 'stint calibrate buckets'.");
  }
  return kExitOk;
}

}  // namespace

Verb probe_network_verb() {
  return {
      .path = kVerb,
      .summary = "Measure sums of gradients over a network, by size, VMs, pair and time.",
      .details =
          "Makes the cluster on the emulated cloud, sums tensors over some of its VMs with the "
          "Gloo of PyTorch as DistributedDataParallel does, and compares with what the calibration "
          "expects. Every pair of VMs (28 at most) is tried, and all of it in several rounds, so "
          "that what differs between pairs is told from what changes with time.",
      .options =
          {{.name = "--cluster", .value = "TEXT", .help = "The VMs: '8x local.large'."},
           {.name = "--on",
            .value = "PROVIDER",
            .help = "Where (default: local, the emulated cloud).",
            .choices = {"local"}},
           {.name = "--sizes",
            .value = "LIST",
            .help = "What to sum (default: 1MB,5MB,25MB).",
            .list = true},
           {.name = "--vms",
            .value = "LIST",
            .help = "Over how many of the VMs (default: 2, 4, 8 … and all).",
            .list = true},
           {.name = "--rounds", .value = "N", .help = "Of everything (default: 3)."},
           {.name = "--repeats", .value = "N", .help = "Of each sum in a round (default: 3)."},
           {.name = "--every",
            .value = "TIME",
            .help = "From the start of a round to the next, to see change over a longer time."},
           {.name = "--calibration",
            .value = "NAME|FILE",
            .help = "Compare with this, and fold into it (default: local)."},
           {.name = "--fold",
            .value = "FILE",
            .help = "Write the calibration here, with the probe in it."},
           {.name = "--out",
            .value = "FILE",
            .help = "Append the measurements here (stint.measurement/1)."},
           {.name = "--python",
            .value = "PROGRAM",
            .help = "An interpreter with torch (default: /usr/bin/python3)."},
           {.name = "--dry-run", .help = "Say what would be measured and how long it takes."}},
      .outputs = {"table", "json"},
      .examples = {{"stint probe network --cluster '4x local.large'",
                    "See how far the shipped calibration is off on this computer."},
                   {"stint probe network --cluster '8x local.large' --fold lab.json",
                    "Learn from it."},
                   {"stint probe network --cluster '8x local.small' --rounds 6 --every 10min",
                    "Over an hour."}},
      .run = run};
}

}  // namespace stint::cli
