#include "run/crash_point.h"

#include <csignal>
#include <cstdlib>
#include <sys/types.h>
#include <unistd.h>

namespace stint {

void crash_point(std::string_view name) {
  const char* wanted = std::getenv("STINT_CRASH_AT");
  if (wanted != nullptr && name == wanted) ::kill(::getpid(), SIGKILL);
}

}  // namespace stint
