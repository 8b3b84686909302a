#include "measure/line_reader.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace stint {
namespace {

constexpr std::size_t kChunk = std::size_t{64} << 10U;

Error cannot_read(const std::string& path, const char* why) {
  return bad_input(fmt::format("cannot read {}: {}; check the file and its disk", path, why));
}

}  // namespace

Result<LineReader> LineReader::open(const std::string& path, Missing missing) {
  // Without O_NONBLOCK a FIFO would wait for a writer.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) {
    if (errno == ENOENT && missing == Missing::kEmpty) return LineReader({}, path);
    return cannot_read(path, std::strerror(errno));
  }
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) return cannot_read(path, std::strerror(errno));
  if (!S_ISREG(facts.st_mode)) return cannot_read(path, "it is not a regular file");
  return LineReader(std::move(file), path);
}

Result<std::optional<std::string_view>> LineReader::next() {
  std::size_t seen = begin_;
  while (true) {
    const std::size_t end = buffer_.find('\n', seen);
    if (end != std::string::npos) {
      const std::string_view line(buffer_.data() + begin_, end - begin_);
      begin_ = end + 1;
      ++number_;
      return std::optional(line);
    }
    seen = buffer_.size() - begin_;  // Filling moves what is left to the front.
    if (seen > kLongestLine) {
      return bad_input(
          fmt::format("{}:{}: a line is longer than {} MiB; check that it is the right "
                      "file",
                      path_, number_ + 1, kLongestLine >> 20U));
    }
    const auto more = fill();
    if (!more.ok()) return more.error();
    if (*more) continue;
    if (buffer_.empty()) return std::optional<std::string_view>();
    cut_off_ = true;
    ++number_;
    begin_ = buffer_.size();
    return std::optional(std::string_view(buffer_));
  }
}

Result<bool> LineReader::fill() {
  buffer_.erase(0, begin_);
  begin_ = 0;
  if (file_.get() < 0) return false;
  const std::size_t old = buffer_.size();
  buffer_.resize(old + kChunk);
  ssize_t count = -1;
  do {
    count = ::read(file_.get(), buffer_.data() + old, kChunk);
  } while (count < 0 && errno == EINTR);
  const int cause = errno;
  buffer_.resize(old + static_cast<std::size_t>(count < 0 ? 0 : count));
  if (count < 0) return cannot_read(path_, std::strerror(cause));
  return count > 0;
}

}  // namespace stint
