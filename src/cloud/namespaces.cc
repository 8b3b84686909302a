#include "cloud/namespaces.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <string>
#include <unistd.h>
#include <vector>

#include "base/descriptor.h"
#include "base/process.h"
#include "base/run_command.h"
#include "base/text.h"
#include "cloud/network_plan.h"

namespace stint {
namespace {

constexpr Seconds kPatience = 20 * kSecond;

std::string line_of(const Status& status) {
  return status.ok() ? "ok\n" : status.error().message + "\n";
}

/// Runs in a process without threads, which clone_apart needs.
int try_out(int report) {
  const auto born = clone_apart([](pid_t) { return Status(); });
  if (!born.ok()) {
    write_all(report, line_of(born.error()));
    return 1;
  }
  if (born->pid == 0) {
    write_all(report, born->user_namespace ? "ok\nyes\n" : "ok\nno\n");
    write_all(report, line_of(run_commands(switch_commands())));
    write_all(report, line_of(run_commands(shaping_commands("lo", 100 * kMbit / kSecond))));
    return 0;
  }
  return wait_for_exit(born->pid);
}

Status heard(const std::vector<std::string>& lines, std::size_t index) {
  if (index < lines.size() && lines[index] == "ok") return {};
  const bool silent = index >= lines.size() || lines[index].empty();
  return unavailable(silent ? "it could not be tried" : lines[index]);
}

constexpr std::uint64_t kApart = CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID;

Status write_map(pid_t pid, const char* file, const std::string& text) {
  const std::string path = fmt::format("/proc/{}/{}", pid, file);
  const Descriptor map(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (map.get() >= 0 && write_all(map.get(), text)) return {};
  return unavailable(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
}

/// Maps this user to root in the process's user namespace.
Status map_users(pid_t pid) {
  Status status = write_map(pid, "setgroups", "deny");
  if (status.ok()) status = write_map(pid, "uid_map", fmt::format("0 {} 1", ::geteuid()));
  if (status.ok()) status = write_map(pid, "gid_map", fmt::format("0 {} 1", ::getegid()));
  return status;
}

Error not_allowed(int error) {
  return unavailable(
      fmt::format("the emulated cloud needs root, or a kernel that lets users create namespaces; "
                  "this computer has neither ({}). See 'stint doctor'",
                  std::strerror(error)));
}

}  // namespace

HostSupport examine_host() {
  HostSupport host{.cgroups = cgroup_place()};
  host.quotas = host.cgroups.version != CgroupVersion::kNone &&
                ::access(host.cgroups.folder.c_str(), W_OK) == 0;
  const auto trial = fork_child(try_out);
  if (!trial.ok()) {
    host.namespaces = failed("no process could be started to try it");
    return host;
  }
  std::string text;
  read_to_end(trial->report.get(), kPatience, text);
  kill_group(trial->pid);
  const std::vector<std::string> said = split(text, '\n');
  host.namespaces = heard(said, 0);
  host.user_namespace = said.size() > 1 && said[1] == "yes";
  host.network = heard(said, 2);
  host.shaping = heard(said, 3);
  return host;
}

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
  kill_group(born.pid);
  return status.ok() ? failed("a new process is gone") : status.error();
}

}  // namespace stint
