#include "run/crash_point.h"

#include <csignal>
#include <cstdlib>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace stint {
namespace {

int end_of_child(const char* wanted) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("STINT_CRASH_AT", wanted, 1);
    crash_point("here");
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST(CrashPoint, KillsWhereItsNameIsAskedForAndNowhereElse) {
  const int there = end_of_child("here");
  EXPECT_TRUE(WIFSIGNALED(there) && WTERMSIG(there) == SIGKILL);
  EXPECT_EQ(end_of_child("there"), 0);
  EXPECT_EQ(end_of_child(""), 0);
}

}  // namespace
}  // namespace stint
