#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/codec_fields.h"
#include "base/date.h"
#include "base/json.h"
#include "base/unit_text.h"

namespace stint {

/// The schema of a noun's fields for a document with the mark `schema`.
Json with_mark(std::string_view schema, const Json& fields);

/// Makes the JSON of a noun; absent fields are left out.
class WriteWalk {
 public:
  template <class T>
  void field(const char* name, const T& member, const char* /*doc*/, FieldRules rules = {}) {
    if constexpr (AnOptional<T>) {
      if (member) json_.add(name, write(*member, rules));
    } else if constexpr (kMayBeAbsent<T>) {
      if (rules.always || !member.empty()) json_.add(name, write(member, rules));
    } else {
      json_.add(name, write(member, rules));
    }
  }

  template <class T, AQuantity Q>
  void number(const char* name, const T& member, Q unit, const char* /*doc*/,
              Range /*range*/ = Range::kAny) {
    if constexpr (AnOptional<T>) {
      if (member) json_.add(name, Json(Json::Value{member->in(unit)}));
    } else {
      json_.add(name, Json(Json::Value{member.in(unit)}));
    }
  }

  template <AQuantity Q>
  void number_or_null(const char* name, const std::optional<Q>& member, Q unit, const char* /*doc*/,
                      Range /*range*/ = Range::kAny) {
    json_.add(name, member ? Json(member->in(unit)) : Json());
  }

  /// Written even when it is empty.
  template <AQuantity Q>
  void numbers(const char* name, const std::vector<Q>& list, Q unit, const char* /*doc*/,
               Range /*range*/ = Range::kAny) {
    Json::Array array;
    for (const Q value : list) array.emplace_back(value.in(unit));
    json_.add(name, {std::move(array)});
  }

  /// A list is written even when it is empty.
  template <class T>
  void document(const char* name, const T& member, const char* schema, const char* /*doc*/) {
    if constexpr (AnOptional<T>) {
      if (member) json_.add(name, write_marked(*member, schema));
    } else {
      json_.add(name, write_marked(member, schema));
    }
  }

  template <class T, class Parse>
  void text(const char* name, const T& member, Parse /*parse*/, const char* /*doc*/) {
    json_.add(name, {to_text(member)});
  }

  void rest(const Json::Object& unknown);

  template <class T>
  static Json write_noun(const T& noun, Json start = Json(Json::Object{})) {
    WriteWalk walk;
    walk.json_ = std::move(start);
    describe(walk, noun);
    return std::move(walk.json_);
  }

 private:
  static Json write(bool value, FieldRules /*rules*/) { return Json(Json::Value{value}); }
  static Json write(double value, FieldRules /*rules*/) { return Json(Json::Value{value}); }
  static Json write(const std::string& value, FieldRules /*rules*/) { return {value}; }
  static Json write(const Date& value, FieldRules /*rules*/) { return {to_text(value)}; }
  static Json write(const Json& value, FieldRules /*rules*/) { return value; }

  template <AnInteger T>
  static Json write(T value, FieldRules /*rules*/) {
    return Json(Json::Value{std::int64_t{value}});
  }
  template <AQuantity T>
  static Json write(T value, FieldRules rules) {
    return {to_text(value, rules.unit)};
  }
  template <ANamedEnum T>
  static Json write(T value, FieldRules /*rules*/) {
    return {name_of(value)};
  }
  template <class T>
  static Json write(const std::vector<T>& list, FieldRules rules) {
    Json::Array array;
    for (const auto& item : list) array.push_back(write(item, rules));
    return {std::move(array)};
  }
  template <class T>
  static Json write(const std::map<std::string, T>& map, FieldRules rules) {
    Json::Object object;
    for (const auto& [key, value] : map) object.emplace_back(key, write(value, rules));
    return {std::move(object)};
  }
  template <class T>
  requires ANoun<T>
  static Json write(const T& noun, FieldRules /*rules*/) { return write_noun(noun); }

  template <class T>
  static Json write_marked(const T& noun, const char* schema) {
    Json start;
    start.add("schema", schema);
    return write_noun(noun, std::move(start));
  }
  template <class T>
  static Json write_marked(const std::vector<T>& list, const char* schema) {
    Json::Array array;
    for (const T& item : list) array.push_back(write_marked(item, schema));
    return {std::move(array)};
  }

  Json json_;
};

/// Checks the values of a noun in memory against its rules.
class CheckWalk {
 public:
  explicit CheckWalk(Trail& trail) : trail_(trail) {}

  template <class T>
  void field(const char* name, const T& member, const char* /*doc*/, FieldRules rules = {}) {
    if (!trail_.ok()) return;
    trail_.path.emplace_back(name);
    check(member, rules);
    trail_.path.pop_back();
  }

  template <class T, AQuantity Q>
  void number(const char* name, const T& member, Q unit, const char* doc,
              Range range = Range::kAny) {
    if constexpr (AnOptional<T>) {
      if (member) number(name, *member, unit, doc, range);
    } else {
      if (!trail_.ok()) return;
      trail_.path.emplace_back(name);
      check_number(member.in(unit), range, limits_in(unit));
      trail_.path.pop_back();
    }
  }

  template <AQuantity Q>
  void number_or_null(const char* name, const std::optional<Q>& member, Q unit, const char* doc,
                      Range range = Range::kAny) {
    number(name, member, unit, doc, range);
  }

  template <AQuantity Q>
  void numbers(const char* name, const std::vector<Q>& list, Q unit, const char* doc,
               Range range = Range::kAny) {
    std::vector<double> values;
    for (const Q value : list) values.push_back(value.in(unit));
    field(name, values, doc, {.range = range, .max = limits_in(unit).max});
  }

  template <class T>
  void document(const char* name, const T& member, const char* /*schema*/, const char* doc) {
    field(name, member, doc);
  }

  template <class T, class Parse>
  void text(const char* name, const T& member, Parse parse, const char* /*doc*/) {
    const auto back = parse(to_text(member));
    if (back.ok() || !trail_.ok()) return;
    trail_.path.emplace_back(name);
    trail_.fail(0, back.error().message);
  }

  void rest(const Json::Object& /*unknown*/) {}

  template <class T>
  static void check_noun(const T& noun, Trail& trail) {
    CheckWalk walk(trail);
    describe(walk, noun);
    if constexpr (HasProblem<T>) {
      const std::string wrong = trail.ok() ? problem(noun) : "";
      if (!wrong.empty()) trail.fail(0, wrong);
    }
    if constexpr (HasProblemInside<T>) {
      const auto inside = trail.ok() ? problem_inside(noun) : std::nullopt;
      if (inside) trail.fail_inside(0, *inside);
    }
  }

 private:
  void check(bool /*value*/, FieldRules /*rules*/) {}
  void check(const std::string& value, FieldRules rules);
  void check(const Date& value, FieldRules rules);
  void check(const Json& /*value*/, FieldRules /*rules*/) {}
  void check_number(double value, Range range, NumberLimits limits);
  void check(double value, FieldRules rules) {
    check_number(value, rules.range, limits_of<double>(rules));
  }

  template <AnInteger T>
  void check(T value, FieldRules rules) {
    check_number(static_cast<double>(value), range_of<T>(rules), limits_of<T>(rules));
  }
  template <AQuantity T>
  void check(T value, FieldRules rules) {
    check_number(value.in(T::of_base(1)), rules.range, limits_in(T::of_base(1)));
  }
  template <ANamedEnum T>
  void check(T value, FieldRules /*rules*/) {
    if (*name_of(value) == '\0') trail_.fail(0, "holds no known value");
  }
  template <class T>
  void check(const std::optional<T>& value, FieldRules rules) {
    if (value) check(*value, rules);
  }
  template <class T>
  void check(const std::vector<T>& list, FieldRules rules) {
    for (std::size_t i = 0; i < list.size() && trail_.ok(); ++i) {
      trail_.path.push_back(std::to_string(i));
      const T& item = list[i];
      check(item, rules);
      trail_.path.pop_back();
    }
  }
  template <class T>
  void check(const std::map<std::string, T>& map, FieldRules rules) {
    for (const auto& [key, value] : map) {
      trail_.path.push_back(key);
      check(value, rules);
      trail_.path.pop_back();
    }
  }
  template <class T>
  requires ANoun<T>
  void check(const T& noun, FieldRules /*rules*/) { check_noun(noun, trail_); }

  Trail& trail_;
};

/// Makes the JSON Schema of a noun's fields.
class SchemaWalk {
 public:
  template <class T>
  void field(const char* name, const T& /*member*/, const char* doc, FieldRules rules = {}) {
    add(name, of(static_cast<const T*>(nullptr), rules), doc, kMayBeAbsent<T>);
  }

  template <class T, AQuantity Q>
  void number(const char* name, const T& /*member*/, Q unit, const char* doc,
              Range range = Range::kAny) {
    add(name, number_schema("number", range, limits_in(unit)), doc, kMayBeAbsent<T>);
  }

  template <AQuantity Q>
  void number_or_null(const char* name, const std::optional<Q>& /*member*/, Q unit, const char* doc,
                      Range range = Range::kAny) {
    add(name, or_null(number_schema("number", range, limits_in(unit))), doc, false);
  }

  template <AQuantity Q>
  void numbers(const char* name, const std::vector<Q>& /*list*/, Q unit, const char* doc,
               Range range = Range::kAny) {
    const FieldRules rules{.range = range, .max = limits_in(unit).max};
    add(name, of(static_cast<const std::vector<double>*>(nullptr), rules), doc, true);
  }

  template <class T>
  void document(const char* name, const T& /*member*/, const char* schema, const char* doc) {
    add(name, marked(static_cast<const T*>(nullptr), schema), doc, kMayBeAbsent<T>);
  }

  template <class T, class Parse>
  void text(const char* name, const T& /*member*/, Parse /*parse*/, const char* doc) {
    add(name, of(static_cast<const std::string*>(nullptr), {.range = Range::kAtLeastOne}), doc,
        false);
  }

  void rest(const Json::Object& /*unknown*/) {}

  template <class T>
  static Json schema_of() {
    SchemaWalk walk;
    const T blank{};
    describe(walk, blank);
    return walk.object();
  }

 private:
  void add(const char* name, Json schema, const char* doc, bool may_be_absent);
  Json object() const;
  static Json number_schema(const char* type, Range range, NumberLimits limits);
  static Json or_null(const Json& schema);
  static Json text_schema(std::string pattern, std::string comment = {});

  static Json of(const bool* /*type*/, FieldRules /*rules*/);
  static Json of(const double* /*type*/, FieldRules rules) {
    return number_schema("number", rules.range, limits_of<double>(rules));
  }
  static Json of(const std::string* /*type*/, FieldRules rules);
  static Json of(const Date* /*type*/, FieldRules /*rules*/) { return text_schema(kDatePattern); }
  static Json of(const Json* /*type*/, FieldRules /*rules*/) { return Json(Json::Object{}); }

  template <AnInteger T>
  static Json of(const T* /*type*/, FieldRules rules) {
    return number_schema("integer", range_of<T>(rules), limits_of<T>(rules));
  }
  template <AQuantity T>
  static Json of(const T* /*type*/, FieldRules /*rules*/) {
    return text_schema(quantity_pattern<T>(), quantity_range_text<T>());
  }
  template <ANamedEnum T>
  static Json of(const T* /*type*/, FieldRules /*rules*/) {
    Json::Array names;
    for (const auto& [value, name] : names_of(T{})) names.emplace_back(name);
    Json schema;
    schema.add("enum", {std::move(names)});
    return schema;
  }
  template <class T>
  static Json of(const std::optional<T>* /*type*/, FieldRules rules) {
    return of(static_cast<const T*>(nullptr), rules);
  }
  template <class T>
  static Json of(const std::vector<T>* /*type*/, FieldRules rules) {
    Json schema;
    schema.add("type", "array");
    schema.add("items", of(static_cast<const T*>(nullptr), rules));
    return schema;
  }
  template <class T>
  static Json of(const std::map<std::string, T>* /*type*/, FieldRules rules) {
    Json schema;
    schema.add("type", "object");
    schema.add("additionalProperties", of(static_cast<const T*>(nullptr), rules));
    return schema;
  }
  template <class T>
  requires ANoun<T>
  static Json of(const T* /*type*/, FieldRules /*rules*/) { return schema_of<T>(); }

  template <class T>
  static Json marked(const T* /*type*/, const char* schema) {
    return with_mark(schema, schema_of<T>());
  }
  template <class T>
  static Json marked(const std::optional<T>* /*type*/, const char* schema) {
    return marked(static_cast<const T*>(nullptr), schema);
  }
  template <class T>
  static Json marked(const std::vector<T>* /*type*/, const char* schema) {
    Json list;
    list.add("type", "array");
    list.add("items", marked(static_cast<const T*>(nullptr), schema));
    return list;
  }

  Json::Object properties_;
  Json::Array required_;
};

}  // namespace stint
