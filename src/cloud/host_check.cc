#include "cloud/host_check.h"

#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "base/descriptor.h"
#include "base/process.h"
#include "base/text.h"
#include "cloud/namespaces.h"
#include "cloud/network_plan.h"

namespace stint {
namespace {

constexpr Seconds kPatience = 20 * kSecond;

std::string line_of(const Status& status) {
  return status.ok() ? "ok\n" : status.error().message + "\n";
}

/// In a process without threads, which clone_apart needs.
[[noreturn]] void try_out(int report) {
  const auto born = clone_apart([](pid_t) { return Status(); });
  if (!born.ok()) {
    write_all(report, line_of(born.error()));
    ::_exit(1);
  }
  if (born->pid == 0) {
    write_all(report, born->user_namespace ? "ok\nyes\n" : "ok\nno\n");
    write_all(report, line_of(run_commands(switch_commands())));
    write_all(report, line_of(run_commands(shaping_commands("lo", 100 * kMbit / kSecond))));
    ::_exit(0);
  }
  ::waitpid(born->pid, nullptr, 0);
  ::_exit(0);
}

std::string read_all(int descriptor) {
  std::string all;
  for (std::string part = " "; !part.empty();) {
    part = read_line(descriptor, kPatience);
    all += part + "\n";
  }
  return all;
}

Status heard(const std::vector<std::string>& lines, std::size_t index) {
  if (index < lines.size() && lines[index] == "ok") return {};
  const bool silent = index >= lines.size() || lines[index].empty();
  return unavailable(silent ? "it could not be tried" : lines[index]);
}

}  // namespace

HostSupport examine_host() {
  HostSupport host{.cgroups = cgroup_place()};
  host.quotas = host.cgroups.version != CgroupVersion::kNone &&
                ::access(host.cgroups.folder.c_str(), W_OK) == 0;
  auto pipe = make_pipe();
  const pid_t trial = pipe.ok() ? ::fork() : -1;
  if (trial < 0) {
    host.namespaces = failed("no process could be started to try it");
    return host;
  }
  if (trial == 0) try_out(pipe->to.get());
  pipe->to.close();
  const std::vector<std::string> said = split(read_all(pipe->from.get()), '\n');
  ::waitpid(trial, nullptr, 0);
  host.namespaces = heard(said, 0);
  host.user_namespace = said.size() > 1 && said[1] == "yes";
  host.network = heard(said, 2);
  host.shaping = heard(said, 3);
  return host;
}

}  // namespace stint
