#include "cloud/keeper.h"

#include <csignal>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/process.h"

namespace stint {
namespace {

// Keepers with real namespaces are tested in local_cluster_test.cc.

TEST(Keeper, HangsAtTheStepThatIsNamedAndAtNoOther) {
  hang_at("", "switch");
  hang_at("switch", "namespaces");
  const auto child = fork_child([](int) {
    ::signal(SIGALRM, [](int /*signal*/) { ::_exit(7); });
    ::alarm(1);
    hang_at("switch", "switch");
    return 0;
  });
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(wait_for_exit(child->pid), 7);
}

}  // namespace
}  // namespace stint
