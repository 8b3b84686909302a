#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace stint {

/// A folder that only this user may read, and that is removed with this object.
class TemporaryFolder {
 public:
  /// Makes one in TMPDIR, or in /tmp.
  static Result<TemporaryFolder> make();

  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;  // Empty: moved from.
};

}  // namespace stint
