#pragma once

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <vector>

#include "app/plan/plan_limits.h"
#include "app/risk/replay_deadline.h"
#include "base/check.h"
#include "base/codec_fields.h"
#include "base/result.h"
#include "base/unit_text.h"
#include "cli/verb.h"
#include "measure/tables/step_formats.h"
#include "plan/calibration.h"
#include "plan/plan.h"

namespace stint::cli {

/// The flags of a job with a deadline on spot machines.
std::vector<OptionSpec> deadline_options();

Result<DeadlineTerms> deadline_terms(const Invocation& invocation);

/// The quantity that an option holds, above zero, or at least zero for `or_zero`; nothing when it
/// is not given. Anything else is a usage error.
template <class Quantity>
Result<std::optional<Quantity>> quantity_of(const Invocation& invocation, const std::string& option,
                                            bool or_zero = false) {
  if (!invocation.has(option)) return std::optional<Quantity>();
  const auto quantity = parse_quantity<Quantity>(money_text(invocation.get(option)));
  if (!quantity.ok()) return bad_usage(fmt::format("{}: {}", option, quantity.error().message));
  if (*quantity > Quantity() || (or_zero && *quantity == Quantity()))
    return std::optional(*quantity);
  return bad_usage(fmt::format("{} must be {}", option, or_zero ? "zero or more" : "above zero"));
}

/// The whole numbers from 1 to `max` that a list option holds; anything else is a usage error.
Result<std::vector<int>> counts_of(const Invocation& invocation, const std::string& option,
                                   int max = kCountMax);

/// Those of `options` that are given, as they stand in another command: " --providers aws,gcp".
std::string repeated(const Invocation& invocation, const std::vector<std::string>& options);

/// The names of an enumeration, for an option's choices.
template <ANamedEnum E>
std::vector<std::string> choices_of() {
  std::vector<std::string> choices;
  for (const auto& [value, name] : names_of(E{})) choices.emplace_back(name);
  return choices;
}

/// The enumerator of a text that was checked against the choices.
template <ANamedEnum E>
E enumerator(const std::string& text) {
  const auto names = names_of(E{});
  const auto found = std::find_if(names.begin(), names.end(),
                                  [&](const EnumName<E>& name) { return text == name.second; });
  CHECK(found != names.end());
  return found->first;
}

/// The flags that say of a job what its profile does not: --epochs, --samples-per-epoch and --goal.
std::vector<OptionSpec> goal_options();

/// What these flags say. Usage errors: --epochs beside --goal, and what is no goal.
Result<JobOverrides> overrides_of(const Invocation& invocation);

// Options that the verbs on tables of step times share.
OptionSpec format_option();
OptionSpec train_option();
OptionSpec jobs_option();

/// The flags that say what network a table was measured on: --network, --transport and --inside.
std::vector<OptionSpec> fabric_options();

/// What these flags say.
Result<FabricFacts> fabric_of(const Invocation& invocation);

/// The value of --format, which is required because a table does not name its format.
Result<StepFormat> format_of(const Invocation& invocation);

}  // namespace stint::cli
