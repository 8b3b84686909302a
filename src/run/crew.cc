#include "run/crew.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include "base/file.h"
#include "base/text.h"

namespace stint {
namespace {

constexpr std::size_t kTailBytes = 16384;

/// The end of a file that may be large; empty where it cannot be read.
std::string tail_of(const std::string& path, std::size_t most) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const off_t size = file.get() < 0 ? -1 : ::lseek(file.get(), 0, SEEK_END);
  if (size < 0) return {};
  std::string text(std::min(most, static_cast<std::size_t>(size)), '\0');
  const auto got =
      ::pread(file.get(), text.data(), text.size(), size - static_cast<off_t>(text.size()));
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return text;
}

std::string receiver_log(const std::string& folder, int vm) {
  return fmt::format("{}/{}-receiver.log", folder, vm_name(vm));
}

Result<Descriptor> open_log(const std::string& path) {
  Descriptor log(
      ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (log.get() < 0) return failed(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  return log;
}

}  // namespace

std::string worker_log_name(Seat seat) {
  if (seat.local == 0) return vm_name(seat.vm) + kWorkerLogEnd;
  return fmt::format("{}.{}{}", vm_name(seat.vm), seat.local + 1, kWorkerLogEnd);
}

Crew::~Crew() {
  while (!workers_.empty()) end_worker(workers_.begin()->first);
  for (const auto& receiver : receivers_) kill_group(receiver.second);
}

Status Crew::start_worker(Seat seat, Command command, const std::string& mark) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return failed(fmt::format("cannot create a socket: {}", std::strerror(errno)));
  }
  Descriptor ours(ends[0]);
  const Descriptor theirs(ends[1]);
  const auto log = open_log(log_folder_ + "/" + worker_log_name(seat));
  if (!log.ok()) return log.error();
  write_all(log->get(), kLogMark + mark + "\n");
  command.out = log->get();
  command.err = log->get();
  command.kept = std::vector<int>{theirs.get()};
  command.variables.push_back(fmt::format("STINT_CONTROL={}", theirs.get()));
  const auto pid = provider_.spawn(vm_name(seat.vm), std::move(command));
  if (!pid.ok()) return pid.error();
  workers_[seat] = {.pid = *pid, .control = LineStream(std::move(ours))};
  return {};
}

Status Crew::start_receiver(int vm, Command command, const std::string& input) {
  if (has_receiver(vm)) kill_group(receivers_[vm]);
  receivers_.erase(vm);
  auto pipe = make_pipe();
  if (!pipe.ok()) return pipe.error();
  const auto log = open_log(receiver_log(log_folder_, vm));
  if (!log.ok()) return log.error();
  command.in = pipe->from.get();
  command.out = log->get();
  command.err = log->get();
  const auto pid = provider_.spawn(vm_name(vm), std::move(command));
  if (!pid.ok()) return pid.error();
  write_all(pipe->to.get(), input + "\n");
  receivers_[vm] = *pid;
  return {};
}

std::vector<Seat> Crew::seats() const {
  std::vector<Seat> found;
  for (const auto& entry : workers_) found.push_back(entry.first);
  return found;
}

void Crew::send(Seat seat, const Json& order) {
  const auto found = workers_.find(seat);
  if (found == workers_.end()) return;
  const std::string line = to_text(order, JsonStyle::kLine) + "\n";
  (void)::send(found->second.control.descriptor(), line.data(), line.size(), MSG_NOSIGNAL);
}

void Crew::end_worker(Seat seat) {
  const auto found = workers_.find(seat);
  if (found == workers_.end()) return;
  kill_group(found->second.pid);
  workers_.erase(found);
}

void Crew::terminate_worker(Seat seat) {
  const auto found = workers_.find(seat);
  if (found != workers_.end()) ::kill(-found->second.pid, SIGTERM);
}

void Crew::end_all_on(int vm) {
  for (const Seat& seat : seats()) {
    if (seat.vm == vm) end_worker(seat);
  }
  if (!has_receiver(vm)) return;
  kill_group(receivers_[vm]);
  receivers_.erase(vm);
}

std::vector<CrewNews> Crew::wait(Seconds limit) {
  std::vector<pollfd> waiting;
  for (const auto& entry : workers_) {
    waiting.push_back({.fd = entry.second.control.descriptor(), .events = POLLIN, .revents = 0});
  }
  waiting.push_back({.fd = provider_.descriptor(), .events = POLLIN, .revents = 0});
  ::poll(waiting.data(), waiting.size(), static_cast<int>(limit.in(kMillisecond)));
  std::vector<CrewNews> news;
  for (auto& entry : workers_) read(entry.first, entry.second, news);
  reap(news);
  return news;
}

void Crew::read(Seat seat, Worker& worker, std::vector<CrewNews>& news) {
  worker.control.read([&](std::string_view line) {
    auto json = parse_json(line, "worker");
    if (json.ok()) news.push_back({.worker = seat, .said = std::move(*json)});
  });
}

void Crew::reap(std::vector<CrewNews>& news) {
  for (auto it = workers_.begin(); it != workers_.end();) {
    const auto code = exit_code_if_ended(it->second.pid);
    if (!code) {
      ++it;
      continue;
    }
    read(it->first, it->second, news);
    ::kill(-it->second.pid, SIGKILL);  // Ends the processes that the worker started.
    news.push_back({.worker = it->first, .ended = *code});
    it = workers_.erase(it);
  }
  for (auto it = receivers_.begin(); it != receivers_.end();) {
    it = exit_code_if_ended(it->second) ? receivers_.erase(it) : std::next(it);
  }
}

std::vector<std::string> Crew::last_lines(Seat seat, std::size_t most) const {
  const std::string text = tail_of(log_folder_ + "/" + worker_log_name(seat), kTailBytes);
  std::vector<std::string> lines;
  for (const std::string& line : split(text, '\n')) {
    if (line.starts_with(kLogMark)) {
      lines.clear();
    } else if (!line.empty()) {
      lines.push_back(is_utf8(line) ? without_controls(line) : printable(line));
    }
  }
  if (lines.size() > most)
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(most));
  return lines;
}

}  // namespace stint
