#include "base/crash_point.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <string>
#include <sys/types.h>
#include <unistd.h>
#include <vector>

#include "base/text.h"

namespace stint {
namespace {

/// Whether this process is the first to reach the point.
bool is_first(std::string_view name) {
  const char* once = std::getenv("STINT_CRASH_ONCE");
  if (once == nullptr) return true;
  const std::string path = fmt::format("{}.{}", once, name);
  return ::open(path.c_str(), O_CREAT | O_EXCL | O_CLOEXEC, 0600) >= 0;
}

}  // namespace

void crash_point(std::string_view name) {
  const char* wanted = std::getenv("STINT_CRASH_AT");
  if (wanted == nullptr) return;
  const std::vector<std::string> names = split(wanted, ',');
  if (std::find(names.begin(), names.end(), name) == names.end() || !is_first(name)) return;
  ::kill(::getpid(), SIGKILL);
}

}  // namespace stint
