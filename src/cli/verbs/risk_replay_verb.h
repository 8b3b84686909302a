#pragma once

#include "cli/verb.h"

namespace stint::cli {

/// risk replay.
Verb risk_replay_verb();

}  // namespace stint::cli
