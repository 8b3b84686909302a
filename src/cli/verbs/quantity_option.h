#pragma once

#include <fmt/format.h>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/unit_text.h"
#include "cli/verb.h"

namespace stint::cli {

/// The quantity that an option holds, above zero, or at least zero for `or_zero`; nothing when it
/// is not given. Anything else is a usage error.
template <class Quantity>
Result<std::optional<Quantity>> quantity_of(const Invocation& invocation, const std::string& option,
                                            bool or_zero = false) {
  if (!invocation.has(option)) return std::optional<Quantity>();
  const auto quantity = parse_quantity<Quantity>(invocation.get(option));
  if (!quantity.ok()) return bad_usage(fmt::format("{}: {}", option, quantity.error().message));
  if (*quantity > Quantity() || (or_zero && *quantity == Quantity()))
    return std::optional(*quantity);
  return bad_usage(fmt::format("{} must be {}", option, or_zero ? "zero or more" : "above zero"));
}

}  // namespace stint::cli
