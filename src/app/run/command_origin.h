#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/run/run_setup.h"

namespace stint {

/// The command of a run and where it comes from.
struct CommandOrigin {
  std::vector<std::string> command;
  std::string file = {};                    // That holds it; empty: it was given with the request.
  std::optional<std::string> foreign = {};  // Why the file comes from elsewhere, as a clause.
};

/// Where the command of `run` comes from, which was prepared for `request`.
CommandOrigin command_origin(const Environment& environment, const RunRequest& request,
                             const PreparedRun& run);

/// The command as a shell would take it, harmless to print.
std::string command_words(const std::vector<std::string>& command);

}  // namespace stint
