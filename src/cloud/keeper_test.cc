#include "cloud/keeper.h"

#include <csignal>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace stint {
namespace {

// What a keeper does is tested in local_cluster_test.cc, with real namespaces.

TEST(Keeper, HangsAtTheStepThatIsNamedAndAtNoOther) {
  hang_at("", "switch");
  hang_at("switch", "namespaces");
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(1);
    ::signal(SIGALRM, [](int /*signal*/) { ::_exit(7); });
    hang_at("switch", "switch");
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

}  // namespace
}  // namespace stint
