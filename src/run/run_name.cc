#include "run/run_name.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>

#include "base/text.h"

namespace stint {
namespace {

constexpr std::size_t kNameMax = 64;

bool fits(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' ||
         c == '.';
}

}  // namespace

Status check_run_name(std::string_view name) {
  const bool good = !name.empty() && name.size() <= kNameMax && name[0] != '-' && name[0] != '.' &&
                    name.find("..") == std::string_view::npos &&
                    std::all_of(name.begin(), name.end(), fits);
  if (good) return {};
  return bad_usage(fmt::format(
      "'{}' cannot be the name of a run: give one of up to {} letters, digits, '-', '_' and "
      "single '.', which begins with a letter, a digit or '_'",
      printable(name), kNameMax));
}

}  // namespace stint
