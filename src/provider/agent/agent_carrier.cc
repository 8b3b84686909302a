#include "provider/agent/agent_carrier.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/listener.h"
#include "base/process.h"
#include "checkpoint/private_folder.h"

namespace stint {
namespace {

constexpr const char* kSocket = "agent.sock";
constexpr const char* kLock = "agent.lock";
constexpr const char* kLog = "agent.log";
constexpr const char* kReady = "ready";
constexpr Seconds kStartTime = 30 * kSecond;  // Of an agent on a busy machine.
constexpr Seconds kPause = 50 * kMillisecond;

Error cannot(const char* what, const std::string& path) {
  return failed(fmt::format("cannot {} {}: {}", what, path, std::strerror(errno)));
}

/// The lock of a folder's agent; none when another process has it.
Result<std::optional<Descriptor>> lock_folder(const std::string& folder) {
  const std::string path = folder + "/" + kLock;
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.get() < 0) return cannot("open", path);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return std::optional(std::move(file));
  if (errno == EWOULDBLOCK) return std::optional<Descriptor>();
  return cannot("lock", path);
}

/// Listens in the folder, whose lock we have. `ready` is told when runners may come.
Status listen_and_work(const std::string& folder, const AgentSettings& settings, int ready) {
  ::unlink((folder + "/" + kSocket).c_str());  // Of an agent that was killed.
  const auto listener = Listener::in_folder(folder, kSocket);
  if (!listener.ok()) return listener.error();
  auto guard = AgentGuard::start();
  if (!guard.ok()) return guard.error();
  if (ready >= 0) {
    write_all(ready, std::string(kReady) + "\n");
    ::close(ready);
  }
  Agent agent(settings, std::move(*guard));
  agent.work(&*listener);
  ::unlink((folder + "/" + kSocket).c_str());
  return {};
}

/// The agent as a process of its own: nothing of the carrier's stays open in it.
[[noreturn]] void become_agent(const std::string& folder, const AgentSettings& settings,
                               int report) {
  ::setsid();
  const pid_t pid = ::fork();  // A session's leader could get a terminal.
  if (pid != 0) ::_exit(pid > 0 ? 0 : 1);
  ::umask(077);
  const std::string log = folder + "/" + kLog;
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  const int errors =
      ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(nothing, STDOUT_FILENO);
  ::dup2(errors >= 0 ? errors : nothing, STDERR_FILENO);
  close_all_but({report});
  const auto lock = lock_folder(folder);
  if (!lock.ok()) write_all(report, lock.error().message + "\n");
  // Another one was faster.
  if (!lock.ok() || !lock->has_value()) ::_exit(1);
  const Status worked = listen_and_work(folder, settings, report);
  if (!worked.ok()) write_all(STDERR_FILENO, worked.error().message + "\n");
  ::_exit(worked.ok() ? 0 : 1);
}

/// Starts the folder's agent and waits until it can be reached, or another one is being started.
Status start_agent(const std::string& folder, const AgentSettings& settings) {
  const auto child = fork_child([&](int report) -> int { become_agent(folder, settings, report); });
  if (!child.ok()) return child.error();
  const std::string said = read_line(child->report.get(), kStartTime);
  wait_for_exit(child->pid);
  return said.empty() || said == kReady ? Status() : Status(failed(said));
}

Result<Descriptor> connect_or_start(const std::string& folder, const AgentSettings& settings) {
  const Deadline deadline(kStartTime);
  while (true) {
    auto socket = connect_in_folder(folder, kSocket);
    if (socket.ok() || deadline.passed()) return socket;
    const Status started = start_agent(folder, settings);
    if (!started.ok()) return started.error();
    ::poll(nullptr, 0, poll_milliseconds(kPause));
  }
}

/// One direction of a carrier.
struct Flow {
  int from = -1;
  int to = -1;
  std::array<char, 65536> bytes{};
  std::size_t filled = 0;
  std::size_t written = 0;
  bool ended = false;

  bool reads() const { return !ended && filled == 0; }
  bool writes() const { return filled > 0; }

  void read() {
    const ssize_t got = ::read(from, bytes.data(), bytes.size());
    if (got > 0) filled = static_cast<std::size_t>(got);
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) ended = true;
  }

  /// False when nobody reads.
  bool write() {
    const ssize_t sent = ::write(to, bytes.data() + written, filled - written);
    if (sent < 0) return errno == EINTR || errno == EAGAIN;
    written += static_cast<std::size_t>(sent);
    if (written == filled) filled = written = 0;
    return true;
  }
};

/// Carries bytes until one side ends; what the agent said last is still written.
void carry(int in, int out, int socket) {
  const auto flows = std::make_unique<std::array<Flow, 2>>();
  auto& [there, back] = *flows;
  there.from = in;
  there.to = socket;
  back.from = socket;
  back.to = out;
  while (!(there.ended && !there.writes()) && !(back.ended && !back.writes())) {
    pollfd waiting[] = {{.fd = there.reads() ? in : -1, .events = POLLIN, .revents = 0},
                        {.fd = there.writes() ? socket : -1, .events = POLLOUT, .revents = 0},
                        {.fd = back.reads() ? socket : -1, .events = POLLIN, .revents = 0},
                        {.fd = back.writes() ? out : -1, .events = POLLOUT, .revents = 0}};
    if (::poll(waiting, 4, -1) < 0 && errno != EINTR) return;
    if (StopSignals::take() != 0) return;
    if (waiting[0].revents != 0) there.read();
    if (waiting[1].revents != 0 && !there.write()) return;
    if (waiting[2].revents != 0) back.read();
    if (waiting[3].revents != 0 && !back.write()) return;
  }
}

}  // namespace

Status serve_agent(const std::string& folder, const AgentSettings& settings) {
  const auto made = PrivateFolder::make(folder);
  if (!made.ok()) return made.error();
  const auto lock = lock_folder(folder);
  if (!lock.ok()) return lock.error();
  if (!lock->has_value()) return failed(fmt::format("{} has an agent already", folder));
  return listen_and_work(folder, settings, -1);
}

Status attach_agent(const std::string& folder, const AgentSettings& settings, int in, int out) {
  const auto made = PrivateFolder::make(folder);
  if (!made.ok()) return made.error();
  const auto socket = connect_or_start(folder, settings);
  if (!socket.ok()) return socket.error();
  const StopSignals signals;
  carry(in, out, socket->get());
  return {};
}

Status pipe_agent(const AgentSettings& settings, int in, int out) {
  auto guard = AgentGuard::start();
  if (!guard.ok()) return guard.error();
  Agent agent(settings, std::move(*guard));
  agent.add_stream(Descriptor(::dup(in)), Descriptor(::dup(out)));
  agent.work(nullptr);
  return {};
}

}  // namespace stint
