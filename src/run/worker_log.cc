#include "run/worker_log.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "run/run_folder.h"
#include "supervise/run_terms.h"

namespace stint {
namespace {

constexpr std::size_t kPiece = 64 * 1024;  // Bytes read at once, and of a line at most.
constexpr std::size_t kMarkHead = 12;      // Bytes of a mark within which it says whose it is.

/// Drops the escape sequence that `text` begins with.
void drop_escape(std::string_view& text) {
  text.remove_prefix(1);
  if (text.empty()) return;
  const char kind = text[0];
  text.remove_prefix(1);
  if (kind == '[') {  // Ends with a letter or the like.
    while (!text.empty() && (text[0] < '@' || text[0] > '~')) text.remove_prefix(1);
    if (!text.empty()) text.remove_prefix(1);
  } else if (kind == ']') {  // Ends with a bell, or with an escape and a backslash.
    while (!text.empty() && text[0] != '\a' && text[0] != '\x1b') text.remove_prefix(1);
    const bool escape = text.starts_with("\x1b\\");
    text.remove_prefix(std::min<std::size_t>(text.size(), escape ? 2 : 1));
  }
}

}  // namespace

std::string worker_log_path(const std::string& run, Seat seat) {
  return log_folder(run) + "/" + worker_log_name(seat);
}

std::optional<Seat> worker_log_seat(std::string_view file) {
  if (!file.starts_with("vm") || !file.ends_with(kWorkerLogEnd)) return std::nullopt;
  const std::string_view place = file.substr(2, file.size() - 2 - kWorkerLogEnd.size());
  const std::size_t point = std::min(place.find('.'), place.size());
  const auto vm = parse_int(place.substr(0, point));
  if (!vm || *vm < 1) return std::nullopt;
  if (point == place.size()) return Seat(*vm - 1);
  const auto local = parse_int(place.substr(point + 1));
  if (!local || *local < 2) return std::nullopt;
  return Seat(*vm - 1, *local - 1);
}

Result<WorkerLog> WorkerLog::open(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (file.get() < 0) return failed(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  return WorkerLog(std::move(file));
}

std::int64_t WorkerLog::size() const {
  struct stat facts = {};
  return ::fstat(file_.get(), &facts) == 0 ? static_cast<std::int64_t>(facts.st_size) : 0;
}

Status WorkerLog::keep_last(std::int64_t lines) {
  std::int64_t end = size();
  std::int64_t found = 0;
  bool last_byte = true;
  std::string bytes(kPiece, '\0');
  while (end > 0) {
    const auto length = std::min<std::int64_t>(end, static_cast<std::int64_t>(bytes.size()));
    const ssize_t got = ::pread(file_.get(), bytes.data(), static_cast<std::size_t>(length),
                                static_cast<off_t>(end - length));
    if (got != length) return failed(fmt::format("cannot read a log: {}", std::strerror(errno)));
    for (std::int64_t i = length - 1; i >= 0; --i) {
      const bool ends = bytes[static_cast<std::size_t>(i)] == '\n';
      // The end of the last line is not that of another.
      if (ends && !last_byte && ++found == lines) {
        offset_ = end - length + i + 1;
        return {};
      }
      last_byte = false;
    }
    end -= length;
  }
  offset_ = 0;
  return {};
}

bool WorkerLog::fill() {
  buffer_.erase(0, begin_);
  begin_ = 0;
  const std::size_t before = buffer_.size();
  buffer_.resize(before + kPiece);
  const ssize_t got = ::pread(file_.get(), buffer_.data() + before, kPiece,
                              static_cast<off_t>(offset_ + static_cast<std::int64_t>(before)));
  buffer_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return got > 0;
}

std::string WorkerLog::take(std::size_t length, std::size_t end) {
  std::string line = buffer_.substr(begin_, length);
  begin_ += end;
  offset_ += static_cast<std::int64_t>(end);
  return line;
}

std::optional<std::string> WorkerLog::next(bool rest) {
  while (true) {
    const std::size_t end = buffer_.find('\n', begin_);
    if (end != std::string::npos && end - begin_ <= kPiece) {
      return take(end - begin_, end - begin_ + 1);
    }
    if (buffer_.size() - begin_ >= kPiece) return take(kPiece, kPiece);
    if (fill()) continue;
    const std::size_t left = buffer_.size() - begin_;
    if (!rest || left == 0) return std::nullopt;
    return take(left, left);
  }
}

std::string log_text(std::string_view line) {
  while (line.ends_with('\r')) line.remove_suffix(1);
  const std::size_t back = line.rfind('\r');
  if (back != std::string_view::npos) line.remove_prefix(back + 1);
  std::string text;
  while (!line.empty()) {
    const std::size_t escape = std::min(line.find('\x1b'), line.size());
    text += line.substr(0, escape);
    line.remove_prefix(escape);
    if (!line.empty()) drop_escape(line);
  }
  return harmless(text);
}

std::optional<int> marked_rank(std::string_view line) {
  constexpr std::string_view kWord = "rank";
  if (line.substr(0, kMarkHead).find("stint") == std::string_view::npos) return std::nullopt;
  const std::size_t at = line.find(kWord);
  if (at == std::string_view::npos) return std::nullopt;
  line.remove_prefix(at + kWord.size());
  line.remove_prefix(std::min(line.find_first_not_of(" =:\""), line.size()));
  const std::size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
  return parse_int(line.substr(0, digits));
}

}  // namespace stint
