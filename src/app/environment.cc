#include "app/environment.h"

#include <fmt/format.h>

#include "base/date.h"
#include "base/text.h"

namespace stint {
namespace {

/// "2026-11-15" or "2026-11-15T13:00:00Z" as time since 1970.
std::optional<Seconds> parse_instant(std::string_view text) {
  const auto date = parse_date(text.substr(0, 10));
  if (!date.ok() || text.size() < 10) return std::nullopt;
  Seconds instant = days_between({.year = 1970, .month = 1, .day = 1}, *date) * kDay;
  if (text.size() == 10) return instant;
  const bool shaped =
      text.size() == 20 && text[10] == 'T' && text[13] == ':' && text[16] == ':' && text[19] == 'Z';
  if (!shaped) return std::nullopt;
  const auto hour = parse_int(text.substr(11, 2));
  const auto minute = parse_int(text.substr(14, 2));
  const auto second = parse_int(text.substr(17, 2));
  const auto within = [](const std::optional<int>& value, int limit) {
    return value && *value >= 0 && *value < limit;
  };
  if (!within(hour, 24) || !within(minute, 60) || !within(second, 60)) return std::nullopt;
  return instant + *hour * kHour + *minute * kMinute + *second * kSecond;
}

std::string charset_of(const Variables& variables) {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string locale = variables(name);
    if (locale.empty()) continue;
    const std::size_t dot = locale.find('.');
    return dot == std::string::npos ? "" : locale.substr(dot + 1);
  }
  return "";
}

}  // namespace

Result<Environment> environment_from(const Variables& variables) {
  Environment environment;
  environment.home = variables("HOME");
  const std::string data_home = variables("XDG_DATA_HOME");
  // The XDG rules tell us to ignore a relative path.
  if (data_home.starts_with('/')) {
    environment.data_folder = data_home + "/stint";
  } else if (!environment.home.empty()) {
    environment.data_folder = environment.home + "/.local/share/stint";
  }
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
