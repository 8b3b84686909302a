#include "base/file.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace stint {
namespace {

/// Closes a file descriptor when it goes out of scope.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  bool valid() const { return number_ >= 0; }
  int number() const { return number_; }

 private:
  int number_;
};

Error write_error(const std::string& path, int cause) {
  const char* advice = "choose another location";
  if (cause == ENOSPC || cause == EDQUOT) advice = "free some space";
  if (cause == EACCES || cause == EPERM)
    advice = "check its permissions or choose another location";
  return failed(fmt::format("cannot write {}: {}; nothing was changed, {} and try again", path,
                            std::strerror(cause), advice));
}

/// Zero, or the errno of the write that failed.
int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::fsync(descriptor) == 0 ? 0 : errno;
}

void sync_folder(const std::filesystem::path& folder) {
  // Some file systems refuse to sync a folder; the rename itself has happened by then.
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.valid()) ::fsync(descriptor.number());
}

/// A new file gets what the user's umask allows; a file that is replaced keeps its permissions.
mode_t mode_for(const std::string& path) {
  struct stat old {};
  if (::stat(path.c_str(), &old) == 0) return old.st_mode & 0777U;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666U & ~mask;
}

std::filesystem::path folder_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder;
}

/// Zero, or the errno of the step that failed. Leaves no temporary file behind.
int replace_file(const std::string& path, const std::filesystem::path& folder,
                 std::string_view bytes) {
  std::string temporary = (folder / ".stint-XXXXXX").string();
  const Descriptor descriptor(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!descriptor.valid()) return errno;
  int cause = write_all(descriptor.number(), bytes);
  if (cause == 0 && ::fchmod(descriptor.number(), mode_for(path)) != 0) cause = errno;
  if (cause == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) cause = errno;
  if (cause != 0) ::unlink(temporary.c_str());
  return cause;
}

}  // namespace

Result<std::string> read_file(const std::string& path, Bytes limit) {
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!descriptor.valid()) {
    return bad_input(fmt::format("cannot read {}: {}; check the path", path, std::strerror(errno)));
  }
  std::string bytes;
  std::array<char, 65536> chunk{};
  while (true) {
    const ssize_t count = ::read(descriptor.number(), chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      return bad_input(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
    }
    if (count == 0) return bytes;
    bytes.append(chunk.data(), static_cast<std::size_t>(count));
    if (static_cast<double>(bytes.size()) > limit.in(kByte)) {
      return bad_input(fmt::format("{} is larger than {:g} MiB; check that it is the right file",
                                   path, limit.in(kMiB)));
    }
  }
}

Status write_file(const std::string& path, std::string_view bytes) {
  const std::filesystem::path folder = folder_of(path);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return write_error(path, error.value());
  const int cause = replace_file(path, folder, bytes);
  if (cause != 0) return write_error(path, cause);
  sync_folder(folder);
  return {};
}

Status write_output(const std::string& path, std::string_view bytes) {
  const std::filesystem::path folder = folder_of(path);
  std::error_code error;
  if (std::filesystem::status(folder, error).type() == std::filesystem::file_type::not_found) {
    return failed(
        fmt::format("cannot write {}: there is no folder {}; create it or choose another "
                    "location",
                    path, folder.string()));
  }
  return write_file(path, bytes);
}

Status append_file(const std::string& path, std::string_view bytes) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  const int cause = file.valid() ? write_all(file.number(), bytes) : errno;
  if (cause == 0) return {};
  return failed(fmt::format("cannot append to {}: {}", path, std::strerror(cause)));
}

}  // namespace stint
