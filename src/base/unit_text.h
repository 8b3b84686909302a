#pragma once

#include <string>
#include <string_view>

#include "base/limits.h"
#include "base/result.h"
#include "base/units.h"

namespace stint {

/// The physical range of a quantity, in its base units; it is stated beside the units, in
/// unit_text.cc. Whatever is rented, measured or planned is zero or lies in it by a wide margin.
template <class Q>
NumberLimits quantity_range();

/// "a duration is zero or from 1e-12 s to 3650000 d", the part of an error.
template <class Q>
std::string quantity_range_text();

/// Reads a quantity with its unit: "25 Gbit/s", "3.06 USD/h", "12 h", "1h30m", "150 usd".
/// A number without a unit is refused, and the error names the units to choose from; so is one
/// whose size is outside of the physical range.
/// Instantiated for Seconds, Bytes, Flops, Dollars, BytesPerSecond, FlopsPerSecond,
/// DollarsPerSecond and DollarsPerByte.
template <class Q>
Result<Q> parse_quantity(std::string_view text);

/// The shortest text that `parse_quantity` reads back to exactly the same value. `unit` is used
/// when it expresses the value in a few digits; otherwise the unit that needs the fewest
/// characters.
template <class Q>
std::string to_text(Q quantity, std::string_view unit = {});

/// The regular expression (ECMA-262, anchored) of the texts that `parse_quantity` accepts and that
/// are not negative, for JSON Schema.
template <class Q>
std::string quantity_pattern();

}  // namespace stint
