#pragma once

#include "cli/verb.h"

namespace stint::cli {

/// "stint probe network".
Verb probe_network_verb();

}  // namespace stint::cli
