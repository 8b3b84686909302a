#include "cloud/process.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/sched.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

namespace stint {
namespace {

constexpr std::size_t kLineMax = 1U << 20U;

std::vector<char*> pointers_of(const Words& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

class Deadline {
 public:
  explicit Deadline(Seconds limit)
      : end_(std::chrono::steady_clock::now() +
             std::chrono::milliseconds(static_cast<std::int64_t>(limit.in(kMillisecond)))) {}

  int milliseconds_left() const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end_ - std::chrono::steady_clock::now());
    return static_cast<int>(std::max<std::int64_t>(0, left.count()));
  }

 private:
  std::chrono::steady_clock::time_point end_;
};

/// Reads until `enough`, the end, or the limit; false when it was the limit.
template <class Enough>
bool read_until(int descriptor, Seconds limit, std::string& bytes, Enough enough) {
  const Deadline deadline(limit);
  char buffer[4096];
  while (!enough(bytes) && bytes.size() < kLineMax) {
    pollfd waiting{.fd = descriptor, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&waiting, 1, deadline.milliseconds_left());
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    const ssize_t got = ::read(descriptor, buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    bytes.append(buffer, static_cast<std::size_t>(got));
  }
  return true;
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

void Descriptor::close() {
  if (number_ >= 0) ::close(number_);
  number_ = -1;
}

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return failed(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  }
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

std::optional<std::int64_t> start_of(const std::string& stat) {
  // The second field is the program's name in brackets, which may hold anything.
  const std::size_t bracket = stat.rfind(')');
  if (bracket == std::string::npos) return std::nullopt;
  const std::vector<std::string> fields = split(trim(stat.substr(bracket + 1)), ' ');
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

Status run_command(const Words& words, Seconds limit) {
  auto pipe = make_pipe();
  if (!pipe.ok()) return pipe.error();
  std::vector<char*> arguments = pointers_of(words);
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
  if (!read_until(pipe->from.get(), limit, said, [](const std::string&) { return false; })) {
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

pid_t clone_process(std::uint64_t flags) {
  const auto all = static_cast<unsigned long>(flags | static_cast<std::uint64_t>(SIGCHLD));
  const long pid = ::syscall(SYS_clone, all, 0L, 0L, 0L, 0L);
  return pid < 0 ? -errno : static_cast<pid_t>(pid);
}

void close_all_but(std::vector<int> kept) {
  kept.push_back(2);
  std::sort(kept.begin(), kept.end());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const auto first = static_cast<unsigned>(std::max(kept[i], 2) + 1);
    const unsigned last = i + 1 < kept.size() ? static_cast<unsigned>(kept[i + 1]) : ~0U;
    if (i + 1 == kept.size()) ::syscall(SYS_close_range, first, ~0U, 0);
    if (i + 1 < kept.size() && first < last) ::syscall(SYS_close_range, first, last - 1, 0);
  }
}

std::string read_line(int descriptor, Seconds limit) {
  std::string bytes;
  read_until(descriptor, limit, bytes,
             [](const std::string& so_far) { return so_far.ends_with('\n'); });
  if (bytes.ends_with('\n')) bytes.pop_back();
  return bytes;
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::write(descriptor, bytes.data(), bytes.size());
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

}  // namespace stint
