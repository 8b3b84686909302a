#pragma once

#include <span>
#include <string_view>

namespace stint {

/// A file of data/ that travels inside the binary.
struct BundledFile {
  const char* path;  // Under data/.
  std::string_view bytes;
};

std::span<const BundledFile> bundled_catalogs();

}  // namespace stint
