#include "run/run_folder.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "base/text.h"
#include "checkpoint/private_folder.h"

namespace stint {
namespace {

constexpr std::size_t kNameMax = 64;

bool fits(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' ||
         c == '.';
}

namespace fs = std::filesystem;

/// The process that a lock names, if its number is already written.
std::string holder_of(int lock) {
  char buffer[32];
  const ssize_t got = ::pread(lock, buffer, sizeof(buffer), 0);
  const auto pid = parse_int(trim({buffer, static_cast<std::size_t>(std::max<ssize_t>(got, 0))}));
  return pid ? fmt::format("process {}", *pid) : "another process";
}

}  // namespace

Status check_run_name(std::string_view name) {
  const bool good = !name.empty() && name.size() <= kNameMax && name[0] != '-' && name[0] != '.' &&
                    name.find("..") == std::string_view::npos &&
                    std::all_of(name.begin(), name.end(), fits);
  if (good) return {};
  return bad_usage(
      fmt::format("'{}' is not a valid name of a run: use up to {} letters, digits, '-', '_' and "
                  "single '.', starting with a letter, a digit or '_'",
                  printable(name), kNameMax));
}

Result<std::string> make_run_folder(const std::string& root, const std::string& name) {
  const Status named = check_run_name(name);
  if (!named.ok()) return named.error();
  (void)make_folders(root);  // Where that fails, so does what follows.
  std::error_code error;
  // Even the names of runs are private to the user.
  fs::permissions(root, fs::perms::owner_all, error);
  std::string folder = fmt::format("{}/{}", root, name);
  // The umask may reduce the mode of mkdir; chmod restores it.
  if (::mkdir(folder.c_str(), 0700) == 0 && ::chmod(folder.c_str(), 0700) == 0) {
    const Status synced = sync_with_parent(folder);
    if (!synced.ok()) return synced.error();
    return folder;
  }
  if (errno == EEXIST) {
    return bad_usage(fmt::format(
        "the run {} exists: choose another name, or resume it with 'stint run --resume {}'", name,
        name));
  }
  return failed(fmt::format("cannot create {}: {}", folder, std::strerror(errno)));
}

std::vector<std::string> run_names(const std::string& root) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(root, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::error_code ignored;
    if (entry->symlink_status(ignored).type() == fs::file_type::directory &&
        check_run_name(name).ok()) {
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<RunLock> lock_run(const std::string& folder) {
  const std::string path = folder + "/lock";
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file.get() < 0) {
    return failed(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  }
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    const int cause = errno;
    if (cause == EWOULDBLOCK) {
      return failed(fmt::format("{} already conducts the run {}", holder_of(file.get()),
                                fs::path(folder).filename().string()));
    }
    return failed(fmt::format("cannot lock {}: {}", path, std::strerror(cause)));
  }
  const std::string pid = fmt::format("{}\n", ::getpid());
  const bool noted = ::ftruncate(file.get(), 0) == 0 && write_all(file.get(), pid);
  if (!noted) return failed(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  return RunLock(std::move(file));
}

std::optional<pid_t> running_process(const std::string& folder) {
  const std::string path = folder + "/lock";
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (file.get() < 0) return std::nullopt;
  // The lock is shared, so that several processes may check at once.
  if (::flock(file.get(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) return std::nullopt;
  const auto pid = parse_int(trim(read_line(file.get(), kSecond)));
  if (!pid || *pid < 1) return std::nullopt;
  return *pid;
}

}  // namespace stint
