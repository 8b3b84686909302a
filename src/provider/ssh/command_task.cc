#include "provider/ssh/command_task.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace stint {
namespace {

constexpr std::size_t kTextMax = 65536;  // Bytes that are kept of each stream.

void read_some(int descriptor, std::string& text) {
  char bytes[4096];
  while (descriptor >= 0) {
    const ssize_t got = ::read(descriptor, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    if (text.size() < kTextMax) text.append(bytes, static_cast<std::size_t>(got));
  }
}

}  // namespace

Result<CommandTask> CommandTask::start(Command command, Seconds limit) {
  auto out = make_pipe();
  auto err = make_pipe();
  if (!out.ok()) return out.error();
  if (!err.ok()) return err.error();
  command.out = out->to.get();
  command.err = err->to.get();
  command.kept = std::vector<int>{};
  for (const int ours : {out->from.get(), err->from.get()}) {
    ::fcntl(ours, F_SETFL, ::fcntl(ours, F_GETFL) | O_NONBLOCK);
  }
  const auto pid = start_process(command);
  if (!pid.ok()) return pid.error();
  return CommandTask(*pid, std::move(out->from), std::move(err->from), limit);
}

CommandTask::CommandTask(pid_t pid, Descriptor out, Descriptor err, Seconds limit)
    : pid_(pid), out_(std::move(out)), err_(std::move(err)), limit_(limit) {}

CommandTask::CommandTask(CommandTask&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      out_(std::move(other.out_)),
      err_(std::move(other.err_)),
      limit_(other.limit_),
      code_(other.code_),
      out_text_(std::move(other.out_text_)),
      err_text_(std::move(other.err_text_)) {}

CommandTask& CommandTask::operator=(CommandTask&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(out_, other.out_);
  std::swap(err_, other.err_);
  std::swap(limit_, other.limit_);
  std::swap(code_, other.code_);
  std::swap(out_text_, other.out_text_);
  std::swap(err_text_, other.err_text_);
  return *this;
}

CommandTask::~CommandTask() {
  if (pid_ > 0 && !code_) kill_group(pid_);
}

std::optional<int> CommandTask::turn() {
  if (code_) return code_;
  code_ = exit_code_if_ended(pid_);
  // A process that it left behind may hold its streams, so that their ends are not waited for.
  read_some(out_.get(), out_text_);
  read_some(err_.get(), err_text_);
  if (code_ || !limit_.passed()) return code_;
  kill_group(pid_);
  code_ = kTimedOut;
  return code_;
}

}  // namespace stint
