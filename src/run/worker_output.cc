#include "run/worker_output.h"

#include <algorithm>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/text.h"
#include "supervise/run_terms.h"

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

void append(const std::string& path, std::string_view line) {
  const Descriptor log(
      ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (log.get() >= 0) write_all(log.get(), fmt::format("{}\n", line));
}

}  // namespace

std::string worker_log_name(Seat seat) {
  if (seat.local == 0) return vm_name(seat.vm) + kWorkerLogEnd;
  return fmt::format("{}.{}{}", vm_name(seat.vm), seat.local + 1, kWorkerLogEnd);
}

void WorkerOutput::append_worker(Seat seat, std::string_view line) const {
  append(folder_ + "/" + worker_log_name(seat), line);
}

void WorkerOutput::append_receiver(int vm, std::string_view line) const {
  append(fmt::format("{}/{}-receiver.log", folder_, vm_name(vm)), line);
}

std::vector<std::string> WorkerOutput::last_lines(Seat seat, std::size_t most) const {
  const std::string text = tail_of(folder_ + "/" + worker_log_name(seat), kTailBytes);
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
