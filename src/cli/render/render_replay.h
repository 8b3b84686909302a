#pragma once

#include <string>

#include "app/risk/replay_deadline.h"
#include "base/json.h"
#include "base/terminal.h"

namespace stint::cli {

/// What was done in each tick, or in a few of them where a tick has no room, in lines as wide as
/// the screen; under each line where spot was not there.
std::string replay_timeline(const DeadlineReplay& replay, const Terminal& terminal);

/// Cost and end, in sentences.
std::string replay_summary(const DeadlineReplay& replay);

/// All of it, with the choice of every tick.
Json replay_json(const DeadlineReplay& replay, const std::string& policy);

}  // namespace stint::cli
