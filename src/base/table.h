#pragma once

#include <string>
#include <vector>

#include "base/terminal.h"

namespace stint {

enum class Align { kLeft, kRight };

struct Column {
  std::string title;
  Align align = Align::kLeft;
  int importance = 0;  // When the screen is too narrow, the least important columns go first.
  int width_min = 8;   // A text column may be cut to this before any column is dropped.
  int group = 0;       // Columns of the same group other than 0 are left out together.
};

/// A column of numbers.
Column right(std::string title, int importance);

/// A table of texts for a person to read.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// Requires one cell per column.
  void add(std::vector<std::string> row);
  std::size_t rows() const { return rows_.size(); }

  /// The table in at most `terminal.width` columns (0: as wide as it needs): long left-aligned
  /// texts are cut with "…", then the least important columns are left out, and a last line says
  /// which, and that `more` has them. Empty cells show as "-", control characters as '?'. Where the
  /// terminal has ASCII only, cells are in ASCII and "~" marks what was cut.
  std::string text(const Terminal& terminal, const std::string& more = "-o csv") const;

 private:
  std::string ascii_text_of(Terminal terminal, const std::string& more) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace stint
