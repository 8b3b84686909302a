#pragma once

#include <chrono>
#include <cstdint>

namespace stint {

/// Sleeps until another thread or process wakes the word, or at most for `limit`; not at all if the
/// word is no longer `expected`. May also return early, so that callers check again.
void futex_wait(std::uint32_t& word, std::uint32_t expected, std::chrono::nanoseconds limit);

/// Adds one to the word and wakes the threads that sleep on it.
void futex_wake(std::uint32_t& word);

/// The word now.
std::uint32_t futex_word(std::uint32_t& word);

}  // namespace stint
