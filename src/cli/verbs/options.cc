#include "cli/verbs/options.h"

#include <fmt/format.h>

#include "base/text.h"
#include "load/job_overrides.h"

namespace stint::cli {
namespace {

Result<double> ratio_of(const Invocation& invocation, double otherwise) {
  if (!invocation.has("--price-ratio")) return otherwise;
  constexpr double kMax = 1e6;
  const auto ratio = parse_double(invocation.get("--price-ratio"));
  if (ratio && *ratio >= 1 / kMax && *ratio <= kMax) return *ratio;
  return bad_usage(fmt::format("--price-ratio must be a number from {} to {}, not '{}'", 1 / kMax,
                               kMax, printable(invocation.get("--price-ratio"))));
}

}  // namespace

std::string repeated(const Invocation& invocation, const std::vector<std::string>& options) {
  std::string words;
  for (const std::string& option : options) {
    if (!invocation.has(option)) continue;
    words += fmt::format(" {} {}", option, shell_quoted(join(invocation.list(option), ",")));
  }
  return words;
}

std::vector<OptionSpec> deadline_options() {
  return {{.name = "--machines",
           .value = "N",
           .help = "Number of machines; k of N make k/N progress, and counts of a trace are capped "
                   "at N (default: 1)."},
          {.name = "--work",
           .value = "TIME",
           .help = "Work of the job, as time on all machines without losses (default: 24h)."},
          {.name = "--deadline",
           .value = "TIME",
           .help = "Deadline, from the start of the job (default: 1.5 times the work)."},
          {.name = "--changeover",
           .value = "TIME",
           .help = "Start-up time of a new machine, which is billed (default: 13min)."},
          {.name = "--price-ratio",
           .value = "R",
           .help = "On-demand price over spot price (default: 3.3)."}};
}

Result<DeadlineTerms> deadline_terms(const Invocation& invocation) {
  DeadlineTerms terms;
  const auto work = quantity_of<Seconds>(invocation, "--work");
  if (!work.ok()) return work.error();
  const auto deadline = quantity_of<Seconds>(invocation, "--deadline");
  if (!deadline.ok()) return deadline.error();
  const auto changeover = quantity_of<Seconds>(invocation, "--changeover", true);
  if (!changeover.ok()) return changeover.error();
  const auto ratio = ratio_of(invocation, terms.price_ratio);
  if (!ratio.ok()) return ratio.error();
  const auto machines = count_of(invocation, "--machines", kVmsMax);
  if (!machines.ok()) return machines.error();
  terms.work = work->value_or(terms.work);
  terms.deadline = *deadline;
  terms.changeover = changeover->value_or(terms.changeover);
  terms.price_ratio = *ratio;
  terms.machines = machines->value_or(terms.machines);
  return terms;
}

Result<std::vector<int>> counts_of(const Invocation& invocation, const std::string& option,
                                   int max) {
  std::vector<int> counts;
  for (const std::string& text : invocation.list(option)) {
    const auto count = parse_int(text);
    if (!count || *count < 1 || *count > max) {
      return bad_usage(fmt::format("{} must be whole numbers from 1 to {}, not '{}'", option, max,
                                   printable(text)));
    }
    counts.push_back(*count);
  }
  return counts;
}

std::vector<OptionSpec> goal_options() {
  return {{.name = "--epochs",
           .value = "N",
           .help = "Goal: passes over the data (default: the goal of the profile)."},
          {.name = "--samples-per-epoch",
           .value = "N",
           .help = "Size of the data set (default: that of the profile)."},
          {.name = "--goal",
           .value = "GOAL",
           .help = "Goal as a text: epochs=90, samples=1e6, or a level such as 'accuracy>=0.93'."}};
}

Result<JobOverrides> overrides_of(const Invocation& invocation) {
  JobOverrides overrides;
  if (invocation.has("--epochs") && invocation.has("--goal")) {
    return bad_usage("--epochs and --goal exclude each other; give one of them");
  }
  if (invocation.has("--epochs")) overrides.goal = "epochs=" + invocation.get("--epochs");
  if (invocation.has("--goal")) overrides.goal = invocation.get("--goal");
  const auto epoch = count_of(invocation, "--samples-per-epoch", kIntMax);
  if (!epoch.ok()) return epoch.error();
  if (*epoch) overrides.samples_per_epoch = **epoch;
  const Status right = check_overrides(overrides);
  if (right.ok()) return overrides;
  if (invocation.has("--goal")) return bad_usage("--goal: " + right.error().message);
  return bad_usage(fmt::format("--epochs must be a number above zero, at most {:g}, not '{}'",
                               kSamplesMax, printable(invocation.get("--epochs"))));
}

OptionSpec format_option() {
  return {.name = "--format",
          .value = "NAME",
          .help = "Format of the tables; stint is Stint's own record of runs.",
          .choices = choices_of<StepFormat>()};
}

OptionSpec train_option() {
  return {.name = "--train", .value = "FILE...", .help = "Tables to learn from.", .files = true};
}

OptionSpec jobs_option() {
  return {.name = "--jobs",
          .value = "FILE",
          .help = "JSON array of job profiles, matched by name (default: the shipped ones)."};
}

std::vector<OptionSpec> fabric_options() {
  return {{.name = "--network",
           .value = "RATE",
           .help = "Line rate of a measured VM (default: unknown; for Stint's own runs the "
                   "catalogue's)."},
          {.name = "--transport",
           .value = "NAME",
           .help = "Transport between the measured VMs (default: unknown).",
           .choices = choices_of<TransportFamily>()},
          {.name = "--inside",
           .value = "NAME",
           .help = "Link between the accelerators of a measured VM (default: unknown).",
           .choices = choices_of<InsideLinkKind>()}};
}

Result<FabricFacts> fabric_of(const Invocation& invocation) {
  const auto network = quantity_of<BytesPerSecond>(invocation, "--network");
  if (!network.ok()) return network.error();
  FabricFacts facts{.network = *network};
  if (invocation.has("--transport")) {
    facts.transport = enumerator<TransportFamily>(invocation.get("--transport"));
  }
  if (invocation.has("--inside")) {
    facts.inside = enumerator<InsideLinkKind>(invocation.get("--inside"));
  }
  return facts;
}

Result<StepFormat> format_of(const Invocation& invocation) {
  if (invocation.has("--format")) return enumerator<StepFormat>(invocation.get("--format"));
  return bad_usage("--format is required: the format of the tables, one of " +
                   join(choices_of<StepFormat>(), ", "));
}

}  // namespace stint::cli
