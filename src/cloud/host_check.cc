#include "cloud/host_check.h"

#include <sys/wait.h>
#include <unistd.h>

#include "cloud/namespaces.h"
#include "cloud/network_plan.h"
#include "cloud/process.h"

namespace stint {
namespace {

constexpr Seconds kPatience = 20 * kSecond;

void say(int report, const Status& status) {
  write_all(report, status.ok() ? "ok\n" : status.error().message + "\n");
}

Status heard(int report) {
  const std::string line = read_line(report, kPatience);
  if (line == "ok") return {};
  return unavailable(line.empty() ? "it could not be tried" : line);
}

}  // namespace

HostSupport examine_host() {
  HostSupport host{.cgroups = cgroup_place()};
  host.quotas = host.cgroups.version != CgroupVersion::kNone &&
                ::access(host.cgroups.folder.c_str(), W_OK) == 0;
  auto network = make_pipe();
  auto shaping = make_pipe();
  if (!network.ok() || !shaping.ok()) {
    host.namespaces = network.ok() ? shaping.error() : network.error();
    return host;
  }
  const auto born = clone_apart([](pid_t) { return Status(); });
  if (!born.ok()) {
    host.namespaces = born.error();
    return host;
  }
  if (born->pid == 0) {
    say(network->to.get(), run_commands(switch_commands()));
    say(shaping->to.get(), run_commands(shaping_commands("lo", 100 * kMbit / kSecond)));
    ::_exit(0);
  }
  network->to.close();
  shaping->to.close();
  host.user_namespace = born->user_namespace;
  host.network = heard(network->from.get());
  host.shaping = heard(shaping->from.get());
  ::waitpid(born->pid, nullptr, 0);
  return host;
}

}  // namespace stint
