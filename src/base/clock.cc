#include "base/clock.h"

#include <chrono>

namespace stint {

Seconds SystemClock::now() const {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since_epoch).count() * kSecond;
}

}  // namespace stint
