#include <fmt/format.h>

#include "app/calibrate/benchmark_case.h"
#include "app/calibrate/bucket_runs.h"
#include "app/calibrate/calibrate_case.h"
#include "app/calibrate/calibrate_collectives.h"
#include "app/calibrate/calibrate_memory.h"
#include "app/calibrate/calibrate_prices.h"
#include "app/calibrate/calibrate_sharded.h"
#include "app/calibrate/device_model_case.h"
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

bool is_price(const Constant& constant) { return constant.scope.starts_with("price: "); }

bool is_sharded(const Constant& constant) { return constant.scope.starts_with("sharded"); }

bool is_collective(const Constant& constant) { return constant.scope.starts_with("collectives"); }

bool is_memory(const Constant& constant) { return constant.scope == kShardedMemoryScope; }

bool of_all_jobs(const Constant& constant) {
  const std::string& scope = constant.scope;
  const bool one = scope == "fabric" || scope == "devices" || scope == "buckets" ||
                   scope == "accelerators" || scope == "sharded";
  return one || is_free_sharing(constant) || is_collective(constant) || is_price(constant) ||
         is_memory(constant);
}

/// The constants of a GPU or a link are called alike for each.
std::string name_in_table(const Constant& constant) {
  const std::size_t colon = constant.scope.find(": ");
  const bool alike = is_free_sharing(constant) || is_collective(constant) || is_price(constant);
  if (!alike || colon == std::string::npos) return constant.name;
  return fmt::format("{} ({})", constant.name, constant.scope.substr(colon + 2));
}

/// Latencies of microseconds, and variances of a day, need significant digits.
void add_small(Table& table, const Constant& constant) {
  const auto text = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.3g}", *value) : "";
  };
  const std::string prior =
      constant.prior_deviation
          ? fmt::format("{} ± {}", text(constant.prior_mean), text(constant.prior_deviation))
          : "";
  table.add({name_in_table(constant), text(constant.value), text(constant.deviation), prior,
             constant.unit, constant.identified ? "yes" : "no"});
}

/// The constants that hold for all jobs.
std::string constant_table(const Calibration& calibration, const Terminal& terminal) {
  Table table({{.title = "constant", .importance = 9},
               {.title = "value", .align = Align::kRight, .importance = 8},
               {.title = "deviation", .align = Align::kRight, .importance = 6},
               {.title = "prior", .align = Align::kRight, .importance = 5},
               {.title = "unit", .importance = 3},
               {.title = "set by the data", .importance = 7}});
  for (const Constant& constant : calibration.constants) {
    if (!of_all_jobs(constant)) continue;
    if (is_collective(constant) || is_price(constant) || is_memory(constant) ||
        is_sharded(constant)) {
      add_small(table, constant);
      continue;
    }
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
  if (calibration.accuracy.empty()) return kExitOk;
  const AccuracyRecord& mean = calibration.accuracy.back();
  const char* held_out = mean.split == "leave-one-cluster-size-out" ? "Cluster sizes"
                         : mean.split == "leave-one-table-out"      ? "Tables"
                         : mean.split == "leave-one-system-out"     ? "Systems"
                         : mean.split == "leave-one-gpu-out"        ? "GPUs"
                                                                    : "Jobs";
  say(invocation,
      fmt::format("{} held out in turn: {:.1f} % mean error, {:.1f} % median, {} rows ({}).",
                  held_out, 100 * mean.mape, 100 * mean.median_ape, mean.n, mean.name));
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
  CalibrateRequest request = to_request(invocation);
  const auto facts = fabric_of(invocation);
  if (!facts.ok()) return report(invocation, kVerb, facts.error());
  request.fabric = *facts;
  request.onto = invocation.get("--onto");
  const auto fitted = [&]() -> Result<Calibration> {
    for (const auto& [format, name] : names_of(ScalingFormat{})) {
      if (invocation.get("--format") != name) continue;
      return calibrate_benchmarks(invocation.environment, format, request);
    }
    const auto format = format_of(invocation);
    if (!format.ok()) return format.error();
    request.format = *format;
    return calibrate_fabric(invocation.environment, request, left_out_accuracy);
  };
  const auto calibration = fitted();
  if (!calibration.ok()) return report(invocation, kVerb, calibration.error());
  print_calibration(invocation, *calibration);
  if (!request.out.empty()) {
    say(invocation, fmt::format("Predict with it: stint predict --calibration {} --model "
                                "resnet50 --cluster '4x g4dn.12xlarge'",
                                shell_quoted(request.out)));
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

ExitCode collectives(const Invocation& invocation) {
  const auto calibration = calibrate_collectives(invocation.environment, to_request(invocation));
  if (!calibration.ok()) return report(invocation, "calibrate collective", calibration.error());
  return print_calibration(invocation, *calibration);
}

ExitCode memory(const Invocation& invocation) {
  const auto calibration = calibrate_memory(invocation.environment, to_request(invocation));
  if (!calibration.ok()) return report(invocation, "calibrate memory", calibration.error());
  return print_calibration(invocation, *calibration);
}

ExitCode prices(const Invocation& invocation) {
  const auto calibration = calibrate_prices(invocation.environment, to_request(invocation));
  if (!calibration.ok()) return report(invocation, "calibrate prices", calibration.error());
  return print_calibration(invocation, *calibration);
}

ExitCode sharded(const Invocation& invocation) {
  const auto calibration = calibrate_sharded(invocation.environment, to_request(invocation));
  if (!calibration.ok()) return report(invocation, "calibrate sharded", calibration.error());
  return print_calibration(invocation, *calibration);
}

ExitCode device_model(const Invocation& invocation) {
  const auto calibration = calibrate_device_model(invocation.environment, to_request(invocation));
  if (!calibration.ok()) return report(invocation, "calibrate device-model", calibration.error());
  return print_calibration(invocation, *calibration);
}

std::vector<OptionSpec> file_options() {
  return {
      {.name = "--name", .value = "NAME", .help = "Name of the calibration."},
      {.name = "--provenance", .value = "TEXT", .help = "Source of the rows, stored in the file."},
      {.name = "--out", .value = "FILE", .help = "Output file for the calibration."}};
}

Verb fabric_verb() {
  OptionSpec format = format_option();
  for (const auto& name : choices_of<ScalingFormat>()) format.choices.push_back(name);
  std::vector<OptionSpec> options{
      std::move(format),
      train_option(),
      jobs_option(),
      {.name = "--onto",
       .value = "NAME|FILE",
       .help = "Calibration of another network to start from (default: physics)."}};
  for (OptionSpec& option : fabric_options()) options.push_back(std::move(option));
  for (OptionSpec& option : file_options()) options.push_back(std::move(option));
  return {.path = "calibrate fabric",
          .group = VerbGroup::kMeasure,
          .summary = "Fit the constants of a network to measured iterations.",
          .details =
              "Fits constants that all jobs share, and each job's own around them. Constants that "
              "the data cannot determine stay at their prior: what physics says of a network of "
              "this rate and transport, or what --onto found elsewhere. All-reduces of 'stint "
              "probe network --out' (--format stint) correct it first. The result has the "
              "constants with their covariance, the training rows and the error on held-out jobs.",
          .options = std::move(options),
          .outputs = {"table", "json"},
          .examples = {{"stint calibrate fabric --format pollux --train steps.csv --name aws",
                        "From a published table."},
                       {"stint calibrate fabric --format stint --train runs.jsonl --name lab",
                        "From your own runs."},
                       {"stint calibrate fabric --format stint --train probe.jsonl --name lab",
                        "From a probe of the network alone."}},
          .run = fabric};
}

Verb devices_verb() {
  std::vector<OptionSpec> options{{.name = "--train",
                                   .value = "FORMAT:FILE...",
                                   .help = "Training tables, each with its format.",
                                   .files = true}};
  for (OptionSpec& option : file_options()) options.push_back(std::move(option));
  return {
      .path = "calibrate devices",
      .group = VerbGroup::kMeasure,
      .summary = "Fit how compute times carry over between GPU types.",
      .details =
          "Takes every job that was measured on two GPU types with one worker and the same "
          "batch size. Fits how much of the ratio follows peak arithmetic and how much follows "
          "memory bandwidth. The error is that of held-out jobs. The formats are those of 'stint "
          "validate iteration', and zeus and mlperf of 'stint validate device'.",
      .options = std::move(options),
      .outputs = {"table", "json"},
      .examples = {{"stint calibrate devices --train gavel:isolated.csv --name mine",
                    "From a published table."},
                   {"stint calibrate devices --train gavel:a.csv cmdare:b.csv --name both",
                    "From two tables."}},
      .run = devices};
}

Verb sharded_verb() {
  std::vector<OptionSpec> options{{.name = "--train",
                                   .value = "FORMAT=FILE...",
                                   .help = "Training tables, each with its format.",
                                   .files = true}};
  for (OptionSpec& option : file_options()) options.push_back(std::move(option));
  return {.path = "calibrate sharded",
          .group = VerbGroup::kMeasure,
          .summary = "Fit the step of models that are split over GPUs.",
          .details =
              "Fits the constants of compute, links, overlap and pipelines to tables of published "
              "training steps, with an effect of each GPU, table, model and version of the "
              "software. The formats are those of 'stint validate iteration' for sharded models, "
              "and dgxc.",
          .options = std::move(options),
          .outputs = {"table", "json"},
          .examples = {{"stint calibrate sharded --train vtrain=a.csv bloom=b.csv --name mine",
                        "From two tables."},
                       {"stint calibrate sharded --train vtrain=a.csv --name mine -o json",
                        "The constants as JSON."}},
          .run = sharded};
}

Verb device_model_verb() {
  std::vector<OptionSpec> options{train_option()};
  for (OptionSpec& option : file_options()) options.push_back(std::move(option));
  return {
      .path = "calibrate device-model",
      .group = VerbGroup::kMeasure,
      .summary = "Fit the time of operators on any GPU.",
      .details =
          "Reads NeuSight's tables of latencies, GPUs and models, recognised by their headers. "
          "Fits the shares of peak arithmetic and of memory bandwidth that classes of "
          "operators reach, and the difference of each GPU. The error is that of held-out "
          "GPUs.",
      .options = std::move(options),
      .outputs = {"table", "json"},
      .examples = {{"stint calibrate device-model --train t.csv gpus.csv models.csv --name mine",
                    "From published tables."},
                   {"stint calibrate device-model --train t.csv gpus.csv models.csv --name x -o "
                    "json",
                    "The constants as JSON."}},
      .run = device_model};
}

Verb buckets_verb() {
  std::vector<OptionSpec> options{
      train_option(),
      jobs_option(),
      {.name = "--onto",
       .value = "NAME|FILE",
       .help = "Calibration to fold the measurements into (default: none)."}};
  for (OptionSpec& option : file_options()) options.push_back(std::move(option));
  return {
      .path = "calibrate buckets",
      .group = VerbGroup::kMeasure,
      .summary = "Fit a network model that follows every gradient bucket.",
      .details =
          "For an emulated or a private network whose NICs reach their rated speed. Fits the "
          "overhead of a ring over its formula to measured runs and to the all-reduces of 'stint "
          "probe network' (both stint.measurement/1), also on mixed clusters. The error is that of "
          "held-out cluster sizes. Jobs need profiles with compute times.",
      .options = std::move(options),
      .outputs = {"table", "json"},
      .examples = {{"stint calibrate buckets --train runs.jsonl --name lab --out lab.json",
                    "From your own runs."},
                   {"stint calibrate buckets --train probe.jsonl --onto local --name lab -o json",
                    "A probe on top of the shipped calibration, as JSON."}},
      .run = buckets};
}

Verb sharing_verb() {
  std::vector<OptionSpec> options{train_option()};
  for (OptionSpec& option : file_options()) options.push_back(std::move(option));
  return {.path = "calibrate sharing",
          .group = VerbGroup::kMeasure,
          .summary = "Fit the speed of two jobs that share a GPU.",
          .details =
              "Reads Gavel's tables of pairs on one GPU and of jobs alone, recognised by their "
              "headers, and fits the share of jobs that no pair was measured with. The error is "
              "that of pairs whose two jobs were both held out.",
          .options = std::move(options),
          .outputs = {"table", "json"},
          .examples = {{"stint calibrate sharing --train pairs.csv alone.csv --name mine",
                        "From published tables."},
                       {"stint calibrate sharing --train pairs.csv --name mine --out mine.json",
                        "Write the calibration to a file."}},
          .run = sharing};
}

Verb collectives_verb() {
  std::vector<OptionSpec> options{train_option()};
  for (OptionSpec& option : file_options()) options.push_back(std::move(option));
  return {.path = "calibrate collective",
          .group = VerbGroup::kMeasure,
          .summary = "Fit the physical law of collectives to published tables.",
          .details =
              "Reads tables of collectives by SimAI, ml-engineering, Aceso, vTrain and nccl-tests, "
              "recognised by their headers. Fits latencies and efficiencies of links inside and "
              "between VMs, and their spread between systems. The error is that of each table "
              "predicted from the others.",
          .options = std::move(options),
          .outputs = {"table", "json"},
          .examples = {{"stint calibrate collective --train a.csv b.csv --name mine",
                        "From published tables."},
                       {"stint calibrate collective --train a.csv --name mine --out mine.json",
                        "Write the calibration to a file."}},
          .run = collectives};
}

Verb memory_verb() {
  std::vector<OptionSpec> options{train_option()};
  for (OptionSpec& option : file_options()) options.push_back(std::move(option));
  return {.path = "calibrate memory",
          .group = VerbGroup::kMeasure,
          .summary = "Fit the memory of sharded layouts to published tables.",
          .details =
              "Reads tables of layouts and the peak memory of a worker, each named as FORMAT=FILE "
              "with bloom, nanotron, fsdp-tables or sailor as the format. Fits what activations, "
              "logits, libraries and the allocator take over what is counted, and their spread "
              "between frameworks. The error is that of each table predicted from the others.",
          .options = std::move(options),
          .outputs = {"table", "json"},
          .examples = {{"stint calibrate memory --train bloom=b.csv nanotron=n.csv --name mine",
                        "From published tables."},
                       {"stint calibrate memory --train bloom=b.csv --name mine --out mine.json",
                        "Write the calibration to a file."}},
          .run = memory};
}

Verb prices_verb() {
  std::vector<OptionSpec> options{train_option()};
  for (OptionSpec& option : file_options()) options.push_back(std::move(option));
  return {
      .path = "calibrate prices",
      .group = VerbGroup::kMeasure,
      .summary = "Fit how spot prices move with time.",
      .details =
          "Reads tables of dated spot prices of AWS (zone, time_utc) or Azure (region, date_mdy), "
          "recognised by their headers. Fits the variance of ln price that a day adds, from "
          "changes over 1 to 56 days. What no table covers stays as shipped: the spread after "
          "many years, and on-demand prices.",
      .options = std::move(options),
      .outputs = {"table", "json"},
      .examples = {{"stint calibrate prices --train aws_prices.csv --name mine",
                    "From a published table."},
                   {"stint calibrate prices --train a.csv b.csv --name mine --out mine.json",
                    "Write the calibration to a file."}},
      .run = prices};
}

}  // namespace

std::vector<Verb> calibrate_verbs() {
  return {fabric_verb(),      devices_verb(), device_model_verb(), buckets_verb(), sharing_verb(),
          collectives_verb(), memory_verb(),  prices_verb(),       sharded_verb()};
}

}  // namespace stint::cli
