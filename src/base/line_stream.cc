#include "base/line_stream.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace stint {
namespace {

constexpr std::size_t kLineMax = 1U << 20U;

}  // namespace

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
