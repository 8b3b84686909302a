#include "cloud/namespaces.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "base/descriptor.h"

namespace stint {
namespace {

constexpr std::uint64_t kApart = CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID;

Status write_map(pid_t pid, const char* file, const std::string& text) {
  const std::string path = fmt::format("/proc/{}/{}", pid, file);
  const Descriptor map(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (map.get() >= 0 && write_all(map.get(), text)) return {};
  return unavailable(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
}

/// Makes us the root of the process's user namespace.
Status map_users(pid_t pid) {
  Status status = write_map(pid, "setgroups", "deny");
  if (status.ok()) status = write_map(pid, "uid_map", fmt::format("0 {} 1", ::geteuid()));
  if (status.ok()) status = write_map(pid, "gid_map", fmt::format("0 {} 1", ::getegid()));
  return status;
}

Error not_allowed(int error) {
  return unavailable(
      fmt::format("the emulated cloud needs root, or a kernel that lets users make namespaces, and "
                  "here is neither ({}); 'stint doctor' says more",
                  std::strerror(error)));
}

}  // namespace

Result<Newborn> clone_apart(const std::function<Status(pid_t)>& before_it_begins) {
  auto pipe = make_pipe();
  if (!pipe.ok()) return pipe.error();
  Newborn born;
  born.pid = ::geteuid() == 0 ? clone_process(kApart) : -EPERM;
  if (born.pid == -EPERM) {
    born.user_namespace = true;
    born.pid = clone_process(kApart | CLONE_NEWUSER);
  }
  if (born.pid < 0) return not_allowed(-born.pid);
  if (born.pid == 0) {
    pipe->to.close();
    char byte = 0;
    if (::read(pipe->from.get(), &byte, 1) != 1) ::_exit(1);
    return born;
  }
  Status status = born.user_namespace ? map_users(born.pid) : Status();
  if (status.ok()) status = before_it_begins(born.pid);
  if (status.ok() && write_all(pipe->to.get(), "g")) return born;
  ::kill(born.pid, SIGKILL);
  ::waitpid(born.pid, nullptr, 0);
  return status.ok() ? failed("a process that was just made is gone") : status.error();
}

pid_t clone_process(std::uint64_t flags) {
  const auto all = static_cast<unsigned long>(flags | static_cast<std::uint64_t>(SIGCHLD));
  const long pid = ::syscall(SYS_clone, all, 0L, 0L, 0L, 0L);
  return pid < 0 ? -errno : static_cast<pid_t>(pid);
}

}  // namespace stint
