#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/process.h"
#include "base/result.h"

namespace stint {

/// Unpacks the Python package into `folder`.
Status unpack_python(const std::string& folder);

/// The value of PYTHONPATH with which scripts find the package that was unpacked into `folder`, and
/// are measured without knowing; what the user has there comes behind.
std::string python_path(const std::string& folder, const std::string& users);

/// Whether `program` is called like a Python interpreter.
bool is_python(const std::string& program);

/// Whether the script of a command, found from `folder`, seems to use stint.Job, by its text. A
/// guess: only the script itself knows, when it runs.
bool seems_to_use_job(const std::vector<std::string>& command, const std::string& folder);

/// Looks whether an interpreter finds torch. Unavailable: it cannot be started, or it does not; the
/// message names one that does, if there is one among the usual.
Status check_torch(const std::string& interpreter);

}  // namespace stint
