#include "cli/run.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <new>
#include <stdexcept>

#include "base/text.h"
#include "cli/help.h"
#include "cli/parse.h"
#include "cli/verbs.h"

namespace stint::cli {
namespace {

/// Translates `stint --version` and `stint help VERB` into verbs.
std::vector<std::string> without_shorthands(std::vector<std::string> words) {
  if (words.empty()) return words;
  if (words[0] == "--version") words[0] = "version";
  if (words[0] == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  return words;
}

ExitCode dispatch(const std::vector<std::string>& words, const Variables& variables,
                  Invocation& streams) {
  auto parsed = parse(verbs(), words, [] { return read_project(kProjectFile); });
  if (!parsed.ok()) return report(streams, "", parsed.error());
  if (parsed->verb == nullptr) {
    const bool asked = parsed->help_asked;
    const std::string help = help_text(verbs(), parsed->topic);
    asked ? print_answer(streams, help) : say(streams, trim(help));
    return asked ? kExitOk : kExitUsage;
  }
  Invocation& invocation = parsed->invocation;
  auto environment = environment_from(variables);
  if (!environment.ok()) return report(streams, "", environment.error());
  invocation.environment = std::move(*environment);
  invocation.out = streams.out;
  invocation.err = streams.err;
  invocation.out_terminal = streams.out_terminal;
  invocation.err_terminal = streams.err_terminal;
  if (!invocation.project.keys.empty()) say(invocation, project_note(invocation));
  return parsed->verb->run(invocation);
}

}  // namespace

std::string failure_text(const std::exception_ptr& exception) {
  constexpr const char* kMemory =
      "out of memory: the request needs more than this computer has; use smaller inputs";
  if (exception == nullptr) return "a bug in stint: it ended for an unknown reason";
  try {
    std::rethrow_exception(exception);
  } catch (const std::bad_alloc&) {
    return kMemory;
  } catch (const std::length_error&) {
    return kMemory;
  } catch (const std::exception& other) {
    return fmt::format("a bug in stint: {}", printable(other.what()));
  } catch (...) {
    return "a bug in stint: an unknown exception";
  }
}

ExitCode guarded(const Invocation& streams, const std::function<ExitCode()>& act) {
  try {
    return act();
  } catch (...) {
    return report(streams, "", failed(failure_text(std::current_exception())));
  }
}

ExitCode run(const std::vector<std::string>& words, const Variables& variables, std::FILE* out,
             std::FILE* err) {
  Invocation streams{
      .out = out, .err = err, .out_terminal = terminal_of(out), .err_terminal = terminal_of(err)};
  streams.out_terminal.ascii = streams.err_terminal.ascii = !shows_utf8(variables);
  const ExitCode code =
      guarded(streams, [&] { return dispatch(without_shorthands(words), variables, streams); });
  const bool written = std::fflush(out) == 0 && std::ferror(out) == 0;
  if (written) return code;
  return report(streams, "",
                failed(fmt::format("cannot write the output: {}", std::strerror(errno))));
}

}  // namespace stint::cli
