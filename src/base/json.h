#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace stint {

/// A JSON value with its line number. Members of an object keep their order.
class Json {
 public:
  using Array = std::vector<Json>;
  using Member = std::pair<std::string, Json>;
  using Object = std::vector<Member>;
  using Value =
      std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, Array, Object>;

  // Defined in json.cc, so that not every file with a noun compiles the variant's copies.
  Json();
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();

  Json(Value value) : value_(std::move(value)) {}        // NOLINT: a value is JSON.
  Json(const char* text) : value_(std::string(text)) {}  // NOLINT: not a bool.
  Json(int number) : value_(std::int64_t{number}) {}     // NOLINT: a value is JSON.
  Json(bool value) : value_(value) {}                    // NOLINT: not an int.
  Json(double number) : value_(number) {}                // NOLINT: a value is JSON.
  Json(Value value, int line) : value_(std::move(value)), line_(line) {}

  const Value& value() const { return value_; }
  int line() const { return line_; }  // From 1; 0 for a value that was not read from text.

  template <class T>
  const T* as() const {
    return std::get_if<T>(&value_);
  }
  template <class T>
  T* as() {
    return std::get_if<T>(&value_);
  }

  /// The member `name` of an object, or null.
  const Json* find(std::string_view name) const;

  /// Appends a member; a null value becomes an object first.
  void add(std::string name, Json value);

  /// "an object", "a number" …, for error messages.
  const char* kind() const;

  bool operator==(const Json& other) const;

 private:
  Value value_ = nullptr;
  int line_ = 0;
};

/// "/types/0/name", as RFC 6901 escapes it; empty for the root.
std::string json_pointer(const std::vector<std::string>& path);

/// A document has at most this many values, each key and its value being one. A value takes up to
/// some 280 bytes of memory (a member of a large object, while its list grows), so that no document
/// of a size that read_file accepts takes more than 600 MB.
inline constexpr std::size_t kJsonValuesMax = 2'000'000;

/// Reads one JSON document. Errors are bad input and name `source`, line, JSON pointer and the
/// error. Refuses a duplicate key in an object, text that is not UTF-8, nesting deeper than 64
/// levels, and more than `values_max` values (kJsonValuesMax). Integers past 2^63 become
/// floating-point numbers. `first_line` is the line of the file that `text` begins on.
Result<Json> parse_json(std::string_view text, const std::string& source, int first_line,
                        std::size_t values_max);
Result<Json> parse_json(std::string_view text, const std::string& source, int first_line = 1);

enum class JsonStyle {
  kLine,    // One line.
  kPretty,  // Two spaces; an array or object without nested ones stays on a line.
};

/// The text of `json`. Floating-point numbers read back exactly.
std::string to_text(const Json& json, JsonStyle style);

}  // namespace stint
