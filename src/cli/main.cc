#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <unistd.h>
#include <vector>

#include "cli/run.h"

namespace {

/// A failed CHECK, and whatever else aborts, has said what is wrong. It ends with the exit code of
/// a failure rather than with a signal and a core dump; debuggers stop at SIGABRT before.
extern "C" void fail_on_abort(int /*signal*/) { _exit(stint::cli::kExitFailed); }

/// An exception that nobody could catch, such as one of a thread.
[[noreturn]] void end_in_a_sentence() {
  std::fprintf(stderr, "stint: %s\n", stint::cli::failure_text(std::current_exception()).c_str());
  _exit(stint::cli::kExitFailed);
}

}  // namespace

int main(int argc, char** argv) {
  (void)std::signal(SIGABRT, fail_on_abort);
  (void)std::set_terminate(end_in_a_sentence);
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  const auto variables = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  return stint::cli::run(words, variables, stdout, stderr);
}
