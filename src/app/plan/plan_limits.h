#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "optimise/question.h"

namespace stint {

/// A deadline as time from now: a duration, "12h" or "2d 3h", or a moment, "2026-11-20T18:00Z" or
/// "2026-11-20" (its first moment, UTC). Usage errors: neither, not positive, or past.
Result<Seconds> parse_deadline(std::string_view text, const Clock& clock);

/// Money as people write it on a command line, in the form that `parse_quantity` reads: "$20" as
/// "20USD", "$3/h" as "3USD/h". Any other text stays as it is.
std::string money_text(std::string_view text);

/// Money for the whole training, or per hour; exactly one of them.
struct Spending {
  std::optional<Dollars> budget = {};
  std::optional<DollarsPerSecond> rate_max = {};
};

/// "150usd", "$150", "3 USD/h" or "$3/h". Usage errors: neither, or not positive.
Result<Spending> parse_budget(std::string_view text);

/// "0.95" or "95%". Anything else is a usage error.
Result<double> parse_confidence(std::string_view text);

/// The provider that the constraints name, if they name one alone; else empty.
std::string only_provider(const Constraints& constraints);

/// The largest probability with which limits may be asked to be kept: no model here tells more of
/// them apart.
inline constexpr double kConfidenceMax = 0.999999;

/// A usage error when a limit makes no sense by itself. `optimise` requires that there is none.
Status check_limits(const Constraints& constraints);

/// An error when `constraints` leave nothing of the catalogue that could be rented: usage for names
/// that are unknown or exclude each other, bad input where there is no price at all.
Status check_offers(const Catalog& catalog, const Constraints& constraints);

}  // namespace stint
