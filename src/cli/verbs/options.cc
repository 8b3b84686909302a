#include "cli/verbs/options.h"

#include <fmt/format.h>

#include "base/text.h"

namespace stint::cli {
namespace {

Result<double> ratio_of(const Invocation& invocation, double otherwise) {
  if (!invocation.has("--price-ratio")) return otherwise;
  const auto ratio = parse_double(invocation.get("--price-ratio"));
  if (ratio) return *ratio;
  return bad_usage(fmt::format("--price-ratio must be a number above zero, not '{}'",
                               printable(invocation.get("--price-ratio"))));
}

}  // namespace

std::vector<OptionSpec> deadline_options() {
  return {{.name = "--machines",
           .value = "N",
           .help = "How many the job runs on: k of them make k/N progress (default: 1). Counts of "
                   "a trace above N count as N."},
          {.name = "--work",
           .value = "TIME",
           .help = "How long all machines need together, without losses (default: 24h)."},
          {.name = "--deadline",
           .value = "TIME",
           .help = "From the start of the job (default: one and a half times the work)."},
          {.name = "--changeover",
           .value = "TIME",
           .help = "What a new machine takes, and costs, before it gets anything done (default: "
                   "13min)."},
          {.name = "--price-ratio",
           .value = "R",
           .help = "Price on demand over that of spot (default: 3.3)."}};
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
  const auto machines = count_of(invocation, "--machines");
  if (!machines.ok()) return machines.error();
  terms.work = work->value_or(terms.work);
  terms.deadline = *deadline;
  terms.changeover = changeover->value_or(terms.changeover);
  terms.price_ratio = *ratio;
  terms.machines = machines->value_or(terms.machines);
  return terms;
}

OptionSpec format_option() {
  return {.name = "--format",
          .value = "NAME",
          .help = "Whose table it is; stint: our own record of runs.",
          .choices = choices_of<StepFormat>()};
}

OptionSpec train_option() {
  return {.name = "--train", .value = "FILE...", .help = "Tables to learn from.", .files = true};
}

OptionSpec jobs_option() {
  return {.name = "--jobs",
          .value = "FILE",
          .help = "A JSON array of job profiles, matched by name (default: the shipped ones)."};
}

Result<StepFormat> format_of(const Invocation& invocation) {
  if (invocation.has("--format")) return enumerator<StepFormat>(invocation.get("--format"));
  return bad_usage("--format is missing: whose table it is, one of " +
                   join(choices_of<StepFormat>(), ", "));
}

}  // namespace stint::cli
