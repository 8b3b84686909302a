#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace stint {

/// More than any document of ours; a larger file must be a mistake.
inline constexpr Bytes kLargestFile = 256 * kMiB;

/// The bytes of `path`. A missing, unreadable or too large file is bad input.
Result<std::string> read_file(const std::string& path, Bytes limit = kLargestFile);

/// Replaces `path` by `bytes` at once: a temporary file beside it, fsync, rename, fsync of the
/// folder. Whatever happens, `path` holds either the old bytes or all of the new ones, and on an
/// error no temporary file is left behind; a kill in the middle may leave a hidden ".stint-…" file
/// that nobody reads. Missing folders are made.
Status write_file(const std::string& path, std::string_view bytes);

/// The same for a file that a person named, as with --save or --out. Its folder must be there: a
/// misspelt path must not make folders.
Status write_output(const std::string& path, std::string_view bytes);

/// Adds `bytes` to the end of `path`, which is made if it is not there, and returns when they are
/// on the disk.
Status append_file(const std::string& path, std::string_view bytes);

}  // namespace stint
