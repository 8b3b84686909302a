#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stint {

// ASCII tests that do not depend on the locale.
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

/// What some programs put at the start of a UTF-8 file.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string_view trim_left(std::string_view text);
std::string_view trim(std::string_view text);
std::string to_lower(std::string_view text);
std::string join(const std::vector<std::string>& parts, std::string_view separator);

/// Names told apart: of equal ones the second is "a (2)", the third "a (3)".
std::vector<std::string> numbered(std::vector<std::string> names);

/// "1 offer", "3 offers".
std::string counted(std::size_t count, std::string_view thing);

/// The parts of `text` between `separator`s, trimmed; empty parts are kept.
std::vector<std::string> split(std::string_view text, char separator);

/// `text` as an integer, if all of it is one that fits an int.
std::optional<int> parse_int(std::string_view text);

/// `text` as a finite decimal number, if all of it is one.
std::optional<double> parse_double(std::string_view text);

/// `text` cut to a bearable length with control bytes and broken UTF-8 replaced by '?', for error
/// messages that quote input.
std::string printable(std::string_view text);

/// `text` with control characters and broken UTF-8 replaced by '?', of any length; tabs stay.
std::string harmless(std::string_view text);

/// `text` with control characters replaced by '?', so that data cannot steer the terminal.
std::string without_controls(std::string_view text);

/// `text` in ASCII: characters outside of it by those that stand for them ("x" for a multiplication
/// sign, "-" for dashes, "..." for an ellipsis), or by '?'.
std::string ascii_text(std::string_view text);

/// `text` broken into lines of at most `width` columns, each after the first indented by `indent`
/// spaces; a width of 0 breaks nothing.
std::string wrapped(std::string_view text, int width, int indent);

/// `text` as one word of a shell command.
std::string shell_quoted(std::string_view text);

/// True when `text` is well-formed UTF-8.
bool is_utf8(std::string_view text);

/// The text with a question mark in place of each byte that is not UTF-8.
std::string valid_utf8(std::string_view text);

/// How many columns of a terminal `text` takes. East Asian wide characters count two, combining
/// marks none; everything else one.
int display_width(std::string_view text);

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`
/// (optimal string alignment).
int edit_distance(std::string_view a, std::string_view b);

/// Up to `limit` of `names` that a person may have meant by `wrong`, nearest first; case is
/// ignored, and a name that begins with or contains `wrong` counts as near.
std::vector<std::string> nearest_names(std::string_view wrong,
                                       const std::vector<std::string>& names, std::size_t limit);

/// " Did you mean 'a', 'b' or 'c'?" or nothing.
std::string did_you_mean(const std::vector<std::string>& names);

}  // namespace stint
