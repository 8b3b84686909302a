#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace stint {

/// The bytes of `path`. A missing or unreadable file is bad input.
Result<std::string> read_file(const std::string& path);

/// Replaces `path` by `bytes` at once: a temporary file beside it, fsync, rename, fsync of the
/// folder. Whatever happens, `path` holds either the old bytes or all of the new ones, and on an
/// error nothing is left behind. Missing folders are made.
Status write_file(const std::string& path, std::string_view bytes);

}  // namespace stint
