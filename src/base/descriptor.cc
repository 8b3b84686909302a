#include "base/descriptor.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <limits>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace stint {
namespace {

constexpr std::size_t kLineMax = 1U << 20U;

/// Reads until `enough`, the end, or the limit; false when it was the limit.
template <class Enough>
bool read_until(int descriptor, Seconds limit, std::string& bytes, Enough enough) {
  const Deadline deadline(limit);
  char buffer[4096];
  while (!enough(bytes) && bytes.size() < kLineMax) {
    if (!wait_for(descriptor, POLLIN, deadline.left())) return false;
    const ssize_t got = ::read(descriptor, buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    bytes.append(buffer, static_cast<std::size_t>(got));
  }
  return true;
}

}  // namespace

Seconds steady_now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count() * kSecond;
}

Seconds Deadline::left() const { return std::max(Seconds{}, end_ - steady_now()); }

int poll_milliseconds(Seconds limit) {
  constexpr double kMost = std::numeric_limits<int>::max();
  return static_cast<int>(std::clamp(std::ceil(limit.in(kMillisecond)), 0.0, kMost));
}

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
    return failed(fmt::format("cannot create a pipe: {}", std::strerror(errno)));
  }
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

bool wait_for(int descriptor, short events, Seconds limit) {
  const Deadline deadline(limit);
  while (true) {
    pollfd waiting{.fd = descriptor, .events = events, .revents = 0};
    const int ready = ::poll(&waiting, 1, poll_milliseconds(deadline.left()));
    if (ready < 0 && errno == EINTR) continue;
    return ready > 0;
  }
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

bool read_to_end(int descriptor, Seconds limit, std::string& bytes) {
  return read_until(descriptor, limit, bytes, [](const std::string&) { return false; });
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

LineStream::LineStream(Descriptor from) : from_(std::move(from)) {
  ::fcntl(from_.get(), F_SETFL, ::fcntl(from_.get(), F_GETFL) | O_NONBLOCK);
}

void LineStream::read(const TakeLine& take) {
  char buffer[65536];
  for (std::size_t taken = 0; open() && taken < kLineMax;) {
    const ssize_t got = ::read(from_.get(), buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      close(take);
      return;
    }
    taken += static_cast<std::size_t>(got);
    rest_.append(buffer, static_cast<std::size_t>(got));
    give_lines(take);
  }
}

void LineStream::give_lines(const TakeLine& take) {
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = rest_.find('\n', begin)) != std::string::npos; begin = end + 1) {
    take(std::string_view(rest_).substr(begin, end - begin));
  }
  rest_.erase(0, begin);
  if (rest_.size() < kLineMax) return;
  take(rest_);
  rest_.clear();
}

void LineStream::close(const TakeLine& take) {
  if (!rest_.empty()) take(rest_);
  rest_.clear();
  from_.close();
}

}  // namespace stint
