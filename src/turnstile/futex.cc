#include "turnstile/futex.h"

#include <atomic>
#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace stint {

void futex_wait(std::uint32_t& word, std::uint32_t expected, std::chrono::nanoseconds limit) {
  if (limit <= std::chrono::nanoseconds::zero()) return;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
  const timespec time{.tv_sec = seconds.count(), .tv_nsec = (limit - seconds).count()};
  ::syscall(SYS_futex, &word, FUTEX_WAIT, expected, &time, nullptr, 0);
}

void futex_wake(std::uint32_t& word) {
  std::atomic_ref(word).fetch_add(1, std::memory_order_acq_rel);
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

std::uint32_t futex_word(std::uint32_t& word) {
  return std::atomic_ref(word).load(std::memory_order_acquire);
}

}  // namespace stint
