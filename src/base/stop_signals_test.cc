#include "base/stop_signals.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace stint {
namespace {

TEST(StopSignals, AreNotedOnceAndKillNobody) {
  const StopSignals signals;
  EXPECT_FALSE(StopSignals::take());
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    ::raise(signal);
    EXPECT_TRUE(StopSignals::take()) << signal;
    EXPECT_FALSE(StopSignals::take()) << signal;
  }
}

TEST(StopSignals, AReaderWhoLeavesEndsNothing) {
  const StopSignals signals;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  EXPECT_EQ(::write(ends[1], "x", 1), -1);
  ::close(ends[1]);
  EXPECT_FALSE(StopSignals::take());
}

TEST(StopSignals, MeanAgainWhatTheyMeantBefore) {
  const pid_t child = ::fork();
  if (child == 0) {
    { const StopSignals signals; }
    ::raise(SIGTERM);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
}

TEST(StopSignals, ThatCameEarlierAreForgotten) {
  {
    const StopSignals signals;
    ::raise(SIGINT);
  }
  const StopSignals signals;
  EXPECT_FALSE(StopSignals::take());
}

}  // namespace
}  // namespace stint
