#include "base/codec.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/text.h"

namespace stint {
namespace {

/// "stint.job/1" as its name and its version; no version when it is not of that form.
std::pair<std::string_view, std::optional<int>> schema_parts(std::string_view schema) {
  const std::size_t slash = schema.find('/');
  if (slash == std::string_view::npos) return {schema, std::nullopt};
  return {schema.substr(0, slash), parse_int(schema.substr(slash + 1))};
}

}  // namespace

std::string Trail::place(int line) const {
  std::string text = source;
  if (line > 0) text += fmt::format(":{}", line);
  const std::string at = json_pointer(path);
  return at.empty() ? text + ": " : fmt::format("{}: {}: ", text, at);
}

void Trail::fail(int line, std::string_view message) {
  if (!error) error = place(line) + std::string(message);
}

void Trail::fail_inside(int line, const Problem& problem) {
  const std::size_t depth = path.size();
  path.insert(path.end(), problem.path.begin(), problem.path.end());
  fail(line, problem.message);
  path.resize(depth);
}

void Trail::warn(int line, std::string_view message) {
  warnings.push_back(place(line) + std::string(message));
}

std::string range_problem(Range range, double value, std::string_view shown, NumberLimits limits) {
  const auto must_be = [&](std::string_view what) {
    return fmt::format("must be {}, not {}", what, shown);
  };
  const auto within = [&](double min, double max) {
    return value >= min && value <= max ? "" : must_be(fmt::format("from {} to {}", min, max));
  };
  if (!std::isfinite(value)) return must_be("a finite number");
  switch (range) {
    case Range::kAny:
      return within(-limits.max, limits.max);
    case Range::kPositive:
      return value > 0 ? within(limits.min, limits.max) : must_be("above zero");
    case Range::kNotNegative:
      return value >= 0 ? within(0, limits.max) : must_be("zero or more");
    case Range::kFraction:
      return within(0, 1);
    case Range::kAtLeastOne:
      return value >= 1 ? within(1, limits.max) : must_be("1 or more");
  }
  return "";
}

int ReadWalk::line_of(const Json& json, const std::vector<std::string>& path) {
  const Json* at = &json;
  for (const std::string& step : path) {
    const auto* array = at->as<Json::Array>();
    const auto index = parse_int(step);
    const bool inside = array != nullptr && index && *index >= 0 &&
                        static_cast<std::size_t>(*index) < array->size();
    const Json* next = inside ? &(*array)[static_cast<std::size_t>(*index)] : at->find(step);
    if (next == nullptr) break;
    at = next;
  }
  return at->line();
}

void ReadWalk::rest(Json::Object& unknown) {
  const auto* object = json_.as<Json::Object>();
  for (const auto& [name, value] : *object) {
    const bool known = std::find(known_.begin(), known_.end(), name) != known_.end();
    const bool mark = name == "schema" && trail_.path.empty();
    if (known || mark) continue;
    unknown.emplace_back(name, value);
    trail_.path.push_back(name);
    trail_.warn(value.line(), "unknown field, kept as it is");
    trail_.path.pop_back();
  }
}

std::string ReadWalk::missing(const char* name) {
  return fmt::format("the field \"{}\" is missing; add it", name);
}

void ReadWalk::check_mark(const Json& json, const char* schema) {
  const Json* mark = json.find("schema");
  const auto* text = mark == nullptr ? nullptr : mark->as<std::string>();
  if (text == nullptr || *text != schema) {
    trail_.fail(json.line(), fmt::format("must be a {} document", schema));
  }
}

void ReadWalk::wrong_kind(const Json& json, const char* wanted) {
  const bool null = json.as<std::nullptr_t>() != nullptr;
  const auto* number = json.as<double>();
  const std::string found = number != nullptr ? to_text(json, JsonStyle::kLine) : json.kind();
  trail_.fail(json.line(), fmt::format("must be {}, not {}{}", wanted, found,
                                       null ? "; leave the field out if it is unknown" : ""));
}

void ReadWalk::check_range(const Json& json, Range range, double value, NumberLimits limits) {
  const std::string shown = printable(to_text(json, JsonStyle::kLine));
  const std::string wrong = range_problem(range, value, shown, limits);
  if (!wrong.empty()) trail_.fail(json.line(), wrong);
}

void ReadWalk::read(const Json& json, bool& value, FieldRules /*rules*/) {
  const auto* boolean = json.as<bool>();
  if (boolean == nullptr) return wrong_kind(json, "true or false");
  value = *boolean;
}

double ReadWalk::read_number(const Json& json, Range range, NumberLimits limits) {
  const auto* number = json.as<double>();
  const auto* whole = json.as<std::int64_t>();
  if (number == nullptr && whole == nullptr) {
    wrong_kind(json, "a number");
    return 0;
  }
  const double value = number != nullptr ? *number : static_cast<double>(*whole);
  check_range(json, range, value, limits);
  return value;
}

std::int64_t ReadWalk::read_integer(const Json& json, Range range, NumberLimits limits) {
  const auto* whole = json.as<std::int64_t>();
  if (whole == nullptr) {
    wrong_kind(json, "a whole number");
    return 0;
  }
  check_range(json, range, static_cast<double>(*whole), limits);
  return trail_.ok() ? *whole : 0;
}

void ReadWalk::read(const Json& json, std::string& value, FieldRules rules) {
  const auto* text = json.as<std::string>();
  if (text == nullptr) return wrong_kind(json, "a text");
  value = *text;
  if (rules.range == Range::kAtLeastOne && value.empty()) {
    trail_.fail(json.line(), "must not be empty");
  }
}

void ReadWalk::read(const Json& json, Date& value, FieldRules /*rules*/) {
  std::string text;
  read(json, text, {});
  if (!trail_.ok()) return;
  const auto date = parse_date(text);
  if (!date.ok()) return trail_.fail(json.line(), date.error().message);
  value = *date;
}

void WriteWalk::rest(const Json::Object& unknown) {
  for (const auto& [name, value] : unknown) json_.add(name, value);
}

void CheckWalk::check_number(double value, Range range, NumberLimits limits) {
  const std::string wrong = range_problem(range, value, fmt::format("{}", value), limits);
  if (!wrong.empty()) trail_.fail(0, wrong);
}

void CheckWalk::check(const Date& value, FieldRules /*rules*/) {
  const auto real = parse_date(to_text(value));
  if (!real.ok()) trail_.fail(0, real.error().message);
}

void CheckWalk::check(const std::string& value, FieldRules rules) {
  if (rules.range == Range::kAtLeastOne && value.empty()) trail_.fail(0, "must not be empty");
}

void SchemaWalk::add(const char* name, Json schema, const char* doc, bool may_be_absent) {
  schema.add("description", doc);
  properties_.emplace_back(name, std::move(schema));
  if (!may_be_absent) required_.emplace_back(name);
}

Json SchemaWalk::object() const {
  Json schema;
  schema.add("type", "object");
  schema.add("properties", {properties_});
  if (!required_.empty()) schema.add("required", {required_});
  return schema;
}

Json SchemaWalk::number_schema(const char* type, Range range, NumberLimits limits) {
  const auto bound = [&](double value) {
    const bool whole =
        std::abs(value) <= static_cast<double>(kLongCountMax) && value == std::floor(value);
    return whole ? Json(Json::Value{static_cast<std::int64_t>(value)}) : Json(value);
  };
  Json schema;
  schema.add("type", type);
  switch (range) {
    case Range::kAny:
      schema.add("minimum", bound(-limits.max));
      break;
    case Range::kPositive:
      schema.add("minimum", bound(limits.min));
      break;
    case Range::kNotNegative:
    case Range::kFraction:
      schema.add("minimum", 0);
      break;
    case Range::kAtLeastOne:
      schema.add("minimum", 1);
      break;
  }
  schema.add("maximum", range == Range::kFraction ? Json(1) : bound(limits.max));
  return schema;
}

Json SchemaWalk::or_null(const Json& schema) {
  Json either;
  for (const auto& [name, value] : *schema.as<Json::Object>()) {
    either.add(name, name == "type" ? Json(Json::Array{value, "null"}) : value);
  }
  return either;
}

Json SchemaWalk::text_schema(std::string pattern, std::string comment) {
  Json schema;
  schema.add("type", "string");
  schema.add("pattern", Json(std::move(pattern)));
  if (!comment.empty()) schema.add("$comment", Json(std::move(comment)));
  return schema;
}

Json SchemaWalk::of(const bool* /*type*/, FieldRules /*rules*/) {
  Json schema;
  schema.add("type", "boolean");
  return schema;
}

Json SchemaWalk::of(const std::string* /*type*/, FieldRules rules) {
  Json schema;
  schema.add("type", "string");
  if (rules.range == Range::kAtLeastOne) schema.add("minLength", 1);
  return schema;
}

Status check_schema_mark(const Json& json, std::string_view schema, const std::string& source) {
  const Json* mark = json.find("schema");
  const auto* text = mark == nullptr ? nullptr : mark->as<std::string>();
  if (text == nullptr) {
    return bad_input(fmt::format("{}:{}: not a Stint file: it lacks \"schema\": \"{}\"", source,
                                 json.line(), schema));
  }
  if (*text == schema) return {};
  const auto [found_name, found_version] = schema_parts(*text);
  const auto [wanted_name, wanted_version] = schema_parts(schema);
  if (found_name == wanted_name && found_version && *found_version > *wanted_version) {
    return bad_input(
        fmt::format("{}:{}: from a newer Stint ({}; this version reads up to {}); update Stint",
                    source, mark->line(), printable(*text), schema));
  }
  return bad_input(fmt::format("{}:{}: this is a {} file, but a {} file is needed", source,
                               mark->line(), printable(*text), schema));
}

Json with_mark(std::string_view schema, const Json& fields) {
  Json mark;
  mark.add("const", Json(std::string(schema)));
  mark.add("description", "What this document is, and the version of its form.");
  Json document{Json::Object{}};
  for (const auto& [name, value] : *fields.as<Json::Object>()) {
    Json copy = value;
    if (name == "properties") {
      auto& properties = *copy.as<Json::Object>();
      properties.insert(properties.begin(), {"schema", mark});
    }
    if (name == "required") {
      auto& required = *copy.as<Json::Array>();
      required.insert(required.begin(), Json("schema"));
    }
    document.add(name, std::move(copy));
  }
  if (document.find("required") == nullptr) document.add("required", {Json::Array{"schema"}});
  return document;
}

Json schema_document(std::string_view schema, std::string_view title, const Json& fields) {
  Json document;
  document.add("$schema", "http://json-schema.org/draft-07/schema#");
  document.add("title", Json(std::string(title)));
  const Json marked = with_mark(schema, fields);
  for (const auto& [name, value] : *marked.as<Json::Object>()) document.add(name, value);
  return document;
}

}  // namespace stint
