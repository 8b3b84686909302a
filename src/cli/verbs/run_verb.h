#pragma once

#include "cli/verb.h"

namespace stint::cli {

Verb run_verb();

}  // namespace stint::cli
