#include "cli/verbs/deadline_options.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/verbs/quantity_option.h"

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

}  // namespace stint::cli
