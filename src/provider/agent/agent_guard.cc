#include "provider/agent/agent_guard.h"

#include <csignal>
#include <fmt/format.h>
#include <poll.h>
#include <set>
#include <string>
#include <utility>

#include "base/process.h"
#include "base/text.h"

namespace stint {
namespace {

constexpr Seconds kForEver = 1e6 * kSecond;  // One wait; the next begins anew.

int guard(int from) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_IGN);
  close_all_but({from});
  std::set<pid_t> groups;
  while (true) {
    while (!wait_for(from, POLLIN, kForEver)) continue;
    const std::string line = read_line(from, kForEver);
    if (line.empty()) break;  // The end: lines are not empty.
    for (const std::string& word : split(line, '\n')) {
      const int group = parse_int(word.substr(1)).value_or(0);
      if (group > 1 && word[0] == '+') groups.insert(group);
      if (group > 1 && word[0] == '-') groups.erase(group);
    }
  }
  for (const pid_t group : groups) ::kill(-group, SIGKILL);
  return 0;
}

}  // namespace

Result<AgentGuard> AgentGuard::start() {
  auto pipe = make_pipe();
  if (!pipe.ok()) return pipe.error();
  const auto child = fork_child([&](int /*report*/) { return guard(pipe->from.get()); },
                                {.group = ProcessGroup::kOwnSession});
  if (!child.ok()) return child.error();
  return AgentGuard(std::move(pipe->to));
}

// A line is written at once, as pipes do with so few bytes; a guard that is gone is no reason to
// end.
void AgentGuard::watch(pid_t group) { write_all(to_.get(), fmt::format("+{}\n", group)); }

void AgentGuard::forget(pid_t group) { write_all(to_.get(), fmt::format("-{}\n", group)); }

}  // namespace stint
