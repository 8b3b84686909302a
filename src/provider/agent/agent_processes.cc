#include "provider/agent/agent_processes.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <utility>

#include "base/process.h"
#include "base/text.h"

namespace stint {
namespace {

constexpr std::size_t kUnsentMax = 4U << 20U;  // Bytes to a worker that does not read.

struct Sockets {
  Descriptor ours;
  Descriptor theirs;
};

Result<Sockets> make_sockets() {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return failed(fmt::format("cannot create a socket: {}", std::strerror(errno)));
  }
  return Sockets{Descriptor(ends[0]), Descriptor(ends[1])};
}

/// Standard input that holds one line, or nothing.
Result<Descriptor> input_of(const std::optional<std::string>& line) {
  if (!line) return Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  auto pipe = make_pipe();
  if (!pipe.ok()) return pipe.error();
  // A line of the protocol is short enough for a pipe.
  write_all(pipe->to.get(), *line + "\n");
  return std::move(pipe->from);
}

}  // namespace

AgentProcesses::~AgentProcesses() { end_all(); }

Result<ProcessStanding> AgentProcesses::start(const ProcessStart& order) {
  if (processes_.contains(order.process)) {
    return bad_usage(fmt::format("there is a process {} already", order.process));
  }
  auto out = make_pipe();
  auto err = make_pipe();
  auto sockets = make_sockets();
  const auto in = input_of(order.input);
  if (!out.ok()) return out.error();
  if (!err.ok()) return err.error();
  if (!sockets.ok()) return sockets.error();
  if (!in.ok()) return in.error();
  Command command{.words = order.words,
                  .variables = order.variables,
                  .in = in->get(),
                  .out = out->to.get(),
                  .err = err->to.get(),
                  .folder = order.folder,
                  .kept = std::vector<int>{}};
  command.inherits = [&](std::string_view name) {
    const auto& more = order.inherited;
    return (settings_.inherits && settings_.inherits(name)) ||
           std::find(more.begin(), more.end(), name) != more.end();
  };
  if (command.words[0] == "stint") command.words[0] = settings_.program;
  Process made;
  if (order.role == ProcessRole::kWorker) {
    command.kept->push_back(sockets->theirs.get());
    command.variables.push_back(fmt::format("STINT_CONTROL={}", sockets->theirs.get()));
    made.control = LineStream(std::move(sockets->ours));
  }
  const auto pid = start_process(command);
  if (!pid.ok()) return pid.error();
  if (guard_) guard_->watch(*pid);
  made.standing = {.process = order.process,
                   .role = order.role,
                   .attempt = order.attempt,
                   .rank = order.rank,
                   .pid = *pid,
                   .mark = order.mark};
  made.pid = open_process(*pid);
  made.out = LineStream(std::move(out->from));
  made.err = LineStream(std::move(err->from));
  return processes_.emplace(order.process, std::move(made)).first->second.standing;
}

Result<AgentProcesses::Process*> AgentProcesses::find(int process) {
  const auto found = processes_.find(process);
  if (found != processes_.end() && !found->second.code) return &found->second;
  return bad_usage(fmt::format("there is no process {}", process));
}

Status AgentProcesses::tell(const ProcessTell& order) {
  const auto found = find(order.process);
  if (!found.ok()) return found.error();
  Process& it = **found;
  if (!it.control.open()) {
    return bad_usage(fmt::format("process {} takes no messages", order.process));
  }
  it.unsent += to_text(order.message, JsonStyle::kLine) + "\n";
  write_control(it);
  if (it.unsent.size() <= kUnsentMax) return {};
  it.control = LineStream();
  it.unsent.clear();
  return failed(fmt::format("process {} reads no messages; its socket was closed", order.process));
}

Status AgentProcesses::signal(const ProcessSignal& order) {
  const auto found = find(order.process);
  if (!found.ok()) return found.error();
  ::kill(-static_cast<pid_t>((*found)->standing.pid), order.signal);
  return {};
}

Status AgentProcesses::end(int process) { return signal({.process = process, .signal = SIGKILL}); }

void AgentProcesses::signal_workers(int signal) const {
  for (const auto& [number, it] : processes_) {
    const bool worker = it.standing.role == ProcessRole::kWorker && !it.code;
    if (worker) ::kill(-static_cast<pid_t>(it.standing.pid), signal);
  }
}

bool AgentProcesses::has_workers() const {
  return std::any_of(processes_.begin(), processes_.end(), [](const auto& entry) {
    return entry.second.standing.role == ProcessRole::kWorker;
  });
}

void AgentProcesses::end_all() {
  for (auto& [number, it] : processes_) {
    if (it.code) continue;
    const pid_t pid = static_cast<pid_t>(it.standing.pid);
    kill_group(pid);
    if (guard_) guard_->forget(pid);
  }
  processes_.clear();
}

std::vector<ProcessStanding> AgentProcesses::standing() const {
  std::vector<ProcessStanding> all;
  for (const auto& entry : processes_) all.push_back(entry.second.standing);
  return all;
}

void AgentProcesses::add_polls(std::vector<pollfd>& polls, bool messages) const {
  const auto add = [&](int descriptor, short events) {
    if (descriptor < 0 || events == 0) return;
    polls.push_back({.fd = descriptor, .events = events, .revents = 0});
  };
  for (const auto& [number, it] : processes_) {
    add(it.out.descriptor(), POLLIN);
    add(it.err.descriptor(), POLLIN);
    const int control = (messages ? POLLIN : 0) | (it.unsent.empty() ? 0 : POLLOUT);
    add(it.control.descriptor(), static_cast<short>(control));
    // The end of a process that waits to be heard would wake us for ever.
    if (!it.code) add(it.pid.get(), POLLIN);
  }
}

void AgentProcesses::collect(const Takes& takes, const Tell& tell) {
  for (auto entry = processes_.begin(); entry != processes_.end();) {
    Process& it = entry->second;
    write_control(it);
    if (!it.code) reap(it);
    const bool over = it.code.has_value();
    read_logs(it, tell);
    const bool messages = takes();
    if (messages) read_control(it, tell);
    // What it said last is still in its socket.
    if (!over || (!messages && it.control.open())) {
      ++entry;
      continue;
    }
    tell({.ended = ProcessEnded{
              .process = it.standing.process, .attempt = it.standing.attempt, .code = *it.code}});
    entry = processes_.erase(entry);
  }
}

void AgentProcesses::reap(Process& it) {
  const pid_t pid = static_cast<pid_t>(it.standing.pid);
  it.code = exit_code_if_ended(pid);
  if (!it.code) return;
  ::kill(-pid, SIGKILL);  // Ends the processes that it started.
  if (guard_) guard_->forget(pid);
}

void AgentProcesses::read_logs(Process& it, const Tell& tell) {
  const auto take = [&](bool error) {
    return [&, error](std::string_view line) {
      for (std::size_t begin = 0; begin == 0 || begin < line.size(); begin += kLogLineMax) {
        tell({.log = ProcessLog{.process = it.standing.process,
                                .attempt = it.standing.attempt,
                                .error = error,
                                .line = valid_utf8(line.substr(begin, kLogLineMax))}});
      }
    };
  };
  it.out.read(take(false));
  it.err.read(take(true));
}

void AgentProcesses::read_control(Process& it, const Tell& tell) {
  it.control.read([&](std::string_view line) {
    auto message = read_worker_message(line);
    if (!message) return;
    tell({.said = ProcessSaid{.process = it.standing.process,
                              .attempt = it.standing.attempt,
                              .message = std::move(*message)}});
  });
}

void AgentProcesses::write_control(Process& it) {
  while (!it.unsent.empty() && it.control.open()) {
    const ssize_t sent = ::send(it.control.descriptor(), it.unsent.data(), it.unsent.size(),
                                MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (sent < 0) it.unsent.clear();  // It no longer reads; its end is news of its own.
    if (sent > 0) it.unsent.erase(0, static_cast<std::size_t>(sent));
  }
}

}  // namespace stint
