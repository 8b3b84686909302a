#pragma once

#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "base/result.h"
#include "base/units.h"

namespace stint {

/// More than any document or table that Stint reads as a whole; a larger file must be a mistake.
/// Together with the limits of base/json.h and base/csv.h it keeps every reader under 1 GB.
inline constexpr Bytes kLargestFile = 64 * kMiB;

/// Opens `path` for reading: a regular file, or an open descriptor by its name (/dev/stdin,
/// /dev/fd/63, as the shell's process substitution passes it). Anything else is bad input: nobody
/// may ever write to a FIFO, and a device has no end.
Result<Descriptor> open_input(const std::string& path);

/// The bytes of `path`, opened as above. A missing, unreadable or too large file is bad input.
Result<std::string> read_file(const std::string& path, Bytes limit = kLargestFile);

/// Replaces `path` by `bytes` at once: a temporary file beside it, fsync, rename, fsync of the
/// folder. Whatever happens, `path` holds either the old bytes or all of the new ones, and on an
/// error no temporary file is left behind; a kill in the middle may leave a hidden ".stint-…" file
/// that nobody reads. Missing folders are made.
///
/// Only regular files are replaced. A symbolic link stays, and its target is replaced. An open
/// descriptor by its name (/dev/stdout), a character device and a FIFO that somebody reads are
/// written to; a folder, a block device, a socket and a FIFO without a reader are refused.
Status write_file(const std::string& path, std::string_view bytes);

/// The same for a file that a person named, as with --save or --out. Its folder must be there: a
/// misspelt path must not make folders.
Status write_output(const std::string& path, std::string_view bytes);

/// Adds `bytes` to the end of `path`, which is made if it is not there, and returns when they are
/// on the disk.
Status append_file(const std::string& path, std::string_view bytes);

}  // namespace stint
