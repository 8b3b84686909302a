#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <utility>

namespace stint {
namespace {

constexpr char32_t kBroken = 0xFFFFFFFF;

/// Takes one code point off the front of `rest`; `kBroken` (and one byte) where it is not UTF-8.
char32_t take_code_point(std::string_view& rest) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(rest[i]); };
  const unsigned char first = byte(0);
  std::size_t length = 1;
  char32_t value = first;
  if (first >= 0xF0 && first < 0xF5) {
    length = 4;
    value = first & 0x07U;
  } else if (first >= 0xE0 && first < 0xF0) {
    length = 3;
    value = first & 0x0FU;
  } else if (first >= 0xC2 && first < 0xE0) {
    length = 2;
    value = first & 0x1FU;
  } else if (first >= 0x80) {
    value = kBroken;
  }
  for (std::size_t i = 1; i < length && value != kBroken; ++i) {
    if (i >= rest.size() || (byte(i) & 0xC0U) != 0x80) {
      value = kBroken;
    } else {
      value = (value << 6U) | (byte(i) & 0x3FU);
    }
  }
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (overlong || surrogate || value > 0x10FFFF) value = kBroken;
  rest.remove_prefix(value == kBroken ? 1 : length);
  return value;
}

int columns_of(char32_t point) {
  const auto within = [&](char32_t low, char32_t high) { return point >= low && point <= high; };
  if (within(0x0300, 0x036F) || within(0x200B, 0x200F) || within(0xFE00, 0xFE0F)) return 0;
  const bool wide = within(0x1100, 0x115F) || within(0x2E80, 0xA4CF) || within(0xAC00, 0xD7A3) ||
                    within(0xF900, 0xFAFF) || within(0xFE30, 0xFE6F) || within(0xFF00, 0xFF60) ||
                    within(0xFFE0, 0xFFE6) || within(0x1F300, 0x1FAFF) || within(0x20000, 0x3FFFD);
  return wide ? 2 : 1;
}

/// What stands for a character outside ASCII.
std::string_view ascii_for(char32_t point) {
  static constexpr std::pair<char32_t, std::string_view> kStandIns[] = {
      {U'×', "x"},  {U'…', "..."}, {U'±', "+-"}, {U'·', "*"},  {U'µ', "u"},
      {U'μ', "u"},  {U'≤', "<="},  {U'≥', ">="}, {U'→', "->"}, {U'≈', "~"},
      {U'²', "2"},  {U'³', "3"},   {U'‘', "'"},  {U'’', "'"},  {U'“', "\""},
      {U'”', "\""}, {U'−', "-"},   {U'│', "|"},  {U'─', "-"},  {U'√', "sqrt"}};
  for (const auto& [character, stand_in] : kStandIns) {
    if (character == point) return stand_in;
  }
  const auto within = [&](char32_t low, char32_t high) { return point >= low && point <= high; };
  if (within(0x2010, 0x2015)) return "-";                   // Hyphens and dashes.
  if (within(0x2500, 0x257F)) return "+";                   // Corners of boxes.
  if (within(0x2580, 0x259F)) return "#";                   // Blocks of bars.
  if (point == 0xA0 || within(0x2000, 0x200A)) return " ";  // Spaces.
  return "?";
}

}  // namespace

std::string_view trim_left(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  return text;
}

std::string_view trim(std::string_view text) {
  text = trim_left(text);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::vector<std::string> numbered(std::vector<std::string> names) {
  std::map<std::string, int> seen;
  for (std::string& name : names) {
    const int number = ++seen[name];
    if (number > 1) name += fmt::format(" ({})", number);
  }
  return names;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string counted(std::size_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(trim(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<int> parse_int(std::string_view text) {
  int value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc{} || end != last) return std::nullopt;
  return value;
}

std::optional<double> parse_double(std::string_view text) {
  double value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc{} || end != last || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string printable(std::string_view text) {
  constexpr std::size_t kMaxBytes = 60;
  const bool cut = text.size() > kMaxBytes;
  std::string clean;
  std::string_view rest = text;
  while (!rest.empty() && clean.size() < kMaxBytes) {
    const std::string_view before = rest;
    const char32_t point = take_code_point(rest);
    const bool control = point < 0x20 || (point >= 0x7F && point < 0xA0);
    if (control || point == kBroken) {
      clean += '?';
    } else {
      clean += before.substr(0, before.size() - rest.size());
    }
  }
  return cut ? clean + "…" : clean;
}

std::string harmless(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view before = rest;
    const char32_t point = take_code_point(rest);
    const bool control = (point < 0x20 && point != '\t') || (point >= 0x7F && point < 0xA0);
    if (control || point == kBroken) {
      clean += '?';
    } else {
      clean += before.substr(0, before.size() - rest.size());
    }
  }
  return clean;
}

std::string valid_utf8(std::string_view text) {
  if (is_utf8(text)) return std::string(text);
  std::string valid;
  valid.reserve(text.size());
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view before = rest;
    if (take_code_point(rest) == kBroken) {
      valid += '?';
    } else {
      valid += before.substr(0, before.size() - rest.size());
    }
  }
  return valid;
}

std::string without_controls(std::string_view text) {
  std::string clean(text);
  for (char& c : clean) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) c = '?';
  }
  return clean;
}

std::string ascii_text(std::string_view text) {
  std::string ascii;
  ascii.reserve(text.size());
  while (!text.empty()) {
    const char first = text.front();
    const char32_t point = take_code_point(text);
    if (point < 0x80) {
      ascii += first;
    } else {
      ascii += ascii_for(point);
    }
  }
  return ascii;
}

std::string wrapped(std::string_view text, int width, int indent) {
  std::string lines;
  int column = indent;
  for (const std::string& word : split(text, ' ')) {
    const int length = display_width(word);
    const bool fits = lines.empty() || width == 0 || column + 1 + length <= width;
    if (!lines.empty()) lines += fits ? " " : fmt::format("\n{:{}}", "", indent);
    column = fits && !lines.empty() ? column + 1 + length : indent + length;
    lines += word;
  }
  return lines;
}

std::string shell_quoted(std::string_view text) {
  const auto plain = [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("/._-+:=@%,").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return std::string(text);
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    if (take_code_point(text) == kBroken) return false;
  }
  return true;
}

int display_width(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const char32_t point = take_code_point(text);
    width += point == kBroken ? 1 : columns_of(point);
  }
  return width;
}

int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> before_last(b.size() + 1);
  std::vector<int> last(b.size() + 1);
  std::vector<int> current(b.size() + 1);
  std::iota(last.begin(), last.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) current[j] = std::min(current[j], before_last[j - 2] + 1);
    }
    before_last.swap(last);
    last.swap(current);
  }
  return last[b.size()];
}

std::vector<std::string> nearest_names(std::string_view wrong,
                                       const std::vector<std::string>& names, std::size_t limit) {
  const std::string meant = to_lower(wrong.substr(0, 100));
  const int tolerance = std::max<int>(2, static_cast<int>(meant.size()) / 3);
  std::vector<std::pair<int, std::string>> ranked;
  for (const std::string& name : names) {
    const std::string lower = to_lower(name);
    int distance = edit_distance(meant, lower);
    const bool contained = meant.size() >= 2 && lower.find(meant) != std::string::npos;
    if (contained) distance = lower.rfind(meant, 0) == 0 ? 0 : 1;
    if (distance <= tolerance) ranked.emplace_back(distance, name);
  }
  std::sort(ranked.begin(), ranked.end());
  ranked.erase(std::unique(ranked.begin(), ranked.end()), ranked.end());
  std::vector<std::string> nearest;
  for (const auto& [distance, name] : ranked) {
    if (nearest.size() < limit) nearest.push_back(name);
  }
  return nearest;
}

std::string did_you_mean(const std::vector<std::string>& names) {
  if (names.empty()) return "";
  std::string list = fmt::format("'{}'", names[0]);
  for (std::size_t i = 1; i < names.size(); ++i) {
    list += fmt::format("{}'{}'", i + 1 == names.size() ? " or " : ", ", names[i]);
  }
  return fmt::format(" Did you mean {}?", list);
}

}  // namespace stint
