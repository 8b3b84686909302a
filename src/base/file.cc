#include "base/file.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "base/text.h"

namespace stint {
namespace {

Error write_error(const std::string& path, int cause) {
  const char* advice = "choose another location";
  if (cause == ENOSPC || cause == EDQUOT) advice = "free some space";
  if (cause == EACCES || cause == EPERM)
    advice = "check its permissions or choose another location";
  return failed(fmt::format("cannot write {}: {}; nothing was changed, {} and try again", path,
                            std::strerror(cause), advice));
}

Error not_written(const std::string& path, std::string_view why) {
  return failed(fmt::format("cannot write {}: {}; choose another location", path, why));
}

/// Zero, or the errno of the step that failed.
int write_and_sync(int descriptor, std::string_view bytes) {
  if (!write_all(descriptor, bytes)) return errno;
  return ::fsync(descriptor) == 0 ? 0 : errno;
}

void sync_folder(const std::filesystem::path& folder) {
  // Some file systems refuse to sync a folder; the rename itself has happened by then.
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.get() >= 0) ::fsync(descriptor.get());
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
  if (descriptor.get() < 0) return errno;
  int cause = write_and_sync(descriptor.get(), bytes);
  if (cause == 0 && ::fchmod(descriptor.get(), mode_for(path)) != 0) cause = errno;
  if (cause == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) cause = errno;
  if (cause != 0) ::unlink(temporary.c_str());
  return cause;
}

/// The number of the descriptor that `path` names: 1 for "/dev/stdout", 63 for "/dev/fd/63".
std::optional<int> named_descriptor(std::string_view path) {
  constexpr std::array kStandard{"/dev/stdin", "/dev/stdout", "/dev/stderr"};
  for (std::size_t i = 0; i < kStandard.size(); ++i) {
    if (path == kStandard[i]) return static_cast<int>(i);
  }
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (path.starts_with(folder)) return parse_int(path.substr(folder.size()));
  }
  return std::nullopt;
}

/// Where `path` leads: symbolic links are followed one by one, so that a descriptor's name, which
/// is a link too, is noticed, and so that the target of a link need not exist.
std::string followed(std::string path) {
  constexpr int kLinksMax = 40;  // As in the kernel.
  for (int i = 0; i < kLinksMax && !named_descriptor(path); ++i) {
    std::error_code error;
    const std::filesystem::path target = std::filesystem::read_symlink(path, error);
    if (error) break;
    path = (folder_of(path) / target).string();  // An absolute target replaces the folder.
  }
  return path;
}

/// Opens without waiting for the other end of a FIFO; reads and writes do wait.
Descriptor open_at_once(const std::string& path, int flags) {
  Descriptor file(::open(path.c_str(), flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666));
  if (file.get() < 0) return file;
  const int now = ::fcntl(file.get(), F_GETFL);
  ::fcntl(file.get(), F_SETFL, now & ~O_NONBLOCK);
  return file;
}

/// While it lives, a reader that goes away is an error of the write, not a signal.
class PipeSignalIgnored {
 public:
  PipeSignalIgnored() {
    struct sigaction ignored {};
    ignored.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &ignored, &before_);
  }
  PipeSignalIgnored(const PipeSignalIgnored&) = delete;
  PipeSignalIgnored& operator=(const PipeSignalIgnored&) = delete;
  ~PipeSignalIgnored() { ::sigaction(SIGPIPE, &before_, nullptr); }

 private:
  struct sigaction before_ {};
};

/// Writes to what is there without replacing it.
Status write_into(const std::string& path, Descriptor place, std::string_view bytes) {
  if (place.get() < 0) {
    if (errno == ENXIO) return not_written(path, "nobody reads from it");
    return not_written(path, std::strerror(errno));
  }
  const PipeSignalIgnored ignored;
  if (write_all(place.get(), bytes)) return {};
  return not_written(path, std::strerror(errno));
}

/// The kind of a file that cannot be replaced or written to, or nothing.
const char* refused_kind(mode_t mode) {
  if (S_ISDIR(mode)) return "it is a folder";
  if (S_ISBLK(mode)) return "it is a block device";
  if (S_ISSOCK(mode)) return "it is a socket";
  return nullptr;
}

}  // namespace

Result<Descriptor> open_input(const std::string& path) {
  Descriptor file = open_at_once(path, O_RDONLY);
  struct stat facts {};
  if (file.get() < 0 || ::fstat(file.get(), &facts) != 0) {
    return bad_input(fmt::format("cannot read {}: {}; check the path", path, std::strerror(errno)));
  }
  if (S_ISDIR(facts.st_mode)) {
    return bad_input(fmt::format("cannot read {}: {}", path, std::strerror(EISDIR)));
  }
  if (!S_ISREG(facts.st_mode) && !named_descriptor(path)) {
    return bad_input(
        fmt::format("cannot read {}: it is not a regular file; pipe it in by standard input, or "
                    "copy it to a file",
                    path));
  }
  return file;
}

Result<std::string> read_file(const std::string& path, Bytes limit) {
  const auto file = open_input(path);
  if (!file.ok()) return file.error();
  std::string bytes;
  std::array<char, 65536> chunk{};
  while (true) {
    const ssize_t count = ::read(file->get(), chunk.data(), chunk.size());
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
  const std::string target = followed(path);
  if (const auto number = named_descriptor(target)) {
    return write_into(path, Descriptor(::fcntl(*number, F_DUPFD_CLOEXEC, 3)), bytes);
  }
  struct stat facts {};
  if (::stat(target.c_str(), &facts) == 0) {
    if (const char* why = refused_kind(facts.st_mode)) return not_written(path, why);
    if (!S_ISREG(facts.st_mode)) return write_into(path, open_at_once(target, O_WRONLY), bytes);
  } else if (errno != ENOENT) {
    return write_error(path, errno);
  }
  const std::filesystem::path folder = folder_of(target);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return write_error(path, error.value());
  const int cause = replace_file(target, folder, bytes);
  if (cause != 0) return write_error(path, cause);
  sync_folder(folder);
  return {};
}

Status write_output(const std::string& path, std::string_view bytes) {
  const std::filesystem::path folder = folder_of(followed(path));
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
  const Descriptor file = open_at_once(path, O_WRONLY | O_CREAT | O_APPEND);
  const PipeSignalIgnored ignored;
  int cause = file.get() < 0 ? errno : write_and_sync(file.get(), bytes);
  if (cause == EINVAL) cause = 0;  // A device or a pipe has nothing to sync.
  if (cause == 0) return {};
  return failed(fmt::format("cannot append to {}: {}", path, std::strerror(cause)));
}

}  // namespace stint
