#include <fmt/format.h>
#include <utility>

#include "base/text.h"
#include "cli/render/render_validation.h"
#include "cli/verbs/options.h"
#include "cli/verbs/verb_list.h"
#include "validate/validate_device.h"

namespace stint::cli {
namespace {

constexpr const char* kVerb = "validate device";

/// "FORMAT=FILE FILE…": a word that begins with a format applies it to itself and to those after.
Result<std::vector<PriorFile>> priors_of(const Invocation& invocation) {
  std::vector<PriorFile> priors;
  std::optional<DeviceTableFormat> format;
  for (std::string word : invocation.list("--prior")) {
    for (const auto& [value, name] : names_of(DeviceTableFormat{})) {
      if (!word.starts_with(std::string(name) + "=")) continue;
      format = value;
      word.erase(0, std::string_view(name).size() + 1);
      break;
    }
    if (!format || word.empty()) {
      return bad_usage(fmt::format("--prior must be FORMAT=FILE with a format of {}, not '{}'",
                                   join(choices_of<DeviceTableFormat>(), ", "), printable(word)));
    }
    priors.push_back({.format = *format, .file = word});
  }
  return priors;
}

Result<DeviceRequest> to_request(const Invocation& invocation) {
  if (!invocation.has("--format")) {
    return bad_usage("--format is required: the format of the tables, one of " +
                     join(choices_of<DeviceTableFormat>(), ", "));
  }
  auto priors = priors_of(invocation);
  if (!priors.ok()) return priors.error();
  return DeviceRequest{.format = enumerator<DeviceTableFormat>(invocation.get("--format")),
                       .train = invocation.list("--train"),
                       .test = invocation.list("--test"),
                       .split = invocation.get("--split"),
                       .priors = std::move(*priors),
                       .baseline = invocation.get("--baseline"),
                       .bundled = invocation.has("--calibration"),
                       .alone = invocation.output() == "json"};
}

ExitCode device(const Invocation& invocation) {
  const auto request = to_request(invocation);
  if (!request.ok()) return report(invocation, kVerb, request.error());
  const auto found = validate_device(invocation.environment, *request);
  if (!found.ok()) return report(invocation, kVerb, found.error());
  const ExitCode code = print_report(invocation, kVerb, *found);
  if (code != kExitOk || invocation.output() == "json") return code;
  std::vector<NamedScores> groups{
      {found->validation.baseline.value_or("stint"), found->validation.groups}};
  for (const Validation& it : found->beside) {
    groups.push_back({it.baseline.value_or("stint"), it.groups});
  }
  if (!groups.front().rows.empty()) {
    print_answer(invocation, "\n" + score_table("rows", groups, invocation.out_terminal));
  }
  return kExitOk;
}

}  // namespace

Verb validate_device_verb() {
  std::vector<OptionSpec> options = validation_options();
  options.insert(options.begin(), {.name = "--format",
                                   .value = "NAME",
                                   .help = "Format of the tables.",
                                   .choices = choices_of<DeviceTableFormat>()});
  options.push_back({.name = "--split",
                     .value = "HOW",
                     .help = "Split instead of --test: leave-one-gpu-out, leave-one-family-out or "
                             "leave-one-job-out holds out each in turn; gpu=NAMES, family=NAMES "
                             "or job=NAMES all of these at once."});
  options.push_back({.name = "--prior",
                     .value = "FORMAT=FILE...",
                     .help = "Tables of other sets to learn from; their rows are not scored.",
                     .files = true});
  options.push_back({.name = "--calibration",
                     .value = "NAME",
                     .help = "Start from the shipped calibration; never for rows it was fitted to.",
                     .choices = {"bundled"}});
  options.push_back({.name = "--baseline",
                     .value = "NAME",
                     .help = "Baseline to score instead, one of the format's.",
                     .choices = device_baseline_names()});
  return {
      .path = "validate device",
      .group = VerbGroup::kEvidence,
      .summary = "Score predicted seconds on unseen GPUs and models.",
      .details =
          "Learns from the training rows and predicts the seconds of the test rows: on GPUs, or "
          "of models, that training has few or no rows of. The formats are the tables of "
          "NeuSight (latency of a step), timm (a step of image models), Zeus (epochs under "
          "power limits) and MLPerf Training (a step on one machine). Files are recognised by "
          "their headers. Names of GPUs are looked up in the catalogue in any usual spelling. "
          "What --split holds out is held out of --prior too.",
      .options = std::move(options),
      .outputs = {"table", "json"},
      .examples = {{"stint validate device --format timm --train t.csv --split "
                    "leave-one-family-out",
                    "Each family of models, predicted from the others."},
                   {"stint validate device --format mlperf --train t.csv --split "
                    "gpu=H100,H200",
                    "Two GPUs, predicted from all others."}},
      .run = device};
}

}  // namespace stint::cli
