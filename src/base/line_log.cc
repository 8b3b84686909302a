#include "base/line_log.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace stint {
namespace {

Error cannot(const char* what, const std::string& path) {
  return failed(fmt::format("cannot {} {}: {}", what, path, std::strerror(errno)));
}

}  // namespace

Result<LineLog> LineLog::open(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.get() < 0) return cannot("open", path);
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) return cannot("read the size of", path);
  off_t end = facts.st_size;
  for (char last = 0; end > 0; --end) {
    if (::pread(file.get(), &last, 1, end - 1) != 1) return cannot("read", path);
    if (last == '\n') break;
  }
  if (end < facts.st_size && ::ftruncate(file.get(), end) != 0) return cannot("mend", path);
  return LineLog(std::move(file), path);
}

Status LineLog::append(std::string_view line, Durability durability) {
  if (!write_all(file_.get(), line)) return cannot("write to", path_);
  if (durability == Durability::kLater) return {};
  if (::fdatasync(file_.get()) != 0) return cannot("write to", path_);
  return {};
}

}  // namespace stint
