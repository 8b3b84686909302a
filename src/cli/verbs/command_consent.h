#pragma once

#include <span>
#include <string>

#include "app/run/command_origin.h"
#include "cli/verb.h"

namespace stint::cli {

/// "Command: python3 train.py", with the file that it comes from, for an outline.
std::string command_text(const CommandOrigin& origin);

/// Whether the commands may run. Those given after -- may, as may all with --yes; for others a
/// person at the terminal is asked. Usage error: there is nobody to ask, or the answer is no.
Status confirm_commands(const Invocation& invocation, std::span<const CommandOrigin> origins);

/// The origin of a command that a project file may have given.
CommandOrigin origin_with_project(const Invocation& invocation, CommandOrigin origin);

/// --yes.
OptionSpec yes_option();

/// The line of an outline about variables that workers do not get, with its newline; empty without
/// any.
std::string withheld_text(int variables);

/// --env.
OptionSpec env_option();

}  // namespace stint::cli
