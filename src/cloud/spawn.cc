#include "cloud/spawn.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sched.h>
#include <utility>
#include <vector>

#include "cloud/cgroup.h"
#include "cloud/metadata.h"

namespace stint {
namespace {

Status enter(const VmEntrance& vm) {
  if (!vm.cgroup.empty()) {
    const Status joined = join_cgroup(vm.cgroup);
    if (!joined.ok()) return joined;
  }
  const int flags =
      CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID | (vm.user_namespace ? CLONE_NEWUSER : 0);
  if (::setns(vm.process, flags) == 0) return {};
  return failed(fmt::format("cannot enter the VM: {}", std::strerror(errno)));
}

}  // namespace

std::string metadata_variable() {
  return fmt::format("AWS_EC2_METADATA_SERVICE_ENDPOINT=http://127.0.0.1:{}", kMetadataPort);
}

Result<pid_t> spawn_in(const VmEntrance& vm, Command command) {
  command.variables.push_back(metadata_variable());
  command.group = ProcessGroup::kOwnSession;
  if (!command.kept) command.kept = std::vector<int>();
  command.enter = [&vm] { return enter(vm); };
  auto pid = start_process(command);
  if (pid.ok()) return pid;
  return bad_usage(fmt::format("cannot run the program: {}", pid.error().message));
}

}  // namespace stint
