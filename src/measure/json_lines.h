#pragma once

#include <fmt/format.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/codec.h"
#include "base/text.h"

namespace stint {

/// Reads a document from each line; empty lines are skipped. A last line that was cut off in the
/// middle of a write is left out with a warning.
template <class T>
Result<Loaded<std::vector<T>>> read_json_lines(std::string_view text, std::string_view schema,
                                               const std::string& source) {
  Loaded<std::vector<T>> all;
  for (int line = 1; !text.empty(); ++line) {
    const std::size_t end = text.find('\n');
    const std::string_view one = text.substr(0, end);
    const bool cut_off = end == std::string_view::npos;
    text.remove_prefix(cut_off ? text.size() : end + 1);
    if (trim(one).empty()) continue;
    const auto json = parse_json(one, source, line);
    if (!json.ok() && cut_off) {
      all.warnings.push_back(
          fmt::format("{}:{}: cut off in the middle of a write; left out", source, line));
      break;
    }
    if (!json.ok()) return json.error();
    auto read = decode<T>(*json, schema, source);
    if (!read.ok()) return read.error();
    all.noun.push_back(std::move(read->noun));
    for (std::string& warning : read->warnings) all.warnings.push_back(std::move(warning));
  }
  return all;
}

}  // namespace stint
