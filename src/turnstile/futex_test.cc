#include "turnstile/futex.h"

#include <gtest/gtest.h>
#include <thread>

namespace stint {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

TEST(Futex, AWordThatHasChangedIsNotWaitedFor) {
  std::uint32_t word = 3;
  const auto begin = steady_clock::now();
  futex_wait(word, 2, std::chrono::seconds(60));
  futex_wait(word, 3, milliseconds(0));
  futex_wait(word, 3, milliseconds(-1));
  EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST(Futex, WaitingHasALimit) {
  std::uint32_t word = 3;
  const auto begin = steady_clock::now();
  futex_wait(word, 3, milliseconds(2));
  EXPECT_GE(steady_clock::now() - begin, milliseconds(1));
}

TEST(Futex, WhoSleepsIsWoken) {
  std::uint32_t word = 0;
  std::thread sleeper([&] {
    while (futex_word(word) == 0) futex_wait(word, 0, std::chrono::seconds(60));
  });
  futex_wake(word);
  sleeper.join();
  EXPECT_EQ(futex_word(word), 1U);
}

}  // namespace
}  // namespace stint
