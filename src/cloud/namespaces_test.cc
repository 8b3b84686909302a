#include "cloud/namespaces.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/process.h"

namespace stint {
namespace {

TEST(HostCheck, RootNeedsNoUserNamespace) {
  const HostSupport host = examine_host();
  if (!host.namespaces.ok()) GTEST_SKIP() << "no namespaces here";
  EXPECT_TRUE(host.user_namespace || ::geteuid() == 0);
}

TEST(HostCheck, QuotasNeedCgroups) {
  const HostSupport host = examine_host();
  EXPECT_TRUE(!host.quotas || host.cgroups.version != CgroupVersion::kNone);
}

constexpr int kNoNamespaces = 77;

/// The exit code of `body`, run in a separate process without threads.
template <class Body>
int code_of(Body body) {
  const auto child = fork_child([&](int) { return body(); });
  return child.ok() ? wait_for_exit(child->pid) : 1;
}

TEST(Namespaces, TheNewProcessIsTheFirstOfItsOwn) {
  const int code = code_of([] {
    const auto born = clone_apart([](pid_t) { return Status(); });
    if (!born.ok()) return kNoNamespaces;
    if (born->pid == 0) ::_exit(::getpid() == 1 && ::geteuid() == 0 ? 0 : 1);
    return wait_for_exit(born->pid);
  });
  if (code == kNoNamespaces) GTEST_SKIP() << "no namespaces here";
  EXPECT_EQ(code, 0);
}

TEST(Namespaces, ItDoesNotBeginWhenItsParentSaysNo) {
  const int code = code_of([] {
    const auto born = clone_apart([](pid_t) { return Status(failed("no")); });
    if (born.ok()) return 1;
    if (born.error().kind == ErrorKind::kUnavailable) return kNoNamespaces;
    return born.error().message == "no" ? 0 : 2;
  });
  if (code == kNoNamespaces) GTEST_SKIP() << "no namespaces here";
  EXPECT_EQ(code, 0);
}

}  // namespace

}  // namespace stint
