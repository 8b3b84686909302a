#include "base/line_log.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
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

Result<LineLog> LineLog::replace(const std::string& path, std::string_view lines) {
  const std::string temporary = path + ".new";
  ::unlink(temporary.c_str());  // What a kill has left.
  const int flags = O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
  Descriptor file(::open(temporary.c_str(), flags, 0600));
  if (file.get() < 0) return cannot("create", temporary);
  const bool written = write_all(file.get(), lines) && ::fsync(file.get()) == 0;
  if (!written || ::rename(temporary.c_str(), path.c_str()) != 0) {
    const Error error = cannot("replace", path);
    ::unlink(temporary.c_str());
    return error;
  }
  // Some file systems refuse to sync a folder; the rename itself has happened by then.
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const Descriptor above(
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (above.get() >= 0) ::fsync(above.get());
  return LineLog(std::move(file), path);
}

Status LineLog::append(std::string_view line, Durability durability) {
  if (!write_all(file_.get(), line)) return cannot("write to", path_);
  if (durability == Durability::kLater) return {};
  if (::fdatasync(file_.get()) != 0) return cannot("write to", path_);
  return {};
}

}  // namespace stint
