#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stint {

enum class CgroupVersion { kNone, kV1, kV2 };

/// A place in which cgroups that limit processors can be made.
struct CgroupPlace {
  CgroupVersion version = CgroupVersion::kNone;
  std::string folder = {};  // Folder of the cgroup of this process.
};

/// From the texts of /proc/self/mounts and /proc/self/cgroup: version 1 where its cpu controller
/// is mounted, else version 2.
CgroupPlace cgroup_place(std::string_view mounts, std::string_view own);

/// The place on this computer.
CgroupPlace cgroup_place();

/// The microseconds of each period for which a cgroup may compute.
struct CpuQuota {
  std::int64_t period_us = 10000;  // With 100 ms, step times spread by 25 % instead of 10 %.
  std::int64_t quota_us = 0;
};

/// The quota for this many processors. A usage error below 0.1, since the kernel refuses quotas of
/// less than a millisecond.
Result<CpuQuota> cpu_quota(double processors);

/// The folder of a VM's cgroup; its name marks it as ours.
std::string cgroup_folder(const CgroupPlace& place, std::string_view cluster, std::string_view vm);
bool is_cgroup_of_ours(std::string_view folder);

Status make_cgroup(const CgroupPlace& place, const std::string& folder, const CpuQuota& quota);

/// Moves the calling process into the cgroup.
Status join_cgroup(const std::string& folder);

/// Removes a cgroup of ours once its processes have ended, for which it waits up to two seconds. A
/// missing cgroup is no error.
Status remove_cgroup(const std::string& folder);

}  // namespace stint
