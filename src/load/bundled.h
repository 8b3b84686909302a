#pragma once

#include <span>
#include <string_view>

namespace stint {

/// A file of data/, or of the Python package, that travels inside the binary.
struct BundledFile {
  const char* path;  // Under data/; that of a Python file begins with "python/".
  std::string_view bytes;
};

std::span<const BundledFile> bundled_catalogs();
std::span<const BundledFile> bundled_jobs();
std::span<const BundledFile> bundled_calibrations();
std::span<const BundledFile> bundled_models();
std::span<const BundledFile> bundled_python();

/// The file's name without folder and ending: what a person calls it by.
std::string_view name_of(const BundledFile& file);

}  // namespace stint
