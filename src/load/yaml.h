#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stint {

/// A place in a text, line and column from 1.
struct TextPlace {
  int line = 1;
  int column = 1;

  bool operator==(const TextPlace&) const = default;
};

/// "stint.yaml:3:7", as compilers and editors write a place.
std::string to_text(const std::string& source, const TextPlace& place);

struct YamlMember;

/// A YAML value with its place. A scalar is its text: whoever asks decides whether it is a number.
struct Yaml {
  enum class Kind { kNull, kText, kList, kMapping };

  Kind kind = Kind::kNull;
  TextPlace place;
  std::string text;                 // Of a scalar.
  std::vector<Yaml> items;          // Of a list.
  std::vector<YamlMember> members;  // Of a mapping, in their order.

  /// "a list", "a mapping" …, for error messages.
  const char* name() const;
};

struct YamlMember {
  std::string key;
  TextPlace place;
  Yaml value;
};

// Far above what a person writes, and low enough that no text takes a noticeable time.
inline constexpr std::size_t kYamlBytesMax = 65'536;
inline constexpr std::size_t kYamlValuesMax = 2'000;
inline constexpr std::size_t kYamlDepthMax = 8;

/// Reads one YAML document; an empty one is null. Errors are bad input and name `source`, line and
/// column. Refuses anchors, aliases and tags, a second document, a key that is no scalar or stands
/// twice, text that is not UTF-8 or holds control characters, and what exceeds the limits above.
Result<Yaml> parse_yaml(std::string_view text, const std::string& source);

}  // namespace stint
