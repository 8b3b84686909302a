#include "base/unit_text.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "base/text.h"

namespace stint {
namespace {

struct Unit {
  const char* name;
  double base;         // Number of base units in one of this, times `per`.
  bool alias = false;  // Read but never written.
  double per = 1;      // 3600 for "USD/h", so that 3.06 USD/h is exactly 3.06 * kDollar / kHour.
};

/// The name of a dimension, its units and its physical range.
struct Dimension {
  const char* what;
  const char* example;
  std::span<const Unit> units;
  NumberLimits range;
  bool compound = false;  // Several terms may follow each other, as in "1h30m".
};

constexpr Unit kTimeUnits[] = {{"d", 86400}, {"h", 3600},     {"min", 60},
                               {"s", 1},     {"ms", 1e-3},    {"us", 1e-6},
                               {"ns", 1e-9}, {"m", 60, true}, {"µs", 1e-6, true}};
constexpr Unit kDataUnits[] = {{"TB", 1e12},          {"GB", 1e9},        {"MB", 1e6},
                               {"kB", 1e3},           {"B", 1},           {"TiB", 1099511627776.0},
                               {"GiB", 1073741824.0}, {"MiB", 1048576.0}, {"KiB", 1024.0},
                               {"KB", 1e3, true}};
constexpr Unit kRateUnits[] = {{"Tbit/s", 125e9},    {"Gbit/s", 125e6},       {"Mbit/s", 125e3},
                               {"kbit/s", 125},      {"bit/s", 0.125},        {"TB/s", 1e12},
                               {"GB/s", 1e9},        {"MB/s", 1e6},           {"kB/s", 1e3},
                               {"B/s", 1},           {"GiB/s", 1073741824.0}, {"MiB/s", 1048576.0},
                               {"KiB/s", 1024.0},    {"Tbps", 125e9, true},   {"Gbps", 125e6, true},
                               {"Mbps", 125e3, true}};
constexpr Unit kFlopUnits[] = {
    {"PFLOP", 1e15}, {"TFLOP", 1e12}, {"GFLOP", 1e9}, {"MFLOP", 1e6}, {"FLOP", 1}};
constexpr Unit kFlopRateUnits[] = {
    {"PFLOP/s", 1e15}, {"TFLOP/s", 1e12},      {"GFLOP/s", 1e9},       {"MFLOP/s", 1e6},
    {"FLOP/s", 1},     {"PFLOPS", 1e15, true}, {"TFLOPS", 1e12, true}, {"GFLOPS", 1e9, true}};
constexpr Unit kMoneyUnits[] = {{"USD", 1}, {"usd", 1, true}};
constexpr Unit kPriceUnits[] = {{"USD/h", 1, false, 3600},  {"USD/s", 1},
                                {"USD/d", 1, false, 86400}, {"usd/h", 1, true, 3600},
                                {"usd/s", 1, true},         {"usd/d", 1, true, 86400}};
constexpr Unit kMoneyPerDataUnits[] = {{"USD/GB", 1, false, 1e9},
                                       {"USD/GiB", 1, false, 1073741824.0},
                                       {"USD/B", 1},
                                       {"usd/GB", 1, true, 1e9},
                                       {"usd/GiB", 1, true, 1073741824.0}};

template <class Q>
constexpr Dimension kDimension{};
// From a thousandth of the shortest latency of a processor to ten thousand years.
template <>
constexpr Dimension kDimension<Seconds>{
    "a duration", "12 h", kTimeUnits, {1e-12, 3'650'000 * 86400.0}, true};
// Up to an exabyte; parts of a byte are means.
template <>
constexpr Dimension kDimension<Bytes>{"a size", "16 GiB", kDataUnits, {1e-3, 1e18}};
// Up to a thousand times what all links of a large data centre carry.
template <>
constexpr Dimension kDimension<BytesPerSecond>{
    "a data rate", "25 Gbit/s", kRateUnits, {0.125, 1e18}};
// Up to ten thousand times the largest trainings so far.
template <>
constexpr Dimension kDimension<Flops>{"a count of operations", "4 GFLOP", kFlopUnits, {1e-3, 1e30}};
// Up to a hundred thousand times the fastest computer.
template <>
constexpr Dimension kDimension<FlopsPerSecond>{
    "a computing speed", "65 TFLOP/s", kFlopRateUnits, {1, 1e24}};
template <>
constexpr Dimension kDimension<Dollars>{"an amount of money", "150 USD", kMoneyUnits, {1e-9, 1e12}};
// Up to a billion dollars an hour.
template <>
constexpr Dimension kDimension<DollarsPerSecond>{
    "a price", "3.06 USD/h", kPriceUnits, {1e-9 / 3600, 1e9 / 3600}};
template <>
constexpr Dimension kDimension<DollarsPerByte>{
    "a price of data", "0.09 USD/GB", kMoneyPerDataUnits, {1e-9 / 1e9, 1e6 / 1e9}};

// A frequency has no text; results hold it as a number.
using PerSecond = Quantity<-1, 0, 0, 0>;
template <>
constexpr Dimension kDimension<PerSecond>{"a frequency", "", {}, {1e-12, 1e12}};

constexpr const char* kNumberPattern = "(\\d+(\\.\\d*)?|\\.\\d+)([eE][+-]?\\d+)?";

std::vector<std::string> written_units(const Dimension& dimension) {
  std::vector<std::string> names;
  for (const Unit& unit : dimension.units) {
    if (!unit.alias) names.emplace_back(unit.name);
  }
  return names;
}

const Unit* find_unit(const Dimension& dimension, std::string_view name) {
  for (const Unit& unit : dimension.units) {
    if (name == unit.name) return &unit;
  }
  return nullptr;
}

Error unit_error(const Dimension& dimension, std::string_view text, std::string_view name) {
  const auto units = written_units(dimension);
  if (name.empty()) {
    return bad_usage(fmt::format("'{}' has no unit: add one of {}, for example '{}'",
                                 printable(text), join(units, ", "), dimension.example));
  }
  return bad_usage(fmt::format("'{}' is not {}: '{}' is not one of its units {}, for example '{}'",
                               printable(text), dimension.what, printable(name), join(units, ", "),
                               dimension.example));
}

/// Removes an unsigned decimal number from the front of `rest`. `from_chars` alone would also
/// accept "inf" and "nan".
std::optional<double> take_number(std::string_view& rest) {
  const bool starts = !rest.empty() && (is_digit(rest[0]) || rest[0] == '.');
  if (!starts) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  // Out of range may be too large or too small; the C function distinguishes the two.
  if (error == std::errc::result_out_of_range)
    value = std::strtod(std::string(rest).c_str(), nullptr);
  if (error == std::errc::invalid_argument) return std::nullopt;
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  return value;
}

std::string_view take_unit(std::string_view& rest) {
  std::size_t length = 0;
  while (length < rest.size() && !is_space(rest[length]) && !is_digit(rest[length])) ++length;
  const std::string_view unit = rest.substr(0, length);
  rest.remove_prefix(length);
  return unit;
}

Error not_a_number(const Dimension& dimension, std::string_view text) {
  return bad_usage(fmt::format("'{}' is not {}: write a number and a unit, for example '{}'",
                               printable(text), dimension.what, dimension.example));
}

Result<double> parse_base(const Dimension& dimension, std::string_view text) {
  std::string_view rest = trim(text);
  const bool negative = !rest.empty() && rest[0] == '-';
  if (negative || (!rest.empty() && rest[0] == '+')) rest.remove_prefix(1);
  double total = 0;
  do {
    const auto number = take_number(rest);
    if (!number) return not_a_number(dimension, text);
    rest = trim_left(rest);
    const std::string_view name = take_unit(rest);
    const Unit* unit = find_unit(dimension, name);
    if (unit == nullptr) return unit_error(dimension, text, name);
    total += *number * unit->base / unit->per;
    rest = trim_left(rest);
  } while (dimension.compound && !rest.empty());
  if (!rest.empty()) return not_a_number(dimension, text);
  return negative ? -total : total;
}

/// The fewest digits of `value` in `unit` that read back to `value`, if there are any. A decimal of
/// up to 15 digits survives being a double, so rounding to 15 finds every short one; 16 and 17 are
/// for values that have none.
std::optional<std::string> shortest_in(const Dimension& dimension, double value, const Unit& unit) {
  for (const int digits : {15, 16, 17}) {
    const auto rounded = parse_double(fmt::format("{:.{}g}", value * unit.per / unit.base, digits));
    if (!rounded) continue;
    std::string text = fmt::format("{} {}", *rounded, unit.name);
    const auto back = parse_base(dimension, text);
    if (back.ok() && *back == value) return text;
  }
  return std::nullopt;
}

/// Which of two texts for a value is easier to read: without an exponent, not below one, short.
auto awkwardness(const std::string& text) {
  const std::string_view number = std::string_view(text).substr(0, text.find(' '));
  const bool scientific = number.find('e') != std::string_view::npos;
  const bool below_one = number.starts_with("0.") || number.starts_with("-0.");
  return std::tuple(scientific, below_one, text.size());
}

std::string to_text_base(const Dimension& dimension, double value, std::string_view preferred) {
  constexpr std::size_t kFewCharacters = 8;  // Six digits, a point and a sign.
  std::optional<std::string> best;
  for (const Unit& unit : dimension.units) {
    if (unit.alias || (value == 0 && unit.base / unit.per != 1)) continue;
    auto text = shortest_in(dimension, value, unit);
    if (!text) continue;
    if (preferred == unit.name && text->find(' ') <= kFewCharacters) return *text;
    if (!best || awkwardness(*text) < awkwardness(*best)) best = std::move(text);
  }
  CHECK(best.has_value());  // The base unit always reads back.
  return *best;
}

std::string pattern_of(const Dimension& dimension) {
  std::vector<std::string> names;
  for (const Unit& unit : dimension.units) names.emplace_back(unit.name);
  const std::string term = fmt::format("{}\\s*({})", kNumberPattern, join(names, "|"));
  if (!dimension.compound) return fmt::format("^\\s*\\+?{}\\s*$", term);
  return fmt::format("^\\s*\\+?({}\\s*)+$", term);
}

}  // namespace

template <class Q>
NumberLimits quantity_range() {
  return kDimension<Q>.range;
}

template <class Q>
std::string quantity_range_text() {
  const Dimension& it = kDimension<Q>;
  return fmt::format("{} is zero or from {} to {}", it.what, to_text_base(it, it.range.min, {}),
                     to_text_base(it, it.range.max, {}));
}

template <class Q>
Result<Q> parse_quantity(std::string_view text) {
  const auto base = parse_base(kDimension<Q>, text);
  if (!base.ok()) return base.error();
  const NumberLimits range = quantity_range<Q>();
  const double size = std::abs(*base);
  if (size == 0 || (size >= range.min && size <= range.max)) return Q::of_base(*base);
  return bad_usage(
      fmt::format("'{}' is out of range: {}", printable(text), quantity_range_text<Q>()));
}

template <class Q>
std::string to_text(Q quantity, std::string_view unit) {
  return to_text_base(kDimension<Q>, quantity.in(Q::of_base(1)), unit);
}

template <class Q>
std::string quantity_pattern() {
  return pattern_of(kDimension<Q>);
}

#define STINT_INSTANTIATE(Q)                              \
  template NumberLimits quantity_range<Q>();              \
  template std::string quantity_range_text<Q>();          \
  template Result<Q> parse_quantity<Q>(std::string_view); \
  template std::string to_text<Q>(Q, std::string_view);   \
  template std::string quantity_pattern<Q>();

STINT_INSTANTIATE(Seconds)
STINT_INSTANTIATE(Bytes)
STINT_INSTANTIATE(Flops)
STINT_INSTANTIATE(Dollars)
STINT_INSTANTIATE(BytesPerSecond)
STINT_INSTANTIATE(FlopsPerSecond)
STINT_INSTANTIATE(DollarsPerSecond)
STINT_INSTANTIATE(DollarsPerByte)

#undef STINT_INSTANTIATE

template NumberLimits quantity_range<PerSecond>();

}  // namespace stint
