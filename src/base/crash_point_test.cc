#include "base/crash_point.h"

#include <csignal>
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>

#include "base/process.h"

namespace stint {
namespace {

int end_of_child(const char* wanted, const char* once = nullptr) {
  const auto child = fork_child([&](int) {
    ::setenv("STINT_CRASH_AT", wanted, 1);
    if (once != nullptr) ::setenv("STINT_CRASH_ONCE", once, 1);
    crash_point("here");
    return 0;
  });
  return child.ok() ? wait_for_exit(child->pid) : -1;
}

bool is_killed(int code) { return code == 128 + SIGKILL; }

TEST(CrashPoint, KillsWhereItsNameIsAskedForAndNowhereElse) {
  EXPECT_TRUE(is_killed(end_of_child("here")));
  EXPECT_TRUE(is_killed(end_of_child("there,here")));
  EXPECT_EQ(end_of_child("there"), 0);
  EXPECT_EQ(end_of_child("her,there"), 0);
  EXPECT_EQ(end_of_child(""), 0);
}

TEST(CrashPoint, KillsOnlyTheFirstThatComesWhereAskedTo) {
  std::string once = ::testing::TempDir() + "stint_crash_point_test_XXXXXX";
  ASSERT_NE(::mkdtemp(once.data()), nullptr);
  const std::string file = once + "/once";
  EXPECT_TRUE(is_killed(end_of_child("here", file.c_str())));
  EXPECT_EQ(end_of_child("here", file.c_str()), 0);
  EXPECT_EQ(::unlink((file + ".here").c_str()), 0);
  ::rmdir(once.c_str());
}

}  // namespace
}  // namespace stint
