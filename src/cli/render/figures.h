#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/terminal.h"
#include "plan/plan.h"

namespace stint::cli {

// Figures as text for a person: about three digits.

/// "872 ms", "21.4 ms".
std::string milliseconds(Seconds time);

/// "11.2 h", "0.45 h"; under a tenth of an hour in the unit that fits: "38 s".
std::string hours(Seconds time);

/// In the unit that fits: "872 ms", "8.4 s", "38 min", "11.2 h"; with `more` digits than usual.
std::string duration(Seconds time, int more = 0);

/// "$152", "$31.20", "-$3.00"; less than a cent with two digits: "$0.0042".
std::string dollars(Dollars amount);

/// "25.6 MB".
std::string megabytes(Bytes bytes);

/// A probability or a share: "97 %", "99.3 %", "0.4 %", ">99.9 %".
std::string percent(double fraction);

/// The same; empty where there is none.
std::string percent(const std::optional<double>& fraction);

/// An error or a score, always to a tenth: "97.0 %"; empty where there is none.
std::string tenths(std::optional<double> fraction);

/// "11.2 h (9.8–12.9)", "$74.1 (65.9–83.3)": the mean, and what holds it eight times in ten. Short
/// times are in minutes or seconds, and small amounts have two digits: "53.2 s (33.0–77.1)",
/// "$0.042 (0.033–0.051)".
std::string with_interval(const TimeRange& time);
std::string with_interval(const CostRange& cost);

/// Small bills with four digits, others as usual.
std::string bill_text(Dollars amount);

/// "53 s (33 s–77 s)", "$0.0022 ($0.0016–$0.0029)": for runs of any size. An end is printed as the
/// mean only if it is the mean.
std::string range_text(const TimeRange& time);
std::string range_text(const CostRange& cost);

/// A line of a sheet: a label and its text, wrapped.
std::string sheet_line(std::string_view label, const std::string& text, const Terminal& terminal);

}  // namespace stint::cli
