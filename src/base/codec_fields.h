#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/limits.h"
#include "base/unit_text.h"
#include "base/units.h"

namespace stint {

/// The ranges of a number.
enum class Range { kAny, kPositive, kNotNegative, kFraction, kAtLeastOne };

struct FieldRules {
  Range range = Range::kAny;
  std::string_view unit = {};  // The preferred unit of a quantity.
  bool always = false;         // An empty list is written as well.
  double max = 0;              // Of a number; 0: that of its type.
};

/// The error of a noun, and its location.
struct Problem {
  std::vector<std::string> path;
  std::string message;
};

/// The location of a field in a document and the errors found there.
struct Trail {
  std::string source;
  std::vector<std::string> path = {};
  std::optional<std::string> error = std::nullopt;
  std::vector<std::string> warnings = {};

  /// Keeps the first error, with source, line (when known) and JSON pointer.
  void fail(int line, std::string_view message);
  /// The same for a problem deeper inside the present noun.
  void fail_inside(int line, const Problem& problem);
  void warn(int line, std::string_view message);
  bool ok() const { return !error.has_value(); }

 private:
  std::string place(int line) const;
};

/// Empty when `value` lies in `range` and within `limits`, whose least applies to numbers that must
/// be above zero; otherwise "must be …, not `shown`".
std::string range_problem(Range range, double value, std::string_view shown,
                          NumberLimits limits = {});

class ReadWalk;

/// `T` for a walk that fills nouns in, `const T` for one that reads them.
template <class Walk, class T>
using Like = std::conditional_t<std::is_same_v<Walk, ReadWalk>, T, const T>;

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsMap : std::false_type {};
template <class T>
struct IsMap<std::map<std::string, T>> : std::true_type {};
template <class T>
struct IsQuantity : std::false_type {};
template <int A, int B, int C, int D>
struct IsQuantity<Quantity<A, B, C, D>> : std::true_type {};

template <class T>
concept AnOptional = IsOptional<T>::value;
template <class T>
concept AVector = IsVector<T>::value;
template <class T>
concept AMap = IsMap<T>::value;
template <class T>
concept AQuantity = IsQuantity<T>::value;
template <class T>
concept AnInteger =
    std::same_as<T, int> || std::same_as<T, std::int64_t> || std::same_as<T, std::uint32_t>;
/// An enum of a noun lists its texts in `std::span<const EnumName<E>> names_of(E)`.
template <class E>
using EnumName = std::pair<E, const char*>;
template <class T>
concept ANamedEnum = std::is_enum_v<T> && requires(T value) {
  names_of(value);
};
template <class T>
concept ANoun = std::is_class_v<T> && !AQuantity<T>;
/// Like HasProblem, for a noun whose problems lie deep inside: `std::optional<Problem>
/// problem_inside(const T&)`.
template <class T>
concept HasProblemInside = requires(const T& it) {
  { problem_inside(it) } -> std::same_as<std::optional<Problem>>;
};
template <class T>
concept HasProblem = requires(const T& it) {
  { problem(it) } -> std::same_as<std::string>;
};

template <AnInteger T>
Range range_of(FieldRules rules) {
  const bool natural = std::is_unsigned_v<T> && rules.range == Range::kAny;
  return natural ? Range::kNotNegative : rules.range;
}

template <class T>
requires AnInteger<T> || std::same_as<T, double> NumberLimits limits_of(FieldRules rules) {
  NumberLimits limits;
  if constexpr (std::same_as<T, int>) limits.max = kCountMax;
  if constexpr (std::same_as<T, std::int64_t>) limits.max = kLongCountMax;
  if constexpr (std::same_as<T, std::uint32_t>) limits.max = std::numeric_limits<T>::max();
  if (rules.max > 0) limits.max = rules.max;
  return limits;
}

/// The physical range of a quantity that is written as a number of `unit`s.
template <AQuantity Q>
NumberLimits limits_in(Q unit) {
  const NumberLimits range = quantity_range<Q>();
  return {.min = Q::of_base(range.min).in(unit), .max = Q::of_base(range.max).in(unit)};
}

/// True when the field is left out of a document that does not have it.
template <class T>
constexpr bool kMayBeAbsent = AnOptional<T> || AVector<T> || AMap<T>;

template <ANamedEnum E>
const char* name_of(E value) {
  for (const auto& [candidate, name] : names_of(value)) {
    if (candidate == value) return name;
  }
  return "";
}

}  // namespace stint
