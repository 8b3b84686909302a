#pragma once

#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "cli/verb.h"
#include "load/environment.h"

namespace stint::cli {

/// Runs one command line (without the program's name) and returns its exit code. Answers go to
/// `out`, notes and errors to `err`; an answer that cannot be written completely is an error.
ExitCode run(const std::vector<std::string>& words, const Variables& variables, std::FILE* out,
             std::FILE* err);

/// What `exception` means, as a sentence: too little memory, or a bug.
std::string failure_text(const std::exception_ptr& exception);

/// `act`, with an exception that it lets through reported as a failure. Stint throws none itself;
/// this is for allocations that fail and for libraries.
ExitCode guarded(const Invocation& streams, const std::function<ExitCode()>& act);

}  // namespace stint::cli
