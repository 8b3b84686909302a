#pragma once

#include "cli/verb.h"

namespace stint::cli {

/// stint search
Verb search_verb();

}  // namespace stint::cli
