#include "cli/verb.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"

namespace stint::cli {

ExitCode exit_code(const Error& error) {
  switch (error.kind) {
    case ErrorKind::kFailed:
      return kExitFailed;
    case ErrorKind::kUsage:
      return kExitUsage;
    case ErrorKind::kInfeasible:
      return kExitInfeasible;
    case ErrorKind::kBadInput:
      return kExitBadInput;
    case ErrorKind::kUnavailable:
      return kExitUnavailable;
    case ErrorKind::kBreached:
      return kExitBreached;
    case ErrorKind::kInterrupted:
      return kExitInterrupted;
  }
  return kExitFailed;
}

std::string Invocation::get(const std::string& option) const {
  const auto found = options.find(option);
  return found == options.end() || found->second.empty() ? "" : found->second.back();
}

std::vector<std::string> Invocation::list(const std::string& option) const {
  const auto found = options.find(option);
  return found == options.end() ? std::vector<std::string>() : found->second;
}

std::string Invocation::output() const {
  const std::string chosen = get("--output");
  return chosen.empty() ? "table" : chosen;
}

std::vector<OptionSpec> options_of(const Verb& verb) {
  std::vector<OptionSpec> options = verb.options;
  if (!verb.outputs.empty()) {
    options.push_back({.name = "--output",
                       .letter = "-o",
                       .value = join(verb.outputs, "|"),
                       .help = "Output format.",
                       .choices = verb.outputs});
  }
  if (verb.project) {
    options.push_back(
        {.name = "--no-project", .help = "Ignore the project file stint.yaml of this folder."});
  }
  options.push_back({.name = "--quiet", .letter = "-q", .help = "Print only the answer."});
  options.push_back({.name = "--verbose", .letter = "-v", .help = "Print all warnings."});
  options.push_back({.name = "--help", .letter = "-h", .help = "Print this help."});
  return options;
}

Result<std::optional<int>> count_of(const Invocation& invocation, const std::string& option,
                                    int max) {
  if (!invocation.has(option)) return std::optional<int>();
  const auto value = parse_int(invocation.get(option));
  if (value && *value >= 1 && *value <= max) return value;
  return bad_usage(fmt::format("{} must be a whole number from 1 to {}, not '{}'", option, max,
                               printable(invocation.get(option))));
}

namespace {

/// The one place where text leaves the program.
void print(std::FILE* stream, const Terminal& terminal, std::string_view text) {
  const std::string plain = terminal.ascii ? ascii_text(text) : std::string();
  if (terminal.ascii) text = plain;
  std::fwrite(text.data(), 1, text.size(), stream);
}

/// The first flag that a message names, or its first word as one: "tokens must be …".
std::string flag_in(std::string_view message) {
  const auto of_name = [](char c) { return (c >= 'a' && c <= 'z') || c == '-' || is_digit(c); };
  const std::size_t start = message.find("--");
  const bool named = start != std::string_view::npos;
  std::size_t end = named ? start : 0;
  while (end < message.size() && of_name(message[end])) ++end;
  return named ? std::string(message.substr(start, end - start))
               : fmt::format("--{}", message.substr(0, end));
}

Error placed(const FromProject& project, const Error& error) {
  if (error.kind != ErrorKind::kUsage) return error;
  const auto found = project.places.find(flag_in(error.message));
  if (found == project.places.end()) return error;
  return bad_input(fmt::format("{}: {}", to_text(project.file, found->second), error.message));
}

}  // namespace

ExitCode report(const Invocation& invocation, std::string_view verb, const Error& error) {
  const Error shown = placed(invocation.project, error);
  const std::string name = verb.empty() ? "stint:" : fmt::format("stint {}:", verb);
  const Terminal& terminal = invocation.err_terminal;
  print(invocation.err, terminal,
        fmt::format("{} {}\n", painted(name, Colour::kRed, terminal), shown.message));
  return exit_code(shown);
}

void print_warnings(const Invocation& invocation, const std::vector<std::string>& warnings) {
  constexpr std::size_t kFew = 3;
  const std::size_t shown =
      invocation.verbose() ? warnings.size() : std::min(kFew, warnings.size());
  const std::string mark = painted("warning:", Colour::kYellow, invocation.err_terminal);
  for (std::size_t i = 0; i < shown; ++i) {
    say(invocation, fmt::format("{} {}", mark, warnings[i]));
  }
  if (shown < warnings.size()) {
    say(invocation,
        fmt::format("{} {} more warnings; --verbose prints all", mark, warnings.size() - shown));
  }
}

void print_answer(const Invocation& invocation, std::string_view text) {
  // JSON is UTF-8 by its standard, whatever the locale.
  Terminal terminal = invocation.out_terminal;
  terminal.ascii = terminal.ascii && invocation.output() != "json";
  print(invocation.out, terminal, text);
}

void say(const Invocation& invocation, std::string_view text) {
  if (invocation.quiet()) return;
  std::fflush(invocation.out);  // Talk about an answer follows it, also where both go to one place.
  print(invocation.err, invocation.err_terminal, fmt::format("{}\n", text));
}

}  // namespace stint::cli
