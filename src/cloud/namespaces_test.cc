#include "cloud/namespaces.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace stint {
namespace {

TEST(Namespaces, TheNewProcessIsTheFirstOfItsOwn) {
  const auto born = clone_apart([](pid_t) { return Status(); });
  if (!born.ok()) GTEST_SKIP() << "no namespaces here: " << born.error().message;
  if (born->pid == 0) ::_exit(::getpid() == 1 && ::geteuid() == 0 ? 0 : 1);
  int status = 1;
  ::waitpid(born->pid, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Namespaces, ItDoesNotBeginWhenItsParentSaysNo) {
  const auto born = clone_apart([](pid_t) { return Status(failed("no")); });
  ASSERT_FALSE(born.ok());
  if (born.error().kind == ErrorKind::kUnavailable) GTEST_SKIP() << "no namespaces here";
  EXPECT_EQ(born.error().message, "no");
}

}  // namespace
}  // namespace stint
