#include "measure/line_reader.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/text.h"

namespace stint {
namespace {

constexpr std::size_t kChunk = std::size_t{64} << 10U;
// More than any line of ours; a file with a longer one must be another.
constexpr std::size_t kLongestLine = std::size_t{64} << 20U;

Error cannot_read(const std::string& path, const char* why) {
  return bad_input(fmt::format("cannot read {}: {}; check the file and its disk", path, why));
}

/// An open file and what was read of it beyond the last line.
class Lines {
 public:
  Lines(Descriptor file, const std::string& path) : file_(std::move(file)), path_(path) {}

  /// Sets the next line, valid until the next call; false at the end.
  Result<bool> next(FileLine& line) {
    std::size_t seen = begin_;
    while (true) {
      const std::size_t end = buffer_.find('\n', seen);
      if (end != std::string::npos) {
        line = {.text = std::string_view(buffer_).substr(begin_, end - begin_),
                .number = line.number + 1};
        begin_ = end + 1;
        return true;
      }
      seen = buffer_.size() - begin_;  // Filling moves what is left to the front.
      if (seen > kLongestLine) {
        return bad_input(
            fmt::format("{}:{}: a line is longer than {} MiB; check that it is the right file",
                        path_, line.number + 1, kLongestLine >> 20U));
      }
      const auto more = fill();
      if (!more.ok()) return more.error();
      if (*more) continue;
      begin_ = buffer_.size();
      line = {.text = buffer_, .number = line.number + 1, .cut_off = true};
      return !buffer_.empty();
    }
  }

 private:
  /// Reads more; false at the end of the file.
  Result<bool> fill() {
    buffer_.erase(0, begin_);
    begin_ = 0;
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

  Descriptor file_;
  const std::string& path_;
  std::string buffer_ = {};
  std::size_t begin_ = 0;  // Of what is not yet taken.
};

}  // namespace

Status each_line(const std::string& path, const std::function<Status(const FileLine&)>& take) {
  // Without O_NONBLOCK a FIFO would wait for a writer.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) {
    return errno == ENOENT ? Status() : cannot_read(path, std::strerror(errno));
  }
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) return cannot_read(path, std::strerror(errno));
  if (!S_ISREG(facts.st_mode)) return cannot_read(path, "it is not a regular file");
  Lines lines(std::move(file), path);
  FileLine line;
  while (true) {
    const auto more = lines.next(line);
    if (!more.ok()) return more.error();
    if (!*more) return {};
    if (trim(line.text).empty()) continue;
    const Status taken = take(line);
    if (!taken.ok()) return taken;
  }
}

}  // namespace stint
