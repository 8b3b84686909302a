#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "cli/verb.h"
#include "load/environment.h"

namespace stint::cli {

/// Runs one command line (without the program's name) and returns its exit code. Answers go to
/// `out`, notes and errors to `err`; an answer that cannot be written completely is an error.
ExitCode run(const std::vector<std::string>& words, const Variables& variables, std::FILE* out,
             std::FILE* err);

}  // namespace stint::cli
