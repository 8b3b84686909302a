#pragma once

#include "cli/verb.h"

namespace stint::cli {

/// `stint receive`.
Verb receive_verb();

}  // namespace stint::cli
