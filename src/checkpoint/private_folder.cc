#include "checkpoint/private_folder.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "base/crash_point.h"

namespace stint {
namespace {

constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

Error failure(const char* what, const std::string& path, int cause) {
  const char* advice = "";
  if (cause == ENOSPC || cause == EDQUOT) advice = "; free some space there and try again";
  if (cause == EACCES || cause == EPERM || cause == EROFS) advice = "; check its permissions";
  return failed(fmt::format("cannot {} {}: {}{}", what, path, std::strerror(cause), advice));
}

/// Zero, or the errno of the write that failed.
int write_bytes(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// Zero, or the errno of the step that failed.
int write_part(int folder, const std::string& part, std::string_view head, std::string_view bytes) {
  // A file that a kill left, or a planted symbolic link, is removed first.
  if (::unlinkat(folder, part.c_str(), 0) != 0 && errno != ENOENT) return errno;
  const Descriptor file(
      ::openat(folder, part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file.get() < 0) return errno;
  int cause = write_bytes(file.get(), head);
  if (cause == 0) cause = write_bytes(file.get(), bytes);
  if (cause == 0 && ::fchmod(file.get(), 0600) != 0) cause = errno;
  if (cause == 0 && ::fsync(file.get()) != 0) cause = errno;
  return cause;
}

std::string parent_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

Status sync(const std::string& path) {
  const Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // A folder that we may not read cannot be synced.
  if (folder.get() < 0) return errno == EACCES ? Status() : failure("open the folder", path, errno);
  // Some file systems know no sync of a folder; it has happened as far as it can.
  if (::fsync(folder.get()) == 0 || errno == EINVAL || errno == EROFS) return {};
  return failure("write", path, errno);
}

}  // namespace

Status sync_with_parent(const std::string& path) {
  const Status own = sync(path);
  return own.ok() ? sync(parent_of(path)) : own;
}

Status make_folders(const std::string& path) {
  if (path.ends_with('/') && path.size() > 1) return make_folders(path.substr(0, path.size() - 1));
  std::error_code error;
  if (path.empty() || std::filesystem::is_directory(path, error)) return {};
  const Status above = make_folders(parent_of(path));
  if (!above.ok()) return above;
  if (::mkdir(path.c_str(), 0777) == 0) return sync_with_parent(path);
  return errno == EEXIST ? Status() : failure("make the folder", path, errno);
}

Result<PrivateFolder> PrivateFolder::make(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const Status above = parent.empty() ? Status() : make_folders(parent.string());
  if (!above.ok()) return above.error();
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return failure("make", path, errno);
  Descriptor folder(::open(path.c_str(), kFolderFlags));
  if (folder.get() < 0) return failure("open the folder", path, errno);
  if (::fchmod(folder.get(), 0700) != 0) return failure("make private", path, errno);
  // Even if it was there: whoever made it may have been killed before it was synced.
  const Status synced = sync_with_parent(path);
  if (!synced.ok()) return synced.error();
  return PrivateFolder(std::move(folder), path);
}

std::optional<PrivateFolder> PrivateFolder::find(const std::string& path) {
  Descriptor folder(::open(path.c_str(), kFolderFlags));
  if (folder.get() < 0) return std::nullopt;
  return PrivateFolder(std::move(folder), path);
}

Result<PrivateFolder> PrivateFolder::make_inside(const std::string& name) const {
  const bool made = ::mkdirat(folder_.get(), name.c_str(), 0700) == 0;
  if (!made && errno != EEXIST) return failure("make", path_of(name), errno);
  auto inside = find_inside(name);
  if (!inside) return failure("open the folder", path_of(name), errno);
  if (::fchmod(inside->folder_.get(), 0700) != 0) {
    return failure("make private", path_of(name), errno);
  }
  // Even if it was there: whoever made it may have been killed before it was synced.
  for (const int folder : {inside->folder_.get(), folder_.get()}) {
    if (::fsync(folder) != 0) return failure("write", path_of(name), errno);
  }
  return std::move(*inside);
}

std::optional<PrivateFolder> PrivateFolder::find_inside(const std::string& name) const {
  Descriptor folder(::openat(folder_.get(), name.c_str(), kFolderFlags));
  if (folder.get() < 0) return std::nullopt;
  return PrivateFolder(std::move(folder), path_of(name));
}

std::vector<std::string> PrivateFolder::names() const {
  std::vector<std::string> names;
  // The stream closes its descriptor, and has its own position in the list.
  const int copy = ::openat(folder_.get(), ".", kFolderFlags);
  if (copy < 0) return names;
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(copy), ::closedir);
  if (stream == nullptr) {
    ::close(copy);
    return names;
  }
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<OpenFile> PrivateFolder::open_file(const std::string& name) const {
  // Opening a pipe would wait for its other end.
  Descriptor file(::openat(folder_.get(), name.c_str(),
                           O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat found {};
  if (file.get() < 0 || ::fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode)) {
    return std::nullopt;
  }
  return OpenFile{.file = std::move(file), .bytes = found.st_size};
}

Status PrivateFolder::replace(const std::string& name, std::string_view head,
                              std::string_view bytes, std::string_view point) const {
  const std::string part = name + std::string(kPartSuffix);
  int cause = write_part(folder_.get(), part, head, bytes);
  if (cause == 0) {
    crash_point(fmt::format("{}-written", point));
    if (::renameat(folder_.get(), part.c_str(), folder_.get(), name.c_str()) != 0) cause = errno;
  }
  if (cause != 0) {
    ::unlinkat(folder_.get(), part.c_str(), 0);
    return failure("write", path_of(name), cause);
  }
  crash_point(fmt::format("{}-renamed", point));
  if (::fsync(folder_.get()) != 0) return failure("write", path_of(name), errno);
  return {};
}

Status PrivateFolder::remove_file(const std::string& name) const {
  if (::unlinkat(folder_.get(), name.c_str(), 0) == 0 || errno == ENOENT) return {};
  return failure("remove", path_of(name), errno);
}

Status PrivateFolder::remove_inside(const std::string& name) const {
  const auto inside = find_inside(name);
  if (!inside) return {};
  for (const std::string& file : inside->names()) {
    const Status removed = inside->remove_file(file);
    if (!removed.ok()) return removed;
  }
  if (::unlinkat(folder_.get(), name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
  return failure("remove", path_of(name), errno);
}

}  // namespace stint
