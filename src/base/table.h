#pragma once

#include <string>
#include <vector>

#include "base/terminal.h"

namespace stint {

enum class Align { kLeft, kRight };

struct Column {
  std::string title;
  Align align = Align::kLeft;
  // The least important columns are dropped first when the screen is too narrow.
  int importance = 0;
  int width_min = 8;  // A text column may be cut to this before any column is dropped.
  int group = 0;      // Columns of the same non-zero group are dropped together.
};

/// A column of numbers.
Column right(std::string title, int importance);

/// A table of texts for the terminal.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// Requires one cell per column.
  void add(std::vector<std::string> row);
  std::size_t rows() const { return rows_.size(); }

  /// The columns that `text` shows on the terminal, in their order.
  std::vector<std::size_t> shown_columns(const Terminal& terminal) const;

  /// The table in at most `terminal.width` columns (0: unlimited): long left-aligned texts are cut
  /// with "…", then the least important columns are dropped, and a last line names them, and
  /// `more`, which shows them. Empty cells are shown as "-", control characters as '?'.
  /// Where the terminal has ASCII only, cells are in ASCII and "~" marks what was cut.
  std::string text(const Terminal& terminal, const std::string& more = "-o csv") const;

 private:
  std::string ascii_text_of(Terminal terminal, const std::string& more) const;
  Table in_ascii() const;
  std::vector<int> natural_widths() const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace stint
