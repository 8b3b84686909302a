#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace stint {

/// The rows of all `files`, one after the other, by `read(text, source)`, which returns a Result of
/// a vector. The error is that of the first file that cannot be read.
template <class Row, class Read>
Result<std::vector<Row>> rows_of_files(const std::vector<std::string>& files, Read read) {
  std::vector<Row> all;
  for (const std::string& file : files) {
    const auto text = read_file(file);
    if (!text.ok()) return text.error();
    auto rows = read(*text, file);
    if (!rows.ok()) return rows.error();
    std::move(rows->begin(), rows->end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace stint
