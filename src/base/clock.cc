#include "base/clock.h"

#include <chrono>
#include <ctime>

#include "base/check.h"
#include "base/file.h"
#include "base/text.h"

namespace stint {

Seconds boot_time() {
  timespec now{};
  CHECK(::clock_gettime(CLOCK_BOOTTIME, &now) == 0);
  return static_cast<double>(now.tv_sec) * kSecond +
         static_cast<double>(now.tv_nsec) * 1e-9 * kSecond;
}

std::string boot_id() {
  const auto text = read_file("/proc/sys/kernel/random/boot_id");
  return text.ok() ? std::string(trim(*text)) : "";
}

Seconds SystemClock::now() const {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since_epoch).count() * kSecond;
}

}  // namespace stint
