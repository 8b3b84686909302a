#include <algorithm>
#include <fmt/format.h>

#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/render/render_validation.h"
#include "cli/verbs/options.h"
#include "cli/verbs/verb_list.h"
#include "cli/views/import_views.h"
#include "validate/sharded/validate_sharded.h"
#include "validate/validate_iteration.h"
#include "validate/validate_scaling.h"

namespace stint::cli {
namespace {

constexpr const char* kLegend =
    "Error = |predicted - measured| / measured of the step time;\nthe 80 % interval should cover "
    "80 % of the measurements.";

Result<int> count_option(const Invocation& invocation, const std::string& option, int otherwise) {
  const auto count = count_of(invocation, option);
  if (!count.ok()) return count.error();
  return count->value_or(otherwise);
}

/// `a` and what `b` has beside it.
std::vector<std::string> joined(std::vector<std::string> a, const std::vector<std::string>& b) {
  for (const std::string& name : b) {
    if (std::find(a.begin(), a.end(), name) == a.end()) a.push_back(name);
  }
  return a;
}

bool is_among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The baselines by name; those of other formats are a usage error.
template <ANamedEnum Kind>
Result<std::vector<Kind>> baselines_of(const Invocation& invocation) {
  std::vector<Kind> kinds;
  for (const std::string& name : invocation.list("--baseline")) {
    if (!is_among(choices_of<Kind>(), name)) {
      return bad_usage(fmt::format("--baseline {} does not apply to --format {}; it has {}", name,
                                   invocation.get("--format"), join(choices_of<Kind>(), ", ")));
    }
    kinds.push_back(enumerator<Kind>(name));
  }
  return kinds;
}

/// A program asks for one model; a person sees ours beside others, perfect scaling at least.
bool shows_perfect(const Invocation& invocation) {
  return invocation.output() != "json" && !invocation.has("--baseline") &&
         !invocation.has("--predictions");
}

bool is_scaling(const Invocation& invocation) {
  return is_among(choices_of<ScalingFormat>(), invocation.get("--format"));
}

bool is_sharded(const Invocation& invocation) {
  return !is_scaling(invocation) &&
         is_among(choices_of<ShardedFormat>(), invocation.get("--format"));
}

/// A usage error when an option is given that the format has no use for.
Status without_options(const Invocation& invocation, std::initializer_list<const char*> options) {
  for (const char* option : options) {
    if (invocation.has(option)) {
      return bad_usage(
          fmt::format("{} does not apply to --format {}", option, invocation.get("--format")));
    }
  }
  return {};
}

Result<ShardedRequest> to_sharded_request(const Invocation& invocation) {
  const Status fine =
      without_options(invocation, {"--jobs", "--probes", "--network", "--transport", "--inside"});
  if (!fine.ok()) return fine.error();
  const auto baselines = baselines_of<ShardedBaseline>(invocation);
  if (!baselines.ok()) return baselines.error();
  if (invocation.has("--calibration") && invocation.get("--calibration") != "bundled") {
    return bad_usage(fmt::format("--calibration must be bundled with --format {}, not '{}'",
                                 invocation.get("--format"),
                                 printable(invocation.get("--calibration"))));
  }
  ShardedRequest request{.format = enumerator<ShardedFormat>(invocation.get("--format")),
                         .train = invocation.list("--train"),
                         .test = invocation.list("--test"),
                         .split = invocation.get("--split"),
                         .priors = invocation.list("--prior"),
                         .bundled = invocation.has("--calibration"),
                         .predictions = invocation.get("--predictions"),
                         .baselines = *baselines};
  request.only_baselines = invocation.output() == "json" && !request.baselines.empty();
  if (shows_perfect(invocation)) request.baselines.push_back(ShardedBaseline::kPerfect);
  return request;
}

Result<ScalingRequest> to_scaling_request(const Invocation& invocation) {
  const Status fine = without_options(invocation, {"--jobs", "--probes"});
  if (!fine.ok()) return fine.error();
  const auto baselines = baselines_of<ScalingBaseline>(invocation);
  if (!baselines.ok()) return baselines.error();
  const auto fabric = fabric_of(invocation);
  if (!fabric.ok()) return fabric.error();
  ScalingRequest request{.format = enumerator<ScalingFormat>(invocation.get("--format")),
                         .train = invocation.list("--train"),
                         .test = invocation.list("--test"),
                         .split = invocation.get("--split"),
                         .priors = invocation.list("--prior"),
                         .fabric = *fabric,
                         .calibration = invocation.get("--calibration"),
                         .predictions = invocation.get("--predictions"),
                         .baselines = *baselines};
  for (const char* option : {"--network", "--transport", "--inside", "--calibration"}) {
    request.by_network = request.by_network || invocation.has(option);
  }
  request.only_baselines = invocation.output() == "json" && !request.baselines.empty();
  if (shows_perfect(invocation)) request.baselines.push_back(ScalingBaseline::kPerfect);
  return request;
}

OptionSpec iteration_format() {
  OptionSpec format = format_option();
  format.choices = joined(format.choices, choices_of<ScalingFormat>());
  format.choices = joined(format.choices, choices_of<ShardedFormat>());
  return format;
}

Result<ValidateRequest> to_request(const Invocation& invocation) {
  if (!invocation.has("--format")) {
    return bad_usage("--format is required: the format of the tables, one of " +
                     join(iteration_format().choices, ", "));
  }
  const auto format = format_of(invocation);
  if (!format.ok()) return format.error();
  if (invocation.has("--prior")) {
    return bad_usage(fmt::format(
        "--prior does not apply to --format {}; it is for {}", invocation.get("--format"),
        join(joined(choices_of<ScalingFormat>(), choices_of<ShardedFormat>()), ", ")));
  }
  const auto fabric = fabric_of(invocation);
  if (!fabric.ok()) return fabric.error();
  ValidateRequest request{.format = *format,
                          .train = invocation.list("--train"),
                          .test = invocation.list("--test"),
                          .split = invocation.get("--split"),
                          .jobs = invocation.get("--jobs"),
                          .fabric = *fabric,
                          .calibration = invocation.get("--calibration"),
                          .predictions = invocation.get("--predictions")};
  const auto baselines = baselines_of<BaselineKind>(invocation);
  if (!baselines.ok()) return baselines.error();
  request.baselines = *baselines;
  request.only_baselines = invocation.output() == "json" && !request.baselines.empty();
  if (shows_perfect(invocation)) request.baselines.push_back(BaselineKind::kPerfect);
  if (invocation.has("--probes")) {
    const auto probes = count_option(invocation, "--probes", 0);
    if (!probes.ok()) return probes.error();
    request.probes = *probes;
  }
  return request;
}

void print_tables(const Invocation& invocation, const ValidateAnswer& answer) {
  std::vector<Validation> all{answer.ours};
  all.insert(all.end(), answer.baselines.begin(), answer.baselines.end());
  const Terminal& terminal = invocation.out_terminal;
  print_answer(invocation, validation_table(all, terminal));
  if (!answer.ours.groups.empty()) {
    std::vector<NamedScores> groups;
    for (const Validation& it : all) groups.push_back({it.baseline.value_or("stint"), it.groups});
    const char* title = is_scaling(invocation)   ? "group"
                        : is_sharded(invocation) ? "accelerator"
                                                 : "placement";
    print_answer(invocation, "\n" + score_table(title, groups, terminal));
  }
  if (const auto& repeats = answer.ours.repeats) {
    print_answer(
        invocation,
        fmt::format("\nRepeated measurements ({}) differ by {:.1f} % on average.\n",
                    counted(static_cast<std::size_t>(repeats->n), "row"), 100 * repeats->mape));
  }
}

Result<ValidateAnswer> answer_to(const Invocation& invocation) {
  if (is_scaling(invocation)) {
    const auto request = to_scaling_request(invocation);
    return request.ok() ? validate_scaling(*request) : request.error();
  }
  if (is_sharded(invocation)) {
    const auto request = to_sharded_request(invocation);
    return request.ok() ? validate_sharded(invocation.environment, *request) : request.error();
  }
  const auto request = to_request(invocation);
  return request.ok() ? validate_iteration(*request) : request.error();
}

ExitCode iteration(const Invocation& invocation) {
  constexpr const char* kVerb = "validate iteration";
  const auto answer = answer_to(invocation);
  if (!answer.ok()) return report(invocation, kVerb, answer.error());
  if (invocation.output() == "json") {
    const Validation& scored = answer->baselines.empty() ? answer->ours : answer->baselines.front();
    print_answer(invocation, write_validation(scored));
  } else {
    print_tables(invocation, *answer);
    for (const std::string& note : answer->ours.notes) say(invocation, "Note: " + note + ".");
    if (answer->ours.overall.n > 0) say(invocation, kLegend);
  }
  if (!answer->skipped.empty()) say(invocation, answer->skipped);
  if (invocation.has("--predictions")) {
    say(invocation, "Wrote the predictions to " + invocation.get("--predictions") + ".");
  }
  return kExitOk;
}

std::string placement(const StepRow& row) {
  std::vector<std::string> parts;
  for (const int count : row.workers_by_vm) parts.push_back(fmt::to_string(count));
  return join(parts, "-");
}

Json probes_json(const ProbesAnswer& answer) {
  ProbesView view;
  for (const auto& [job, rows] : answer.rows) view.rows[job].assign(rows.begin(), rows.end());
  return encoded(view);
}

void print_probes(const Invocation& invocation, const ProbesAnswer& answer) {
  Table table({{.title = "job", .importance = 9},
               {.title = "row", .align = Align::kRight, .importance = 9},
               {.title = "workers by VM", .importance = 8},
               {.title = "batch per worker", .align = Align::kRight, .importance = 7}});
  for (const auto& [job, rows] : answer.rows) {
    for (const std::size_t row : rows) {
      const StepRow& config = answer.configs[row];
      table.add({job, fmt::to_string(row), placement(config),
                 fmt::format("{:g}", config.batch_per_worker)});
    }
  }
  print_answer(invocation, table.text(invocation.out_terminal, "-o json"));
}

ExitCode probes(const Invocation& invocation) {
  const auto fail = [&](const Error& error) { return report(invocation, "probes", error); };
  const auto format = format_of(invocation);
  if (!format.ok()) return fail(format.error());
  const auto count = count_option(invocation, "--count", 4);
  if (!count.ok()) return fail(count.error());
  if (!invocation.has("--configs"))
    return fail(bad_usage("--configs is required: a table of setups"));
  const auto fabric = fabric_of(invocation);
  if (!fabric.ok()) return fail(fabric.error());
  const auto answer = choose_probes(ProbesRequest{.format = *format,
                                                  .train = invocation.list("--train"),
                                                  .configs = invocation.get("--configs"),
                                                  .jobs = invocation.get("--jobs"),
                                                  .fabric = *fabric,
                                                  .count = *count});
  if (!answer.ok()) return fail(answer.error());
  if (invocation.output() == "json") {
    print_answer(invocation, to_text(probes_json(*answer), JsonStyle::kPretty) + "\n");
  } else {
    print_probes(invocation, *answer);
  }
  for (const auto& [job, reason] : answer->unknown) {
    say(invocation, fmt::format("Note: no row of {} was chosen: {}.", job, reason));
  }
  if (answer->rows.empty()) {
    say(invocation, "There is no setup to choose from in " + invocation.get("--configs") + ".");
  } else if (invocation.output() == "table") {
    say(invocation, fmt::format("Measure these rows of {} first (rows count from 0), and add them "
                                "to the training file.",
                                invocation.get("--configs")));
  }
  return kExitOk;
}

std::vector<OptionSpec> with_fabric(std::vector<OptionSpec> options) {
  for (OptionSpec& option : fabric_options()) options.push_back(std::move(option));
  return options;
}

Verb iteration_verb() {
  return {
      .path = "validate iteration",
      .group = VerbGroup::kEvidence,
      .summary = "Score predicted iteration times.",
      .details =
          "Learns from the training rows, predicts the test rows and compares. The measured "
          "columns of a test file are used for scores only and may be missing. leave-one-job-out "
          "holds out each job in turn except its rows with one worker; max-gpus=N trains on up to "
          "N workers, max-vms=N on up to N VMs; gpu=NAME tests several workers of one GPU type. "
          "The formats mlperf and dgxc are benchmarks on clusters of several sizes: smallest=N "
          "trains on the N smallest clusters of each submitter, benchmark, accelerator and round "
          "and tests the larger ones; leave-one-submitter-out holds out each submitter. They are "
          "predicted by a law of their own; with --network, --transport, --inside or --calibration "
          "clusters are predicted from single VMs alone, by the law of the network. What --split "
          "holds out is held out of --prior too. The formats from vtrain to nemo are models that "
          "are split over workers, predicted by the law of sharded steps, which rows of --prior "
          "or --calibration bundled narrow before the training rows do; leave-one-layers-out, "
          "-hidden-out, -gpu-out and -date-out hold out each value in turn, max-seq=N trains on "
          "sequences of up to N tokens, folds=N holds out every N-th row.",
      .options = with_fabric(
          {iteration_format(),
           train_option(),
           {.name = "--test", .value = "FILE...", .help = "Tables to predict.", .files = true},
           {.name = "--split",
            .value = "HOW",
            .help = "Split instead of --test: leave-one-job-out, max-gpus=N, max-vms=N, gpu=NAME, "
                    "smallest=N, leave-one-submitter-out, or those of sharded models."},
           {.name = "--calibration",
            .value = "NAME",
            .help = "Calibration to begin with, carried over to the network of the tables: a file "
                    "or 'bundled' (default: physics alone)."},
           {.name = "--prior",
            .value = "FORMAT=FILE...",
            .help =
                "Tables of mlperf or dgxc whose rows join the training, or of sharded models that "
                "the constants begin with.",
            .files = true},
           jobs_option(),
           {.name = "--baseline",
            .value = "LIST",
            .help = "Baselines to score on the same rows; tables show all of them, JSON and "
                    "predictions the first.",
            .choices = joined(joined(choices_of<BaselineKind>(), choices_of<ScalingBaseline>()),
                              choices_of<ShardedBaseline>()),
            .list = true},
           {.name = "--probes",
            .value = "K",
            .help = "Rows of the held-out job that 'stint probes' chooses and that join the "
                    "training rows, with leave-one-job-out."},
           {.name = "--predictions",
            .value = "FILE",
            .help = "Output file for row,predicted,p10,p90,note of each test row, in seconds; rows "
                    "count from 0."}}),
      .outputs = {"table", "json"},
      .examples = {{"stint validate iteration --format pollux --train t.csv --split max-gpus=6",
                    "Clusters of more than 6 GPUs, predicted from smaller ones."},
                   {"stint validate iteration --format pollux --train a.csv --test b.csv",
                    "Rows of one table, predicted from those of another."},
                   {"stint validate iteration --format mlperf --train c.csv --split smallest=2",
                    "Larger clusters of a benchmark, predicted from the two smallest."},
                   {"stint validate iteration --format vtrain --train v.csv --split max-gpus=4",
                    "Models split over more than 4 GPUs, predicted from fewer."}},
      .run = iteration};
}

Verb probes_verb() {
  return {
      .path = "probes",
      .group = VerbGroup::kMeasure,
      .summary = "Choose the setups to measure first.",
      .details =
          "Reads a table of setups and ignores its measured columns. For each job, chooses the "
          "rows whose measurement leaves the least uncertainty about all rows.",
      .options = with_fabric(
          {format_option(),
           train_option(),
           {.name = "--configs", .value = "FILE", .help = "Table of setups to choose from."},
           {.name = "--count",
            .letter = "-k",
            .value = "K",
            .help = "Setups per job (default: 4)."},
           jobs_option()}),
      .outputs = {"table", "json"},
      .examples = {{"stint probes --format pollux --train measured.csv --configs planned.csv -k 4",
                    "Four setups for each job."},
                   {"stint probes --format pollux --train measured.csv --configs planned.csv -o "
                    "json",
                    "The same as JSON."}},
      .run = probes};
}

}  // namespace

std::vector<Verb> validate_verbs() { return {iteration_verb(), probes_verb()}; }

}  // namespace stint::cli
