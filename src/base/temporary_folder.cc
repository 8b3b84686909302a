#include "base/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <system_error>

namespace stint {

Result<TemporaryFolder> TemporaryFolder::make() {
  std::error_code error;
  std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error) parent = "/tmp";
  std::string path = (parent / "stint-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) {
    return failed(fmt::format("cannot create a folder in {}: {}; set TMPDIR to another folder",
                              parent.string(), std::strerror(errno)));
  }
  return TemporaryFolder(std::move(path));
}

TemporaryFolder::~TemporaryFolder() {
  if (path_.empty()) return;
  std::error_code error;
  // Files that cannot be removed are left to the system.
  std::filesystem::remove_all(path_, error);
}

}  // namespace stint
