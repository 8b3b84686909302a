#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/codec_fields.h"
#include "base/codec_read.h"
#include "base/codec_write.h"
#include "base/result.h"

/// A noun describes its fields once, and the four walks below read it, write it, check it and make
/// its JSON Schema from that one description, so that they cannot disagree:
///
///   template <class Walk>
///   void describe(Walk& walk, Like<Walk, Price>& it) {
///     walk.field("price", it.rate, "Price of one hour.", {.range = Range::kPositive});
///     walk.field("date", it.date, "Date of the price.");
///     walk.rest(it.unknown);
///   }
///
/// A field whose type is optional, a vector or a map may be absent; any other is required. A rule
/// about several fields is a function `std::string problem(const Price&)`, which returns an empty
/// text when there is no error. Quantities are texts with their unit; `number` writes them as plain
/// numbers instead, for results whose keys name the unit. `numbers` does so for a list, and
/// `number_or_null` where null means that there is none. A noun inside another with its own schema
/// mark is a `document`.
namespace stint {

/// A noun read from a file, with warnings.
template <class T>
struct Loaded {
  T noun;
  std::vector<std::string> warnings;
};

/// Bad input unless `json` is a `schema` ("stint.job/1") document; the errors for another noun, a
/// newer version and a missing mark differ.
Status check_schema_mark(const Json& json, std::string_view schema, const std::string& source);

/// Wraps the schema of a noun's fields into a document of docs/formats.
Json schema_document(std::string_view schema, std::string_view title, const Json& fields);

template <class T>
Result<Loaded<T>> decode(const Json& json, std::string_view schema, const std::string& source) {
  const Status mark = check_schema_mark(json, schema, source);
  if (!mark.ok()) return mark.error();
  Trail trail{.source = source};
  T noun{};
  ReadWalk::read_noun(json, noun, trail);
  if (!trail.ok()) return bad_input(*trail.error);
  return Loaded<T>{std::move(noun), std::move(trail.warnings)};
}

/// Reads the text of a whole file.
template <class T>
Result<Loaded<T>> read_document(std::string_view text, std::string_view schema,
                                const std::string& source) {
  const auto json = parse_json(text, source);
  if (!json.ok()) return json.error();
  return decode<T>(*json, schema, source);
}

template <class T>
Json encode(const T& noun, std::string_view schema) {
  Json start;
  start.add("schema", Json(std::string(schema)));
  return WriteWalk::write_noun(noun, std::move(start));
}

/// The text of a whole file, ending in a newline.
template <class T>
std::string write_document(const T& noun, std::string_view schema) {
  return to_text(encode(noun, schema), JsonStyle::kPretty) + "\n";
}

template <class T>
Status check_fields(const T& noun, std::string_view what) {
  Trail trail{.source = std::string(what)};
  CheckWalk::check_noun(noun, trail);
  if (!trail.ok()) return bad_input(*trail.error);
  return {};
}

}  // namespace stint
