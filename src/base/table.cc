#include "base/table.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

#include "base/check.h"
#include "base/text.h"

namespace stint {
namespace {

constexpr int kGap = 2;
constexpr const char* kCut = "…";  // Stands for what was cut off.

/// `text` cut or padded to exactly `width` columns.
std::string fitted(const std::string& text, int width, Align align) {
  const int wide = display_width(text);
  if (wide <= width) {
    const std::string space(static_cast<std::size_t>(width - wide), ' ');
    return align == Align::kLeft ? text + space : space + text;
  }
  std::string cut = text;
  while (!cut.empty() && display_width(cut) > width - 1) {
    do {
      cut.pop_back();
    } while (!cut.empty() && (static_cast<unsigned char>(cut.back()) & 0xC0U) == 0x80);
    while (!cut.empty() && !is_utf8(cut)) cut.pop_back();
  }
  cut += kCut;
  return cut + std::string(static_cast<std::size_t>(width - display_width(cut)), ' ');
}

const std::string& shown(const std::string& cell) {
  static const std::string kEmpty = "-";
  return cell.empty() ? kEmpty : cell;
}

/// The columns that are shown, with their widths.
struct Fit {
  std::vector<std::size_t> kept;
  std::vector<int> widths;  // By column, shown or not.

  int total() const {
    int sum = kGap * std::max(0, static_cast<int>(kept.size()) - 1);
    for (const std::size_t column : kept) sum += widths[column];
    return sum;
  }
};

/// Cuts the widest text column first, a column at a time, down to its minimum.
void shrink(Fit& fit, const std::vector<Column>& columns, int width) {
  while (fit.total() > width) {
    std::size_t widest = columns.size();
    for (const std::size_t column : fit.kept) {
      const bool can =
          columns[column].align == Align::kLeft && fit.widths[column] > columns[column].width_min;
      if (can && (widest == columns.size() || fit.widths[column] > fit.widths[widest])) {
        widest = column;
      }
    }
    if (widest == columns.size()) return;
    --fit.widths[widest];
  }
}

Fit fit_columns(const std::vector<Column>& columns, const std::vector<int>& natural, int width) {
  Fit fit;
  fit.kept.resize(columns.size());
  std::iota(fit.kept.begin(), fit.kept.end(), std::size_t{0});
  while (true) {
    fit.widths = natural;
    shrink(fit, columns, width);
    if (fit.total() <= width || fit.kept.size() == 1) return fit;
    const auto least =
        std::min_element(fit.kept.begin(), fit.kept.end(), [&](std::size_t a, std::size_t b) {
          return columns[a].importance < columns[b].importance;
        });
    const std::size_t gone = *least;
    std::erase_if(fit.kept, [&](std::size_t column) {
      const bool together =
          columns[gone].group != 0 && columns[column].group == columns[gone].group;
      return column == gone || together;
    });
  }
}

int width_of(const Terminal& terminal) { return terminal.width > 0 ? terminal.width : 1 << 20; }

std::string without_trailing_space(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

Column right(std::string title, int importance) {
  return {.title = std::move(title), .align = Align::kRight, .importance = importance};
}

void Table::add(std::vector<std::string> row) {
  CHECK(row.size() == columns_.size());
  for (std::string& cell : row) cell = without_controls(cell);
  rows_.push_back(std::move(row));
}

Table Table::in_ascii() const {
  std::vector<Column> columns = columns_;
  for (Column& column : columns) column.title = ascii_text(column.title);
  Table plain(std::move(columns));
  for (std::vector<std::string> row : rows_) {
    for (std::string& cell : row) cell = ascii_text(cell);
    plain.add(std::move(row));
  }
  return plain;
}

std::string Table::ascii_text_of(Terminal terminal, const std::string& more) const {
  terminal.ascii = false;
  std::string text = in_ascii().text(terminal, more);
  // What is left is where a text was cut; its mark must not be wider.
  const std::string_view mark = kCut;
  for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos;) {
    text.replace(at, mark.size(), "~");
  }
  return text;
}

std::vector<int> Table::natural_widths() const {
  std::vector<int> natural;
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    int width = display_width(columns_[column].title);
    for (const auto& row : rows_) width = std::max(width, display_width(shown(row[column])));
    natural.push_back(width);
  }
  return natural;
}

std::vector<std::size_t> Table::shown_columns(const Terminal& terminal) const {
  const std::vector<int> natural = terminal.ascii ? in_ascii().natural_widths() : natural_widths();
  return fit_columns(columns_, natural, width_of(terminal)).kept;
}

std::string Table::text(const Terminal& terminal, const std::string& more) const {
  if (terminal.ascii) return ascii_text_of(terminal, more);
  const int width = width_of(terminal);
  const Fit fit = fit_columns(columns_, natural_widths(), width);

  const auto line = [&](const auto& cell_of) {
    std::string text;
    for (const std::size_t column : fit.kept) {
      if (!text.empty()) text += std::string(kGap, ' ');
      text += fitted(cell_of(column), fit.widths[column], columns_[column].align);
    }
    return without_trailing_space(std::move(text));
  };
  std::string text =
      painted(line([&](std::size_t c) { return columns_[c].title; }), Colour::kBold, terminal) +
      "\n";
  for (const auto& row : rows_) text += line([&](std::size_t c) { return shown(row[c]); }) + "\n";

  std::vector<std::string> dropped;
  std::vector<int> groups;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (std::find(fit.kept.begin(), fit.kept.end(), c) == fit.kept.end()) {
      const bool said = columns_[c].group != 0 &&
                        std::find(groups.begin(), groups.end(), columns_[c].group) != groups.end();
      if (!said) dropped.push_back(columns_[c].title);
      groups.push_back(columns_[c].group);
    }
  }
  if (!dropped.empty()) {
    const std::string hint =
        fmt::format("Hidden columns: {}; {} shows all.", join(dropped, ", "), more);
    const std::string cut = without_trailing_space(fitted(hint, width, Align::kLeft));
    text += painted(cut, Colour::kDim, terminal) + "\n";
  }
  return text;
}

}  // namespace stint
