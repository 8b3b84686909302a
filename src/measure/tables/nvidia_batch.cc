#include "measure/tables/nvidia_batch.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "measure/tables/table_cells.h"

namespace stint {
namespace {

constexpr double kBinaryThousand = 1024;
constexpr double kLargestNumber = 1e300;  // Leaves room for the factor above.

/// The position of the first of `words` in `text`.
std::size_t first_of(std::string_view text, std::initializer_list<std::string_view> words) {
  std::size_t first = std::string_view::npos;
  for (const std::string_view word : words) first = std::min(first, text.find(word));
  return first;
}

std::size_t full_label(std::string_view lower) { return first_of(lower, {"fp32", "tf32", "(tf)"}); }
std::size_t mixed_label(std::string_view lower) {
  return first_of(lower, {"mixed", "amp", "fp16"});
}

bool says(std::size_t position) { return position != std::string_view::npos; }

bool names_both(std::string_view lower) {
  return says(full_label(lower)) && says(mixed_label(lower));
}

/// The cell without text in parentheses.
std::string without_labels(std::string_view cell) {
  std::string kept;
  int depth = 0;
  for (const char c : cell) {
    if (c == '(') ++depth;
    if (depth == 0) kept += c;
    if (c == ')' && depth > 0) --depth;
  }
  return kept;
}

/// The two numbers of a cell; nothing when it does not hold two. A comma separates them only when
/// the labels say that there are two, as it also separates thousands.
std::optional<std::pair<double, double>> two_numbers(std::string_view cell, bool labelled) {
  std::string text = without_labels(cell);
  const std::size_t word = text.find(" and ");
  if (word != std::string::npos) text = text.substr(0, word) + '/' + text.substr(word + 5);
  for (const char separator : {'/', ':', ','}) {
    if (separator == ',' && !labelled) continue;
    const std::vector<std::string> parts = split(text, separator);
    if (parts.size() != 2) continue;
    const auto first = printed_number(parts[0]);
    const auto second = printed_number(parts[1]);
    if (first && second) return std::pair(*first, *second);
  }
  return std::nullopt;
}

std::optional<double> chosen(std::pair<double, double> two, std::string_view labels,
                             std::string_view precision) {
  if (two.first == two.second) return two.first;
  const std::string lower = to_lower(precision);
  const bool mixed = says(mixed_label(lower));
  if (mixed == says(full_label(lower))) return std::nullopt;
  if (labels.empty())
    return mixed ? std::max(two.first, two.second) : std::min(two.first, two.second);
  const bool mixed_first = mixed_label(labels) < full_label(labels);
  return mixed == mixed_first ? two.first : two.second;
}

/// "Throughput - TF32 (BS=104)" gives 104.
std::optional<double> batch_in_title(std::string_view title) {
  const std::size_t start = title.find("BS=");
  if (start == std::string_view::npos) return 1;
  const std::string_view rest = title.substr(start + 3);
  std::size_t digits = 0;
  while (digits < rest.size() && is_digit(rest[digits])) ++digits;
  return positive_of(rest.substr(0, digits));
}

/// True when every comma of `text` stands before three digits that end a group.
bool has_thousands_only(std::string_view text) {
  const std::vector<std::string> groups = split(text, ',');
  for (std::size_t i = 1; i < groups.size(); ++i) {
    if (groups[i].size() < 3 || !std::all_of(groups[i].begin(), groups[i].begin() + 3, is_digit)) {
      return false;
    }
    const bool last = i + 1 == groups.size();
    if (groups[i].size() > 3 && !(last && groups[i][3] == '.')) return false;
  }
  return true;
}

}  // namespace

std::optional<double> printed_number(std::string_view text) {
  std::string_view digits = trim(text);
  const bool thousands = !digits.empty() && (digits.back() == 'k' || digits.back() == 'K');
  if (thousands) digits.remove_suffix(1);
  if (digits.empty() || !has_thousands_only(digits)) return std::nullopt;
  std::string plain(digits);
  plain.erase(std::remove(plain.begin(), plain.end(), ','), plain.end());
  const auto value = positive_of(plain);
  if (!value || *value > kLargestNumber) return std::nullopt;
  return *value * (thousands ? kBinaryThousand : 1);
}

std::optional<double> batch_per_gpu(const PrintedBatch& printed) {
  if (printed.cell.empty()) return batch_in_title(printed.throughput_column);
  const std::string cell = to_lower(printed.cell);
  const std::string column = to_lower(printed.column);
  std::string labels = names_both(cell) ? cell : "";
  if (labels.empty() && names_both(column)) labels = column;

  std::optional<double> batch;
  if (const auto two = two_numbers(cell, !labels.empty())) {
    batch = chosen(*two, labels, printed.precision);
  } else {
    batch = printed_number(cell);
  }
  const bool shared = says(first_of(column, {"global", "total"}));
  if (batch && shared) *batch /= printed.gpus;
  return batch;
}

}  // namespace stint
