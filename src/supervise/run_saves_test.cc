#include "supervise/run_saves.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

TEST(RunSaves, WaitForTheirAnswer) {
  RunSaves saves;
  const int number = saves.ask(10, 5 * kSecond);
  EXPECT_TRUE(saves.pending());
  EXPECT_EQ(saves.waited(8 * kSecond), 3 * kSecond);
  saves.answer(number, 12, true);
  EXPECT_FALSE(saves.pending());
  EXPECT_EQ(saves.waited(8 * kSecond), Seconds{});
}

TEST(RunSaves, AreNotAnsweredByAnEarlierOne) {
  RunSaves saves;
  const int first = saves.ask(10, {});
  saves.forget();
  saves.ask(10, {});
  saves.answer(first, 12, true);
  EXPECT_TRUE(saves.pending());
  EXPECT_FALSE(saves.fail(first, "too late", {}));
  EXPECT_TRUE(saves.pending());
}

TEST(RunSaves, CountFailuresInARow) {
  RunSaves saves;
  for (int i = 1; i <= 2; ++i) {
    const int number = saves.ask(10, {});
    EXPECT_TRUE(saves.fail(number, "the disk is full", 7 * kSecond));
    EXPECT_EQ(saves.failures(), i);
  }
  EXPECT_EQ(saves.reason(), "the disk is full");
  EXPECT_FALSE(saves.fail({}, "nothing was asked for", {}));
  saves.answer(saves.ask(10, {}), 10, true);
  EXPECT_EQ(saves.failures(), 0);
}

// A receiver is lost while a checkpoint is in progress, which may have been sent there.
TEST(RunSaves, AreSettledOnlyByOneThatWasAskedForAfterwards) {
  RunSaves saves;
  const int before = saves.ask(10, {});
  saves.unsettle();
  saves.answer(before, 10, true);
  EXPECT_TRUE(saves.unsettled());
  const int after = saves.ask(10, {});
  saves.answer(before, 10, false);
  EXPECT_TRUE(saves.unsettled());
  saves.answer(after, 10, false);
  EXPECT_FALSE(saves.unsettled());
}

TEST(RunSaves, TimeInWhichNobodyListenedIsNoWait) {
  RunSaves saves;
  saves.ask(10, 5 * kSecond);
  saves.excuse(100 * kSecond, 110 * kSecond);
  EXPECT_EQ(saves.waited(110 * kSecond), 5 * kSecond);
  saves.excuse(1e9 * kSecond, 111 * kSecond);
  EXPECT_EQ(saves.waited(112 * kSecond), 1 * kSecond);
}

}  // namespace
}  // namespace stint
