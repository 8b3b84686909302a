#include "load/environment.h"

#include <fmt/format.h>

#include "base/date.h"
#include "base/text.h"

namespace stint {
namespace {

/// The first of the variables that decide about characters; empty: none is set.
std::string locale_of(const Variables& variables) {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string locale = variables(name);
    if (!locale.empty()) return locale;
  }
  return "";
}

/// "UTF-8" of "de_DE.UTF-8@euro".
std::string charset_of(const Variables& variables) {
  const std::string locale = locale_of(variables);
  const std::size_t dot = locale.find('.');
  if (dot == std::string::npos) return "";
  return locale.substr(dot + 1, locale.find('@') - dot - 1);
}

/// Ours below an XDG folder, which `below_home` holds unless the variable `name` says otherwise.
std::optional<std::string> folder_of(const Variables& variables, const char* name,
                                     std::string_view below_home) {
  const std::string folder = variables(name);
  // The XDG rules tell us to ignore a relative path.
  if (folder.starts_with('/')) return folder + "/stint";
  const std::string home = variables("HOME");
  if (home.empty()) return std::nullopt;
  return fmt::format("{}{}/stint", home, below_home);
}

}  // namespace

bool shows_utf8(const Variables& variables) {
  const std::string charset = to_lower(charset_of(variables));
  return locale_of(variables).empty() || charset == "utf-8" || charset == "utf8";
}

Result<Environment> environment_from(const Variables& variables) {
  Environment environment;
  environment.home = variables("HOME");
  environment.data_folder = folder_of(variables, "XDG_DATA_HOME", "/.local/share");
  environment.state_folder = folder_of(variables, "XDG_STATE_HOME", "/.local/state");
  const std::string shell = variables("SHELL");
  environment.shell = shell.substr(shell.rfind('/') + 1);
  environment.charset = charset_of(variables);
  environment.clock = std::make_shared<SystemClock>();
  const std::string now = variables("STINT_NOW");
  if (!now.empty()) {
    const auto instant = parse_instant(now);
    if (!instant) {
      return bad_usage(
          fmt::format("STINT_NOW is '{}', which is not a time: write for example "
                      "2026-11-15T00:00:00Z, or unset it",
                      printable(now)));
    }
    environment.clock = std::make_shared<FixedClock>(*instant);
  }
  return environment;
}

}  // namespace stint
