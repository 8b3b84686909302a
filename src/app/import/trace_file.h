#pragma once

#include <string>

#include "base/result.h"
#include "measure/trace/trace_profile.h"

namespace stint {

/// Reads the trace in a file, plain or gzip, in chunks, so that its size does not matter. Bad
/// input: a file that cannot be read, is no trace or breaks off. Unavailable: no simdjson.
Result<RankTrace> read_trace_file(const std::string& path);

}  // namespace stint
