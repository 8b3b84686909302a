#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/codec_fields.h"
#include "base/date.h"
#include "base/json.h"
#include "base/text.h"
#include "base/unit_text.h"

namespace stint {

/// Fills a noun in from JSON; errors and warnings go to the trail.
class ReadWalk {
 public:
  ReadWalk(const Json& json, Trail& trail) : json_(json), trail_(trail) {}

  template <class T>
  void field(const char* name, T& member, const char* /*doc*/, FieldRules rules = {}) {
    visit(name, kMayBeAbsent<T>, [&](const Json& json) { read(json, member, rules); });
  }

  template <class T, AQuantity Q>
  void number(const char* name, T& member, Q unit, const char* /*doc*/, Range range = Range::kAny) {
    visit(name, kMayBeAbsent<T>,
          [&](const Json& json) { member = read_number(json, range, limits_in(unit)) * unit; });
  }

  /// A required number that may be null, which means that there is none.
  template <AQuantity Q>
  void number_or_null(const char* name, std::optional<Q>& member, Q unit, const char* /*doc*/,
                      Range range = Range::kAny) {
    visit(name, false, [&](const Json& json) {
      member.reset();
      if (json.as<std::nullptr_t>() != nullptr) return;
      member = read_number(json, range, limits_in(unit)) * unit;
    });
  }

  /// A list of quantities as plain numbers.
  template <AQuantity Q>
  void numbers(const char* name, std::vector<Q>& list, Q unit, const char* /*doc*/,
               Range range = Range::kAny) {
    visit(name, true, [&](const Json& json) {
      std::vector<double> values;
      read(json, values, {.range = range, .max = limits_in(unit).max});
      list.clear();
      for (const double value : values) list.push_back(value * unit);
    });
  }

  /// A noun inside another that is its own document, with the mark `schema`: required, optional, or
  /// a list.
  template <class T>
  void document(const char* name, T& member, const char* schema, const char* /*doc*/) {
    visit(name, kMayBeAbsent<T>, [&](const Json& json) { read_marked(json, member, schema); });
  }

  /// A required value with its own text form: `parse` reads what `to_text` writes.
  template <class T, class Parse>
  void text(const char* name, T& member, Parse parse, const char* /*doc*/) {
    visit(name, false, [&](const Json& json) {
      std::string written;
      read(json, written, {});
      if (!trail_.ok()) return;
      auto parsed = parse(written);
      if (!parsed.ok()) return trail_.fail(json.line(), parsed.error().message);
      member = std::move(*parsed);
    });
  }

  /// Keeps the unknown members, and warns about them.
  void rest(Json::Object& unknown);

  /// The line of the value at `path` under `json`, or of the last existing one on the path.
  static int line_of(const Json& json, const std::vector<std::string>& path);

  /// A `marked` noun has a "schema" that was checked before.
  template <class T>
  static void read_noun(const Json& json, T& noun, Trail& trail, bool marked = false) {
    if (json.as<Json::Object>() == nullptr) {
      return trail.fail(json.line(), std::string("must be an object, not ") + json.kind());
    }
    ReadWalk walk(json, trail);
    if (marked) walk.known_.emplace_back("schema");
    describe(walk, noun);
    if constexpr (HasProblem<T>) {
      if (!trail.ok()) return;
      const std::string wrong = problem(noun);
      if (!wrong.empty()) trail.fail(json.line(), wrong);
    }
    if constexpr (HasProblemInside<T>) {
      const auto inside = trail.ok() ? problem_inside(noun) : std::nullopt;
      if (inside) trail.fail_inside(line_of(json, inside->path), *inside);
    }
  }

 private:
  template <class ReadValue>
  void visit(const char* name, bool may_be_absent, ReadValue read_value) {
    if (!trail_.ok()) return;
    const Json* json = json_.find(name);
    known_.emplace_back(name);
    if (json == nullptr) {
      if (!may_be_absent) trail_.fail(json_.line(), missing(name));
      return;
    }
    trail_.path.emplace_back(name);
    read_value(*json);
    trail_.path.pop_back();
  }

  template <class T>
  void read_marked(const Json& json, T& member, const char* schema) {
    if constexpr (AnOptional<T>) {
      read_marked(json, member.emplace(), schema);
    } else if constexpr (AVector<T>) {
      const auto* array = json.as<Json::Array>();
      if (array == nullptr) return wrong_kind(json, "a list");
      member.clear();
      for (std::size_t i = 0; i < array->size() && trail_.ok(); ++i) {
        trail_.path.push_back(std::to_string(i));
        read_marked((*array)[i], member.emplace_back(), schema);
        trail_.path.pop_back();
      }
    } else {
      check_mark(json, schema);
      if (trail_.ok()) read_noun(json, member, trail_, true);
    }
  }

  static std::string missing(const char* name);
  void check_mark(const Json& json, const char* schema);
  void wrong_kind(const Json& json, const char* wanted);
  void check_range(const Json& json, Range range, double value, NumberLimits limits);
  double read_number(const Json& json, Range range, NumberLimits limits);

  void read(const Json& json, bool& value, FieldRules rules);
  void read(const Json& json, double& value, FieldRules rules) {
    value = read_number(json, rules.range, limits_of<double>(rules));
  }
  void read(const Json& json, std::string& value, FieldRules rules);
  void read(const Json& json, Date& value, FieldRules rules);
  void read(const Json& json, Json& value, FieldRules /*rules*/) { value = json; }
  std::int64_t read_integer(const Json& json, Range range, NumberLimits limits);

  template <AnInteger T>
  void read(const Json& json, T& value, FieldRules rules) {
    value = static_cast<T>(read_integer(json, range_of<T>(rules), limits_of<T>(rules)));
  }

  template <AQuantity T>
  void read(const Json& json, T& value, FieldRules rules) {
    if (json.as<double>() != nullptr || json.as<std::int64_t>() != nullptr) {
      const auto unitless = parse_quantity<T>(to_text(json, JsonStyle::kLine));
      return trail_.fail(json.line(), unitless.ok() ? "" : unitless.error().message);
    }
    std::string text;
    read(json, text, {});
    if (!trail_.ok()) return;
    const auto parsed = parse_quantity<T>(text);
    if (!parsed.ok()) return trail_.fail(json.line(), parsed.error().message);
    value = *parsed;
    const std::string wrong = range_problem(rules.range, value.in(T::of_base(1)), printable(text));
    if (!wrong.empty()) trail_.fail(json.line(), wrong);
  }

  template <ANamedEnum T>
  void read(const Json& json, T& value, FieldRules /*rules*/) {
    std::string text;
    read(json, text, {});
    if (!trail_.ok()) return;
    std::string choices;
    for (const auto& [candidate, name] : names_of(value)) {
      if (text == name) {
        value = candidate;
        return;
      }
      choices += (choices.empty() ? "" : ", ") + std::string(name);
    }
    trail_.fail(json.line(), "'" + text + "' is not one of " + choices);
  }

  template <class T>
  void read(const Json& json, std::optional<T>& value, FieldRules rules) {
    read(json, value.emplace(), rules);
  }

  template <class T>
  void read(const Json& json, std::vector<T>& list, FieldRules rules) {
    const auto* array = json.as<Json::Array>();
    if (array == nullptr) return wrong_kind(json, "a list");
    list.clear();
    list.reserve(array->size());
    for (std::size_t i = 0; i < array->size() && trail_.ok(); ++i) {
      trail_.path.push_back(std::to_string(i));
      T item{};
      read((*array)[i], item, rules);
      list.push_back(std::move(item));
      trail_.path.pop_back();
    }
  }

  template <class T>
  void read(const Json& json, std::map<std::string, T>& map, FieldRules rules) {
    const auto* object = json.as<Json::Object>();
    if (object == nullptr) return wrong_kind(json, "an object");
    map.clear();
    for (const auto& [key, value] : *object) {
      if (!trail_.ok()) return;
      trail_.path.push_back(key);
      read(value, map[key], rules);
      trail_.path.pop_back();
    }
  }

  template <class T>
  requires ANoun<T>
  void read(const Json& json, T& noun, FieldRules /*rules*/) { read_noun(json, noun, trail_); }

  const Json& json_;
  Trail& trail_;
  std::vector<std::string_view> known_;
};

}  // namespace stint
