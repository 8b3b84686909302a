#include "cloud/cgroup.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "base/descriptor.h"
#include "base/file.h"
#include "base/text.h"

namespace stint {
namespace {

constexpr std::string_view kPrefix = "stint-local-";
constexpr std::int64_t kQuotaMinUs = 1000;  // The kernel's own limit.

bool lists(const std::string& comma_list, std::string_view item) {
  const auto items = split(comma_list, ',');
  return std::find(items.begin(), items.end(), item) != items.end();
}

/// The path of our cgroup in the hierarchy with `controller`; "" is version 2's.
std::string own_path(std::string_view own, std::string_view controller) {
  for (const std::string& line : split(own, '\n')) {
    const auto cells = split(line, ':');
    if (cells.size() < 3) continue;
    const bool meant = controller.empty() ? cells[0] == "0" : lists(cells[1], controller);
    if (meant) return cells[2] == "/" ? "" : cells[2];
  }
  return "";
}

Status write_value(const std::string& path, const std::string& value) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() >= 0 && write_all(file.get(), value)) return {};
  return unavailable(fmt::format("cannot limit processors: writing '{}' to {}: {}", value, path,
                                 std::strerror(errno)));
}

}  // namespace

CgroupPlace cgroup_place(std::string_view mounts, std::string_view own) {
  std::string unified;
  for (const std::string& line : split(mounts, '\n')) {
    const auto cells = split(line, ' ');
    if (cells.size() < 4) continue;
    if (cells[2] == "cgroup" && lists(cells[3], "cpu")) {
      return {CgroupVersion::kV1, cells[1] + own_path(own, "cpu")};
    }
    if (cells[2] == "cgroup2") unified = cells[1];
  }
  if (unified.empty()) return {};
  return {CgroupVersion::kV2, unified + own_path(own, "")};
}

CgroupPlace cgroup_place() {
  const auto mounts = read_file("/proc/self/mounts");
  const auto own = read_file("/proc/self/cgroup");
  return mounts.ok() && own.ok() ? cgroup_place(*mounts, *own) : CgroupPlace{};
}

Result<CpuQuota> cpu_quota(double processors) {
  CpuQuota quota;
  quota.quota_us = std::llround(processors * static_cast<double>(quota.period_us));
  if (quota.quota_us >= kQuotaMinUs) return quota;
  return bad_usage(fmt::format(
      "--quota must be at least 0.1 processors, not {:g}: the kernel refuses quotas of less than "
      "1 ms in a period of 10 ms",
      processors));
}

std::string cgroup_folder(const CgroupPlace& place, std::string_view cluster, std::string_view vm) {
  // No name has a dot, so that no two VMs of all clusters share a folder.
  return fmt::format("{}/{}{}.{}", place.folder, kPrefix, cluster, vm);
}

bool is_cgroup_of_ours(std::string_view folder) {
  const std::size_t slash = folder.rfind('/');
  return slash != std::string_view::npos && folder.substr(slash + 1).starts_with(kPrefix);
}

Status make_cgroup(const CgroupPlace& place, const std::string& folder, const CpuQuota& quota) {
  if (place.version == CgroupVersion::kNone) {
    return unavailable("cannot limit processors: this computer has no cgroups; leave out --quota");
  }
  if (::mkdir(folder.c_str(), 0755) != 0) {
    return unavailable(fmt::format("cannot limit processors: creating {}: {}; leave out --quota",
                                   folder, std::strerror(errno)));
  }
  if (place.version == CgroupVersion::kV1) {
    const Status period =
        write_value(folder + "/cpu.cfs_period_us", std::to_string(quota.period_us));
    if (!period.ok()) return period;
    return write_value(folder + "/cpu.cfs_quota_us", std::to_string(quota.quota_us));
  }
  // Where the controller is already enabled this fails or does nothing; the next write reports it.
  (void)write_value(place.folder + "/cgroup.subtree_control", "+cpu");
  return write_value(folder + "/cpu.max", fmt::format("{} {}", quota.quota_us, quota.period_us));
}

Status join_cgroup(const std::string& folder) { return write_value(folder + "/cgroup.procs", "0"); }

Status remove_cgroup(const std::string& folder) {
  if (!is_cgroup_of_ours(folder)) return failed(folder + " is not a cgroup of stint");
  constexpr int kTries = 200;
  for (int i = 0; i < kTries; ++i) {
    if (::rmdir(folder.c_str()) == 0 || errno == ENOENT) return {};
    if (errno != EBUSY) break;
    ::usleep(10000);
  }
  return failed(fmt::format("cannot remove {}: {}", folder, std::strerror(errno)));
}

}  // namespace stint
