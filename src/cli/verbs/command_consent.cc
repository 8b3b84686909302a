#include "cli/verbs/command_consent.h"

#include <array>
#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

#include "base/text.h"
#include "load/file_maker.h"

namespace stint::cli {
namespace {

std::string foreign_text(const CommandOrigin& origin, const char* before) {
  return origin.foreign ? before + *origin.foreign : "";
}

/// Asks the person at the terminal; anything but a yes is a no.
bool agrees(const Invocation& invocation, const CommandOrigin& origin) {
  // With --quiet nothing has shown the command yet.
  const std::string question =
      fmt::format("{} holds this command{}:\n  {}\nRun this command? [y/N] ", harmless(origin.file),
                  foreign_text(origin, "; "), command_words(origin.command));
  std::fwrite(question.data(), 1, question.size(), invocation.err);
  std::fflush(invocation.err);
  std::array<char, 16> answer{};
  if (std::fgets(answer.data(), static_cast<int>(answer.size()), stdin) == nullptr) return false;
  const std::string text = to_lower(trim(answer.data()));
  return text == "y" || text == "yes";
}

}  // namespace

std::string command_text(const CommandOrigin& origin) {
  const std::string words = command_words(origin.command);
  if (origin.file.empty()) return fmt::format("Command: {}", words);
  return fmt::format("Command, from {}{}: {}", harmless(origin.file), foreign_text(origin, "; "),
                     words);
}

Status confirm_commands(const Invocation& invocation, std::span<const CommandOrigin> origins) {
  if (invocation.has("--yes")) return {};
  for (const CommandOrigin& origin : origins) {
    if (origin.file.empty()) continue;
    if (::isatty(STDIN_FILENO) == 1 && invocation.err_terminal.interactive) {
      if (agrees(invocation, origin)) continue;
      return bad_usage("nothing was started: the command was not confirmed");
    }
    return bad_usage(fmt::format(
        "{} holds the command {}{}. Add --yes to run it, or give the command after --",
        harmless(origin.file), command_words(origin.command), foreign_text(origin, "; ")));
  }
  return {};
}

CommandOrigin origin_with_project(const Invocation& invocation, CommandOrigin origin) {
  if (!invocation.project.command) return origin;
  origin.file = invocation.project.file;
  origin.foreign = foreign_reason(origin.file, {});
  return origin;
}

std::string withheld_text(int variables) {
  if (variables == 0) return "";
  return fmt::format(
      "Environment: {} of this shell {} not passed to workers; --env NAME adds one.\n",
      counted(static_cast<std::size_t>(variables), "variable"), variables == 1 ? "is" : "are");
}

OptionSpec env_option() {
  return {.name = "--env",
          .value = "NAME",
          .help =
              "Environment variable for the workers, beside the usual ones: NAME, NAME,NAME or "
              "NAME=VALUE; may be repeated.",
          .repeated = true};
}

OptionSpec yes_option() {
  return {.name = "--yes",
          .letter = "-y",
          .help = "Run the command of a plan, profile or project file without confirmation."};
}

}  // namespace stint::cli
