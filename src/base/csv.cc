#include "base/csv.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "base/text.h"

namespace stint {
namespace {

/// Reads records from a text one by one.
class Scanner {
 public:
  Scanner(std::string_view text, std::size_t cells_max) : rest_(text), cells_max_(cells_max) {}

  bool done() const { return rest_.empty(); }
  int line() const { return line_; }
  const std::string& problem() const { return problem_; }

  /// The cells of the next record; nothing when a quote is wrong or there are too many cells (see
  /// `problem`).
  std::optional<std::vector<std::string>> take_record() {
    std::vector<std::string> cells;
    while (true) {
      auto cell = !rest_.empty() && rest_[0] == '"' ? take_quoted() : take_plain();
      if (!cell) return std::nullopt;
      if (++cells_ > cells_max_) {
        return wrong(fmt::format("the table has more than {} cells; split it", cells_max_));
      }
      cells.push_back(std::move(*cell));
      if (!rest_.empty() && rest_[0] == ',') {
        rest_.remove_prefix(1);
      } else {
        skip_line_break();
        return cells;
      }
    }
  }

 private:
  std::optional<std::string> take_plain() {
    const std::size_t end = std::min(rest_.find_first_of(",\r\n"), rest_.size());
    std::string cell(rest_.substr(0, end));
    rest_.remove_prefix(end);
    return cell;
  }

  std::optional<std::string> take_quoted() {
    std::string cell;
    rest_.remove_prefix(1);
    while (true) {
      const std::size_t quote = rest_.find('"');
      if (quote == std::string_view::npos) return wrong("a quoted cell has no closing quote");
      line_ += static_cast<int>(
          std::count(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(quote), '\n'));
      cell += rest_.substr(0, quote);
      rest_.remove_prefix(quote + 1);
      if (rest_.empty() || rest_[0] != '"') break;
      cell += '"';
      rest_.remove_prefix(1);
    }
    const bool ends = rest_.empty() || rest_[0] == ',' || rest_[0] == '\r' || rest_[0] == '\n';
    if (!ends) return wrong("text follows the closing quote of a cell");
    return cell;
  }

  std::nullopt_t wrong(std::string problem) {
    problem_ = std::move(problem);
    return std::nullopt;
  }

  /// "\n", "\r\n" and a lone "\r" each end one line.
  void skip_line_break() {
    if (rest_.empty()) return;
    const bool pair = rest_.starts_with("\r\n");
    rest_.remove_prefix(pair ? 2 : 1);
    ++line_;
  }

  std::string_view rest_;
  std::size_t cells_ = 0;  // Taken so far.
  std::size_t cells_max_;
  std::string problem_;
  int line_ = 1;
};

/// The names of columns for an error, of which a wrong file may have millions.
std::string shown(const std::vector<std::string>& names) {
  constexpr std::size_t kBytesShown = 400;
  std::size_t count = 0;
  for (std::size_t bytes = 0; count < names.size(); ++count) {
    bytes += names[count].size();
    if (bytes > kBytesShown) break;
  }
  const std::string text = join({names.begin(), names.begin() + static_cast<long>(count)}, ", ");
  if (count == names.size()) return text;
  return fmt::format("{}{}and {} more", text, text.empty() ? "" : " ", names.size() - count);
}

}  // namespace

Result<Csv> Csv::parse(std::string_view text, const std::string& source, std::size_t cells_max) {
  while (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (!is_utf8(text)) return bad_input(fmt::format("{}: the text is not UTF-8", source));
  Csv csv;
  csv.source_ = source;
  Scanner scanner(text, cells_max);
  while (!scanner.done()) {
    const int line = scanner.line();
    auto cells = scanner.take_record();
    if (!cells) return bad_input(fmt::format("{}:{}: {}", source, line, scanner.problem()));
    if (cells->size() == 1 && trim((*cells)[0]).empty()) continue;
    if (csv.header_.empty()) {
      for (std::string& name : *cells) name = std::string(trim(name));
      csv.header_ = std::move(*cells);
      const auto twice = csv.repeated_column();
      if (!twice.empty()) {
        return bad_input(fmt::format("{}:{}: the column '{}' appears twice in the header", source,
                                     line, printable(twice)));
      }
      continue;
    }
    if (cells->size() != csv.header_.size()) {
      return bad_input(fmt::format("{}:{}: this line has {} cells, but the header has {}", source,
                                   line, cells->size(), csv.header_.size()));
    }
    csv.rows_.push_back({std::move(*cells), line});
  }
  if (csv.header_.empty()) return bad_input(fmt::format("{}: the file is empty", source));
  return csv;
}

Result<Csv> Csv::parse(std::string_view text, const std::string& source) {
  return parse(text, source, kCsvCellsMax);
}

std::string Csv::repeated_column() const {
  std::set<std::string> seen;
  for (const std::string& name : header_) {
    if (!name.empty() && !seen.insert(name).second) return name;
  }
  return "";
}

std::optional<std::size_t> Csv::find_column(std::string_view name) const {
  const auto found = std::find(header_.begin(), header_.end(), name);
  if (found == header_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - header_.begin());
}

Status Csv::require_columns(const std::vector<std::string>& names) const {
  std::vector<std::string> missing;
  for (const std::string& name : names) {
    if (!find_column(name)) missing.push_back(name);
  }
  if (missing.empty()) return {};
  return bad_input(fmt::format("{}:1: the header lacks the column{} {}; it has {}", source_,
                               missing.size() == 1 ? "" : "s", join(missing, ", "),
                               shown(header_)));
}

const std::string& Csv::cell(std::size_t row, std::size_t column) const {
  CHECK(row < rows_.size());
  CHECK(column < header_.size());
  return rows_[row].cells[column];
}

std::string_view Csv::cell(std::size_t row, std::string_view name) const {
  const auto column = find_column(name);
  return column ? trim(cell(row, *column)) : std::string_view();
}

Error Csv::error_at(std::size_t row, std::string_view column, std::string_view message) const {
  return bad_input(fmt::format("{}:{}: column {}: {}", source_, line(row), column, message));
}

std::string csv_cell(std::string_view cell) {
  const bool plain = cell.find_first_of(",\"\r\n") == std::string_view::npos;
  if (plain && !cell.starts_with(kByteOrderMark)) return std::string(cell);
  std::string quoted = "\"";
  for (const char c : cell) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::vector<std::string> quoted;
  quoted.reserve(cells.size());
  for (const std::string& cell : cells) quoted.push_back(csv_cell(cell));
  return join(quoted, ",") + "\n";
}

}  // namespace stint
