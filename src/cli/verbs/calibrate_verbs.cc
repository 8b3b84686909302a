#include <fmt/format.h>

#include "app/calibrate/bucket_runs.h"
#include "app/calibrate/calibrate_case.h"
#include "base/table.h"
#include "base/text.h"
#include "base/unit_text.h"
#include "cli/verbs/options.h"
#include "cli/verbs/verb_list.h"
#include "validate/validate_iteration.h"

namespace stint::cli {
namespace {

std::string number(const std::optional<double>& value, const char* otherwise = "") {
  return value ? fmt::format("{:.3f}", *value) : otherwise;
}

bool is_free_sharing(const Constant& constant) {
  return constant.scope.starts_with("free sharing");
}

bool of_all_jobs(const Constant& constant) {
  const std::string& scope = constant.scope;
  return scope == "fabric" || scope == "devices" || scope == "buckets" || is_free_sharing(constant);
}

/// The constants of a GPU are called alike for each.
std::string name_in_table(const Constant& constant) {
  const std::size_t colon = constant.scope.find(": ");
  if (!is_free_sharing(constant) || colon == std::string::npos) return constant.name;
  return fmt::format("{} ({})", constant.name, constant.scope.substr(colon + 2));
}

/// The constants that hold for all jobs.
std::string constant_table(const Calibration& calibration, const Terminal& terminal) {
  Table table({{.title = "constant", .importance = 9},
               {.title = "value", .align = Align::kRight, .importance = 8},
               {.title = "deviation", .align = Align::kRight, .importance = 6},
               {.title = "prior", .align = Align::kRight, .importance = 5},
               {.title = "unit", .importance = 3},
               {.title = "told by the data", .importance = 7}});
  for (const Constant& constant : calibration.constants) {
    if (!of_all_jobs(constant)) continue;
    const std::string prior = constant.prior_deviation
                                  ? fmt::format("{:.2f} ± {:.2f}", constant.prior_mean.value_or(0),
                                                *constant.prior_deviation)
                                  : "";
    table.add({name_in_table(constant), number(constant.value), number(constant.deviation), prior,
               constant.unit, constant.identified ? "yes" : "no"});
  }
  return table.text(terminal);
}

ExitCode print_calibration(const Invocation& invocation, const Calibration& calibration) {
  if (invocation.output() == "json") {
    print_answer(invocation, write_calibration(calibration));
    return kExitOk;
  }
  print_answer(invocation, constant_table(calibration, invocation.out_terminal));
  const AccuracyRecord& mean = calibration.accuracy.back();
  const bool by_size = mean.split == "leave-one-cluster-size-out";
  say(invocation, fmt::format("{} left out in turn: {:.1f} % mean error, {:.1f} % median, {} "
                              "rows ({}).",
                              by_size ? "Cluster sizes" : "Jobs", 100 * mean.mape,
                              100 * mean.median_ape, mean.n, mean.name));
  return kExitOk;
}

CalibrateRequest to_request(const Invocation& invocation) {
  return {.train = invocation.list("--train"),
          .jobs = invocation.get("--jobs"),
          .name = invocation.get("--name"),
          .provenance = invocation.get("--provenance"),
          .out = invocation.get("--out")};
}

ExitCode fabric(const Invocation& invocation) {
  constexpr const char* kVerb = "calibrate fabric";
  const auto format = format_of(invocation);
  if (!format.ok()) return report(invocation, kVerb, format.error());
  CalibrateRequest request = to_request(invocation);
  request.format = *format;
  if (invocation.has("--network")) {
    const auto network = parse_quantity<BytesPerSecond>(invocation.get("--network"));
    if (!network.ok()) {
      return report(invocation, kVerb, bad_usage("--network: " + network.error().message));
    }
    if (*network <= BytesPerSecond{}) {
      return report(invocation, kVerb, bad_usage("--network must be more than zero"));
    }
    request.network = *network;
  }
  const auto calibration = calibrate_fabric(invocation.environment, request, left_out_accuracy);
  if (!calibration.ok()) return report(invocation, kVerb, calibration.error());
  print_calibration(invocation, *calibration);
  if (!request.out.empty()) {
    say(invocation, fmt::format("Use it: stint predict --calibration {} …", request.out));
  }
  return kExitOk;
}

ExitCode devices(const Invocation& invocation) {
  const auto calibration = calibrate_devices(invocation.environment, to_request(invocation));
  if (!calibration.ok()) return report(invocation, "calibrate devices", calibration.error());
  return print_calibration(invocation, *calibration);
}

ExitCode buckets(const Invocation& invocation) {
  const auto calibration =
      calibrate_buckets(invocation.environment, {.train = invocation.list("--train"),
                                                 .jobs = invocation.get("--jobs"),
                                                 .name = invocation.get("--name"),
                                                 .provenance = invocation.get("--provenance"),
                                                 .out = invocation.get("--out"),
                                                 .onto = invocation.get("--onto")});
  if (!calibration.ok()) return report(invocation, "calibrate buckets", calibration.error());
  return print_calibration(invocation, *calibration);
}

ExitCode sharing(const Invocation& invocation) {
  const auto calibration = calibrate_sharing(invocation.environment, to_request(invocation));
  if (!calibration.ok()) return report(invocation, "calibrate sharing", calibration.error());
  return print_calibration(invocation, *calibration);
}

std::vector<OptionSpec> file_options() {
  return {{.name = "--name", .value = "NAME", .help = "What to call the calibration."},
          {.name = "--provenance",
           .value = "TEXT",
           .help = "Where the rows can be had; kept in the file."},
          {.name = "--out", .value = "FILE", .help = "Write the calibration here."}};
}

Verb fabric_verb() {
  std::vector<OptionSpec> options{
      format_option(),
      train_option(),
      jobs_option(),
      {.name = "--network",
       .value = "RATE",
       .help = "Of the VMs that were measured (default: by the catalogue for our own runs, else 50 "
               "Gbit/s)."}};
  for (OptionSpec& option : file_options()) options.push_back(std::move(option));
  return {.path = "calibrate fabric",
          .summary = "Learn how a cluster's network and hosts behave from measured iterations.",
          .details =
              "Fits the constants of a fabric, shared by all jobs, and each job's own around them. "
              "What the data cannot tell stays at its prior. The result holds the constants with "
              "their covariance, what they were fitted to, and the error on jobs left out.",
          .options = std::move(options),
          .outputs = {"table", "json"},
          .examples = {{"stint calibrate fabric --format pollux --train steps.csv --name aws",
                        "From a published table."},
                       {"stint calibrate fabric --format stint --train runs.jsonl --name lab",
                        "From your own runs."}},
          .run = fabric};
}

Verb devices_verb() {
  std::vector<OptionSpec> options{{.name = "--train",
                                   .value = "FORMAT:FILE...",
                                   .help = "Tables to learn from, each with whose it is.",
                                   .files = true}};
  for (OptionSpec& option : file_options()) options.push_back(std::move(option));
  return {.path = "calibrate devices",
          .summary = "Learn how times carry over from one GPU to another.",
          .details =
              "Takes every job that was measured on two GPUs with one worker and the same batch, "
              "and fits how much of the ratio follows peak arithmetic and how much memory "
              "bandwidth. The error is that of jobs left out.",
          .options = std::move(options),
          .outputs = {"table", "json"},
          .examples = {{"stint calibrate devices --train gavel:isolated.csv --name mine",
                        "From a published table."},
                       {"stint calibrate devices --train gavel:a.csv cmdare:b.csv --name both",
                        "From two."}},
          .run = devices};
}

Verb buckets_verb() {
  std::vector<OptionSpec> options{
      train_option(),
      jobs_option(),
      {.name = "--onto",
       .value = "NAME|FILE",
       .help = "Fold them into this calibration, with all that it knows (default: none)."}};
  for (OptionSpec& option : file_options()) options.push_back(std::move(option));
  return {
      .path = "calibrate buckets",
      .summary = "Learn a network on which every bucket of gradients can be followed.",
      .details =
          "For an emulated or a well-kept private network, whose NICs do what they are rated "
          "for: fits what a ring takes beyond its formula to measured runs and to the sums of "
          "'stint probe network' (both stint.measurement/1), on mixed clusters too. The error "
          "is that of cluster sizes left out. Jobs need profiles with compute times.",
      .options = std::move(options),
      .outputs = {"table", "json"},
      .examples = {{"stint calibrate buckets --train runs.jsonl --name lab --out lab.json",
                    "From your own runs."},
                   {"stint calibrate buckets --train probe.jsonl --onto local --name lab -o json",
                    "A probe on top of what is shipped, for a program to read."}},
      .run = buckets};
}

Verb sharing_verb() {
  std::vector<OptionSpec> options{train_option()};
  for (OptionSpec& option : file_options()) options.push_back(std::move(option));
  return {.path = "calibrate sharing",
          .summary = "Learn what two jobs get of a GPU that they share freely.",
          .details =
              "Takes Gavel's tables of pairs on one GPU and of jobs alone, told apart by their "
              "headers, and fits the share that jobs get which were measured beside none. The "
              "error is that of pairs whose jobs were both left out.",
          .options = std::move(options),
          .outputs = {"table", "json"},
          .examples = {{"stint calibrate sharing --train pairs.csv alone.csv --name mine",
                        "From published tables."},
                       {"stint calibrate sharing --train pairs.csv --name mine --out mine.json",
                        "Keep it."}},
          .run = sharing};
}

}  // namespace

std::vector<Verb> calibrate_verbs() {
  return {fabric_verb(), devices_verb(), buckets_verb(), sharing_verb()};
}

}  // namespace stint::cli
