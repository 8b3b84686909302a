#include "base/process.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "base/file.h"
#include "base/text.h"

extern char** environ;  // NOLINT: POSIX names it.

namespace stint {
namespace {

volatile std::sig_atomic_t stop_signal = 0;  // NOLINT: signal handlers have nothing else.

constexpr Seconds kStartTime = 60 * kSecond;  // For a program on a slow disk to start.
constexpr int kNotStarted = 127;              // The exit code, as in shells.

std::string_view name_of(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

/// The environment of a program, in the form that exec needs.
std::vector<std::string> environment_of(const Command& command) {
  std::vector<std::string> all = command.variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view name = name_of(*entry);
    if (command.inherits && !command.inherits(name)) continue;
    const bool replaced = std::any_of(command.variables.begin(), command.variables.end(),
                                      [&](const std::string& one) { return name_of(one) == name; });
    if (!replaced) all.emplace_back(*entry);
  }
  return all;
}

std::vector<char*> pointers_of(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

void join_group(ProcessGroup group) {
  if (group == ProcessGroup::kOwn) ::setpgid(0, 0);
  if (group == ProcessGroup::kOwnSession) ::setsid();
}

[[noreturn]] void give_up(int report, const std::string& why) {
  write_all(report, fmt::format("error {}\n", why));
  ::_exit(kNotStarted);
}

[[noreturn]] void give_up_on(int report, const char* what) {
  give_up(report, fmt::format("{}: {}", what, std::strerror(errno)));
}

/// Sets the standard input, output and error descriptors of a program.
bool place_streams(std::array<int, 3> streams) {
  // Copies first, since one may have the number of another.
  for (int i = 0; i < 3; ++i) {
    int& stream = streams[static_cast<std::size_t>(i)];
    if (stream != i) stream = ::fcntl(stream, F_DUPFD_CLOEXEC, 3);
  }
  bool placed = true;
  for (int i = 0; i < 3; ++i) {
    const int stream = streams[static_cast<std::size_t>(i)];
    if (stream == i) ::fcntl(i, F_SETFD, 0);
    if (stream != i) placed = ::dup2(stream, i) >= 0 && placed;
  }
  return placed;
}

/// The inputs of a process that becomes a program, prepared before the fork.
struct Prepared {
  const Command& command;
  std::vector<char*> words;
  std::vector<char*> variables;
  pid_t parent;
};

/// Runs in the process that becomes the program.
[[noreturn]] void become(const Prepared& prepared, int report) {
  const Command& command = prepared.command;
  join_group(command.group);
  if (command.dies_with_parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The parent is not visible from another PID namespace.
    if (!command.enter && ::getppid() != prepared.parent) ::_exit(kNotStarted);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_DFL);
  if (!place_streams({command.in, command.out, command.err})) {
    give_up_on(report, "its input and output");
  }
  if (command.kept) {
    std::vector<int> kept = *command.kept;
    for (const int descriptor : kept) ::fcntl(descriptor, F_SETFD, 0);
    kept.push_back(report);
    close_all_but(std::move(kept));
  }
  ::execvpe(prepared.words[0], prepared.words.data(), prepared.variables.data());
  give_up_on(report, prepared.words[0]);
}

/// Enters the namespaces and the folder of the program.
void enter_place(const Command& command, int report) {
  std::array<char, PATH_MAX> own{};
  const char* folder = command.folder.empty() ? nullptr : command.folder.c_str();
  if (command.enter) {
    // Entering another mount namespace changes the folder to its root.
    if (folder == nullptr) folder = ::getcwd(own.data(), own.size());
    const Status entered = command.enter();
    if (!entered.ok()) give_up(report, entered.error().message);
  }
  if (folder != nullptr && ::chdir(folder) != 0) give_up_on(report, folder);
}

[[noreturn]] void become_there(const Prepared& prepared, int report) {
  enter_place(prepared.command, report);
  if (!prepared.command.enter) become(prepared, report);
  // A sibling instead of a child, so that the caller can wait for it.
  const pid_t pid = clone_process(CLONE_PARENT);
  if (pid == 0) become(prepared, report);
  if (pid < 0) {
    errno = -pid;
    give_up_on(report, "cannot start a process");
  }
  write_all(report, fmt::format("pid {}\n", pid));
  ::_exit(0);
}

/// The fields of a line of /proc/PID/stat from the third on.
std::vector<std::string> fields_of(const std::string& stat) {
  // The second field is the program's name in brackets, which may hold anything.
  const std::size_t bracket = stat.rfind(')');
  if (bracket == std::string::npos) return {};
  return split(trim(stat.substr(bracket + 1)), ' ');
}

}  // namespace

StopSignals::StopSignals(std::vector<int> signals)
    : signals_(std::move(signals)), before_(signals_.size()) {
  stop_signal = 0;
  for (std::size_t i = 0; i < signals_.size(); ++i) {
    struct sigaction action {};
    action.sa_handler = [](int signal) { stop_signal = signal; };
    if (signals_[i] == SIGPIPE) action.sa_handler = SIG_IGN;
    ::sigaction(signals_[i], &action, &before_[i]);
    const bool ignored = before_[i].sa_handler == SIG_IGN;
    if (signals_[i] == SIGHUP && ignored) ::sigaction(SIGHUP, &before_[i], nullptr);
  }
}

StopSignals::~StopSignals() {
  for (std::size_t i = 0; i < signals_.size(); ++i) {
    ::sigaction(signals_[i], &before_[i], nullptr);
  }
}

int StopSignals::take() {
  const int signal = stop_signal;
  stop_signal = 0;
  return signal;
}

std::vector<std::string> variable_names() {
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) names.emplace_back(name_of(*entry));
  return names;
}

std::vector<std::string> assignments(const std::map<std::string, std::string>& variables) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : variables) texts.push_back(fmt::format("{}={}", name, value));
  return texts;
}

Result<pid_t> start_process(const Command& command) {
  CHECK(!command.words.empty());
  const std::vector<std::string> variables = environment_of(command);
  const Prepared prepared{.command = command,
                          .words = pointers_of(command.words),
                          .variables = pointers_of(variables),
                          .parent = ::getpid()};
  const auto child = fork_child([&](int report) -> int { become_there(prepared, report); });
  if (!child.ok()) return child.error();
  // The report ends when the program starts, or when no process is left that could become it.
  std::string said;
  const bool ended = read_to_end(child->report.get(), kStartTime, said);
  pid_t pid = command.enter ? -1 : child->pid;
  std::string error = ended ? "" : fmt::format("no start within {:g} s", kStartTime.in(kSecond));
  for (const std::string& line : split(said, '\n')) {
    if (line.starts_with("pid ")) pid = parse_int(line.substr(4)).value_or(-1);
    if (line.starts_with("error ")) error = line.substr(6);
  }
  if (!ended) ::kill(child->pid, SIGKILL);
  if (command.enter) wait_for_exit(child->pid);
  if (pid > 0 && error.empty()) return pid;
  if (pid > 0) kill_group(pid);
  return unavailable(error.empty() ? "it was killed before it began" : error);
}

Result<Child> fork_child(const std::function<int(int report)>& body, const ChildTerms& terms) {
  auto pipe = make_pipe();
  if (!pipe.ok()) return pipe.error();
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return failed(fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (pid == 0) {
    pipe->from.close();
    join_group(terms.group);
    if (terms.death_signal != 0) {
      ::prctl(PR_SET_PDEATHSIG, terms.death_signal);
      if (::getppid() != parent) ::_exit(1);
    }
    ::_exit(body(pipe->to.get()));
  }
  // Both processes do it, because either may need the group first.
  if (terms.group == ProcessGroup::kOwn) ::setpgid(pid, pid);
  return Child{.pid = pid, .report = std::move(pipe->from)};
}

pid_t clone_process(std::uint64_t flags) {
  const auto all = static_cast<unsigned long>(flags | static_cast<std::uint64_t>(SIGCHLD));
  const long pid = ::syscall(SYS_clone, all, 0L, 0L, 0L, 0L);
  return pid < 0 ? -errno : static_cast<pid_t>(pid);
}

Descriptor open_process(pid_t pid) {
  return Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<long>(pid), 0L)));
}

int exit_code_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::optional<int> exit_code_if_ended(pid_t child) {
  int status = 0;
  if (::waitpid(child, &status, WNOHANG) != child) return std::nullopt;
  return exit_code_of(status);
}

int wait_for_exit(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return exit_code_of(status);
}

std::optional<int> wait_for_exit(pid_t child, Seconds limit) {
  constexpr Seconds kTick = 100 * kMillisecond;  // Polling interval where pidfds are not available.
  const Descriptor process = open_process(child);
  const Deadline deadline(limit);
  while (true) {
    const auto code = exit_code_if_ended(child);
    if (code || deadline.passed()) return code;
    wait_for(process.get(), POLLIN, std::min(deadline.left(), kTick));
  }
}

int kill_group(pid_t child) {
  ::kill(-child, SIGKILL);
  ::kill(child, SIGKILL);
  return wait_for_exit(child);
}

void Children::note_end(One& one, int code) {
  one.code = code;
  one.process.close();
  if (first_failure_ == 0) first_failure_ = code;
}

std::vector<std::size_t> Children::reap() {
  std::vector<std::size_t> ended;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const auto code = all_[i].code ? std::nullopt : exit_code_if_ended(all_[i].pid);
    if (!code) continue;
    note_end(all_[i], *code);
    ended.push_back(i);
  }
  return ended;
}

void Children::wait(Seconds limit) const {
  std::vector<pollfd> waiting;
  for (const One& one : all_) {
    waiting.push_back({.fd = one.process.get(), .events = POLLIN, .revents = 0});
  }
  ::poll(waiting.data(), waiting.size(), poll_milliseconds(limit));
}

void Children::signal_all(int signal) const {
  for (const One& one : all_) {
    if (!one.code) ::kill(-one.pid, signal);
  }
}

void Children::kill_all() {
  signal_all(SIGKILL);
  for (One& one : all_) {
    if (!one.code) note_end(one, kill_group(one.pid));
  }
}

bool Children::running() const {
  return std::any_of(all_.begin(), all_.end(), [](const One& one) { return !one.code; });
}

std::vector<int> Children::codes() const {
  std::vector<int> codes;
  for (std::size_t i = 0; i < all_.size(); ++i) codes.push_back(code(i));
  return codes;
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
  constexpr std::size_t kPending = 28;         // The 31st: pending signals.
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

}  // namespace stint
