#include "base/process.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "base/descriptor.h"
#include "base/file.h"
#include "base/text.h"

extern char** environ;  // NOLINT: POSIX names it.

namespace stint {
namespace {

volatile std::sig_atomic_t told_to_stop = 0;  // NOLINT: signal handlers have nothing else.

using Cause = ProcessesEnd::Cause;

constexpr Seconds kFollowTime = 10 * kSecond;  // After another worker failed.
constexpr Seconds kGraceTime = 5 * kSecond;    // Between asking to end and killing.
constexpr long kTickNanoseconds = 100'000'000;

Seconds steady_now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count() * kSecond;
}

/// Holds back the signals that the wait below takes instead, until it goes out of scope.
class HeldSignals {
 public:
  HeldSignals() {
    sigemptyset(&held_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&held_, signal);
    sigprocmask(SIG_BLOCK, &held_, &before_);
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

  const sigset_t& before() const { return before_; }

  /// The signal that came within a tick, or 0.
  int wait() const {
    const timespec tick{.tv_sec = 0, .tv_nsec = kTickNanoseconds};
    return std::max(0, sigtimedwait(&held_, nullptr, &tick));
  }

 private:
  sigset_t held_{};
  sigset_t before_{};
};

/// Our environment with the command's variables, as execve wants it.
std::vector<std::string> environment_of(const Command& command) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string name(text.substr(0, text.find('=')));
    if (!command.variables.contains(name)) all.emplace_back(text);
  }
  for (const auto& [name, value] : command.variables)
    all.push_back(fmt::format("{}={}", name, value));
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// One process, and whether it still runs.
struct Child {
  pid_t id = 0;
  bool running = false;
  int code = 0;
};

/// What the child does between fork and exec; only calls that are safe there.
[[noreturn]] void become(const char* path, char* const* words, char* const* variables, int output,
                         int report, const sigset_t& signals) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int empty = open("/dev/null", O_RDONLY);  // NOLINT: exec closes what is not needed.
  if (empty >= 0) dup2(empty, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  sigprocmask(SIG_SETMASK, &signals, nullptr);
  execve(path, words, variables);
  const int cause = errno;
  if (write(report, &cause, sizeof cause) < 0) _exit(126);
  _exit(127);
}

Error cannot_start(const std::string& program, int cause) {
  return {ErrorKind::kUnavailable,
          fmt::format("cannot start {}: {}", printable(program), std::strerror(cause))};
}

Result<Child> start(const Command& command, int output, const sigset_t& signals) {
  CHECK(!command.words.empty());
  const auto path = program_path(command.words[0]);
  if (!path) return cannot_start(command.words[0], ENOENT);
  std::vector<std::string> words = command.words;
  std::vector<std::string> variables = environment_of(command);
  const std::vector<char*> word_pointers = pointers_to(words);
  const std::vector<char*> variable_pointers = pointers_to(variables);
  std::array<int, 2> report{};
  if (pipe2(report.data(), O_CLOEXEC) != 0) return cannot_start(command.words[0], errno);
  const pid_t id = fork();
  if (id == 0) {
    become(path->c_str(), word_pointers.data(), variable_pointers.data(), output, report[1],
           signals);
  }
  int cause = id < 0 ? errno : 0;
  close(report[1]);
  if (id > 0 && read(report[0], &cause, sizeof cause) > 0) waitpid(id, nullptr, 0);
  close(report[0]);
  if (cause != 0) return cannot_start(command.words[0], cause);
  return Child{.id = id, .running = true};
}

/// Several children, started together and ended together.
class Children {
 public:
  Children() = default;
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;
  ~Children() {
    signal_all(SIGKILL);
    for (Child& child : children_) {
      if (child.running) waitpid(child.id, nullptr, 0);
    }
  }

  void add(const Child& child) { children_.push_back(child); }

  void signal_all(int signal) const {
    for (const Child& child : children_) {
      if (child.running) kill(-child.id, signal);
    }
  }

  /// Takes note of those that ended, and ends what they left in their groups.
  void reap() {
    for (Child& child : children_) {
      int status = 0;
      if (!child.running || waitpid(child.id, &status, WNOHANG) != child.id) continue;
      kill(-child.id, SIGKILL);
      child.running = false;
      child.code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
      if (first_failure_ == 0) first_failure_ = child.code;
    }
  }

  bool running() const {
    return std::any_of(children_.begin(), children_.end(),
                       [](const Child& child) { return child.running; });
  }
  int first_failure() const { return first_failure_; }
  std::vector<int> codes() const {
    std::vector<int> codes;
    for (const Child& child : children_) codes.push_back(child.code);
    return codes;
  }

 private:
  std::vector<Child> children_;
  int first_failure_ = 0;
};

/// Waits for all children; see run_together.
ProcessesEnd wait_for(Children& children, const HeldSignals& signals, Seconds limit) {
  ProcessesEnd end;
  Seconds ask = steady_now() + limit;  // When to ask them to end.
  std::optional<Seconds> kill_at;
  bool following = false;
  for (children.reap(); children.running(); children.reap()) {
    const int signal = signals.wait();
    const Seconds now = steady_now();
    if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP) {
      end.cause = Cause::kInterrupted;
      children.signal_all(signal);
      if (!kill_at) kill_at = now + kGraceTime;
    }
    if (children.first_failure() != 0 && !following && !kill_at) {
      following = true;
      ask = std::min(ask, now + kFollowTime);
    }
    if (now >= ask && !kill_at) {
      if (!following) end.cause = Cause::kTimeLimit;
      children.signal_all(SIGTERM);
      kill_at = now + kGraceTime;
    }
    if (kill_at && now >= *kill_at) children.signal_all(SIGKILL);
  }
  end.codes = children.codes();
  end.code = children.first_failure();
  return end;
}

/// The fields of a line of /proc/PID/stat from the third on.
std::vector<std::string> fields_of(const std::string& stat) {
  // The second field is the program's name in brackets, which may hold anything.
  const std::size_t bracket = stat.rfind(')');
  if (bracket == std::string::npos) return {};
  return split(trim(stat.substr(bracket + 1)), ' ');
}

}  // namespace

StopSignals::StopSignals() {
  told_to_stop = 0;
  struct sigaction action {};
  action.sa_handler = [](int /*signal*/) { told_to_stop = 1; };
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    if (kSignals[i] == SIGPIPE) action.sa_handler = SIG_IGN;
    ::sigaction(kSignals[i], &action, &before_[i]);
  }
}

StopSignals::~StopSignals() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], &before_[i], nullptr);
  }
}

bool StopSignals::take() {
  const bool told = told_to_stop != 0;
  told_to_stop = 0;
  return told;
}

Result<ProcessesEnd> run_together(std::span<const Command> commands, Seconds limit,
                                  const std::optional<std::string>& output) {
  int descriptor = STDERR_FILENO;
  if (output) {
    descriptor = open(output->c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (descriptor < 0) {
      return failed(fmt::format("cannot write {}: {}", *output, std::strerror(errno)));
    }
  }
  const HeldSignals signals;
  Children children;
  std::optional<Error> error;
  for (const Command& command : commands) {
    const auto child = start(command, descriptor, signals.before());
    if (!child.ok()) {
      error = child.error();
      break;
    }
    children.add(*child);
  }
  if (output) close(descriptor);
  if (error) return *error;
  return wait_for(children, signals, limit);
}

std::optional<std::int64_t> start_of(const std::string& stat) {
  const std::vector<std::string> fields = fields_of(stat);
  constexpr std::size_t kState = 0;   // The third field of the line.
  constexpr std::size_t kStart = 19;  // The twenty-second.
  if (fields.size() <= kStart || fields[kState] == "Z" || fields[kState] == "X") {
    return std::nullopt;
  }
  const auto start = parse_double(fields[kStart]);
  if (!start) return std::nullopt;
  return static_cast<std::int64_t>(*start);
}

std::optional<ProcessId> process_id(std::int64_t pid) {
  const auto stat = read_file(fmt::format("/proc/{}/stat", pid));
  const auto boot = read_file("/proc/sys/kernel/random/boot_id");
  if (!stat.ok() || !boot.ok()) return std::nullopt;
  const auto start = start_of(*stat);
  if (!start) return std::nullopt;
  return ProcessId{.pid = pid, .start = *start, .boot = std::string(trim(*boot))};
}

bool is_alive(const ProcessId& process) { return process_id(process.pid) == process; }

bool is_ending(const std::string& stat) {
  constexpr std::size_t kFlags = 6;            // The ninth field.
  constexpr std::size_t kPending = 28;         // The 31st: signals that it has not got yet.
  constexpr std::uint64_t kExiting = 4;        // PF_EXITING of the kernel.
  constexpr std::uint64_t kKilled = 1U << 8U;  // SIGKILL, which is 9.
  const std::vector<std::string> fields = fields_of(stat);
  if (fields.size() <= kPending) return false;
  const auto has = [&](std::size_t field, std::uint64_t bit) {
    const auto number = parse_double(fields[field]);
    return number && (static_cast<std::uint64_t>(*number) & bit) != 0;
  };
  return has(kFlags, kExiting) || has(kPending, kKilled);
}

bool is_ending(const ProcessId& process) {
  const auto stat = read_file(fmt::format("/proc/{}/stat", process.pid));
  return stat.ok() && is_alive(process) && is_ending(*stat);
}

Status run_command(const Words& words, Seconds limit) {
  auto pipe = make_pipe();
  if (!pipe.ok()) return pipe.error();
  Words copy = words;
  const std::vector<char*> arguments = pointers_to(copy);
  const pid_t child = ::fork();
  if (child < 0) return failed(fmt::format("cannot start {}: {}", words[0], std::strerror(errno)));
  if (child == 0) {
    ::dup2(pipe->to.get(), STDERR_FILENO);
    ::execvp(arguments[0], arguments.data());
    const std::string why = fmt::format("{}: {}", words[0], std::strerror(errno));
    write_all(STDERR_FILENO, why);
    ::_exit(127);
  }
  pipe->to.close();
  std::string said;
  if (!read_to_end(pipe->from.get(), limit, said)) {
    ::kill(child, SIGKILL);
    said += fmt::format("no end after {:g} s", limit.in(kSecond));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return unavailable(
      fmt::format("'{}' failed: {}", join(words, " "), printable(std::string(trim(said)))));
}

Status run_commands(const std::vector<Words>& commands) {
  for (const Words& words : commands) {
    const Status status = run_command(words);
    if (!status.ok()) return status;
  }
  return {};
}

std::optional<std::string> program_path(const std::string& program) {
  if (program.find('/') != std::string::npos) {
    return access(program.c_str(), X_OK) == 0 ? std::optional(program) : std::nullopt;
  }
  const char* search = std::getenv("PATH");
  for (const std::string& folder : split(search == nullptr ? "/usr/bin:/bin" : search, ':')) {
    std::string path = fmt::format("{}/{}", folder.empty() ? "." : folder, program);
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return std::nullopt;
}

Result<int> free_loopback_port() {
  const int socket_number = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);  // NOLINT: as the sockets interface wants it.
  const bool found = socket_number >= 0 && bind(socket_number, any, size) == 0 &&
                     getsockname(socket_number, any, &size) == 0;
  const int cause = errno;
  if (socket_number >= 0) close(socket_number);
  if (!found) return failed(fmt::format("no free port on loopback: {}", std::strerror(cause)));
  return int{ntohs(address.sin_port)};
}

}  // namespace stint
