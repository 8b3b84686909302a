#include "cloud/host_check.h"

#include <gtest/gtest.h>
#include <unistd.h>

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

}  // namespace
}  // namespace stint
