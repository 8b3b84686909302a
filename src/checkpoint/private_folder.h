#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"

namespace stint {

/// Makes the folder and those above it where they do not exist, with the user's umask. Those that
/// were made are on the disk, with their parents.
Status make_folders(const std::string& path);

/// Returns when the entries of the folder, and its own in its parent, are on the disk: only then
/// does a file in a new folder survive a crash of the computer.
Status sync_with_parent(const std::string& path);

/// A file that is open for reading.
struct OpenFile {
  Descriptor file;
  std::int64_t bytes = 0;
};

/// A folder that only its user may read. Its contents are opened relative to the open folder, and
/// symbolic links in it are not followed, so that no name leads outside. Names are ours and contain
/// no slash.
class PrivateFolder {
 public:
  /// Makes the folder, and those above it, where it does not exist; its mode is 0700 afterwards,
  /// whatever the umask is. Whatever was made is on the disk, with its parent.
  static Result<PrivateFolder> make(const std::string& path);

  /// Nothing when it does not exist.
  static std::optional<PrivateFolder> find(const std::string& path);

  Result<PrivateFolder> make_inside(const std::string& name) const;
  std::optional<PrivateFolder> find_inside(const std::string& name) const;

  /// The names in it, sorted.
  std::vector<std::string> names() const;

  /// Nothing when there is no such regular file.
  std::optional<OpenFile> open_file(const std::string& name) const;

  /// Replaces the file by `head` and `bytes` atomically, with mode 0600: after a crash it holds the
  /// old bytes or all of the new ones. Passes the crash points `point`-written and `point`-renamed.
  /// A kill may leave `name`.part behind.
  Status replace(const std::string& name, std::string_view head, std::string_view bytes,
                 std::string_view point) const;

  /// A missing file is no error.
  Status remove_file(const std::string& name) const;

  /// Removes a folder and the files in it.
  Status remove_inside(const std::string& name) const;

  const std::string& path() const { return path_; }

 private:
  PrivateFolder(Descriptor folder, std::string path)
      : folder_(std::move(folder)), path_(std::move(path)) {}

  std::string path_of(const std::string& name) const { return path_ + "/" + name; }

  Descriptor folder_;
  std::string path_;
};

/// The suffix of files that are being written.
inline constexpr std::string_view kPartSuffix = ".part";

}  // namespace stint
