#include "cloud/cgroup.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

TEST(Cgroup, Version1IsFoundByItsCpuController) {
  const CgroupPlace place = cgroup_place(
      "tmpfs /sys/fs/cgroup tmpfs rw 0 0\ncgroup /sys/fs/cgroup/cpu,cpuacct cgroup "
      "rw,cpu,cpuacct 0 0\ncgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n",
      "3:cpuset:/\n2:cpu,cpuacct:/box\n0::/other\n");
  EXPECT_EQ(place.version, CgroupVersion::kV1);
  EXPECT_EQ(place.folder, "/sys/fs/cgroup/cpu,cpuacct/box");
}

TEST(Cgroup, Version2IsFoundWhereVersion1HasNoCpuController) {
  const CgroupPlace place = cgroup_place(
      "cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0\ncgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n",
      "0::/user.slice\n");
  EXPECT_EQ(place.version, CgroupVersion::kV2);
  EXPECT_EQ(place.folder, "/sys/fs/cgroup/user.slice");
  EXPECT_EQ(cgroup_place("", "").version, CgroupVersion::kNone);
}

// Half a processor is 5 ms of every 10 ms; 0.05 would be 0.5 ms, below the kernel's limit.
TEST(Cgroup, TheQuotaIsAShareOfTenMilliseconds) {
  EXPECT_EQ(cpu_quota(0.5)->quota_us, 5000);
  EXPECT_EQ(cpu_quota(0.1)->quota_us, 1000);
  const auto little = cpu_quota(0.05);
  ASSERT_FALSE(little.ok());
  EXPECT_EQ(little.error().kind, ErrorKind::kUsage);
}

TEST(Cgroup, OnlyOursAreRemoved) {
  const std::string folder = cgroup_folder({CgroupVersion::kV2, "/sys/fs/cgroup"}, "a", "vm1");
  EXPECT_EQ(folder, "/sys/fs/cgroup/stint-local-a.vm1");
  EXPECT_TRUE(is_cgroup_of_ours(folder));
  EXPECT_FALSE(is_cgroup_of_ours("/sys/fs/cgroup/system.slice"));
  EXPECT_FALSE(remove_cgroup("/sys/fs/cgroup/system.slice").ok());
  EXPECT_TRUE(remove_cgroup("/nowhere/stint-local-a.vm1").ok());
}

TEST(Cgroup, WithoutCgroupsAQuotaIsRefused) {
  const Status status = make_cgroup({}, "/nowhere/stint-local-a.vm1", {});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kUnavailable);
}

}  // namespace
}  // namespace stint
