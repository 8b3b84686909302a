#include "base/run_command.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/text.h"

namespace stint {
namespace {

using Cause = ProcessesEnd::Cause;

constexpr Seconds kFollowTime = 10 * kSecond;  // After another worker failed.
constexpr Seconds kGraceTime = 5 * kSecond;    // From the request to end until the kill.
constexpr Seconds kTick = 100 * kMillisecond;

/// Records children that ended, and ends the rest of their groups.
void reap(Children& children) {
  for (const std::size_t ended : children.reap()) ::kill(-children.pid(ended), SIGKILL);
}

/// Waits for all children; see run_together.
ProcessesEnd wait_for_all(Children& children, Seconds limit) {
  ProcessesEnd end;
  Seconds ask = steady_now() + limit;  // Time at which to request their end.
  std::optional<Seconds> kill_at;
  bool following = false;
  for (reap(children); children.running(); reap(children)) {
    children.wait(kTick);
    const Seconds now = steady_now();
    if (const int signal = StopSignals::take()) {
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

Result<Descriptor> opened(const std::string& path, int flags, const char* verb) {
  Descriptor file(::open(path.c_str(), flags | O_CLOEXEC, 0600));
  if (file.get() >= 0) return file;
  return failed(fmt::format("cannot {} {}: {}", verb, path, std::strerror(errno)));
}

}  // namespace

Result<ProcessesEnd> run_together(std::span<const Command> commands, Seconds limit,
                                  const std::optional<std::string>& output) {
  const auto empty = opened("/dev/null", O_RDONLY, "read");
  if (!empty.ok()) return empty.error();
  const auto file = output ? opened(*output, O_WRONLY | O_CREAT | O_APPEND, "write")
                           : Result<Descriptor>(Descriptor());
  if (!file.ok()) return file.error();
  const StopSignals signals({SIGINT, SIGTERM, SIGHUP});
  Children children;
  for (Command command : commands) {
    command.in = empty->get();
    command.out = command.err = output ? file->get() : STDERR_FILENO;
    const auto child = start_process(command);
    if (!child.ok()) {
      return Error{child.error().kind, "cannot start " + printable(child.error().message)};
    }
    children.add(*child);
  }
  return wait_for_all(children, limit);
}

Status run_command(const Words& words, Seconds limit) {
  auto pipe = make_pipe();
  if (!pipe.ok()) return pipe.error();
  const auto child = start_process({.words = words, .err = pipe->to.get()});
  pipe->to.close();
  std::string said = child.ok() ? "" : child.error().message;
  const Deadline deadline(limit);
  if (child.ok()) {
    const bool silent = read_to_end(pipe->from.get(), limit, said);
    const auto code = silent ? wait_for_exit(*child, deadline.left()) : std::nullopt;
    if (code == 0) return {};
    if (!code) {
      kill_group(*child);
      said += fmt::format("it did not end within {:g} s", limit.in(kSecond));
    }
  }
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

}  // namespace stint
