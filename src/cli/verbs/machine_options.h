#pragma once

#include <vector>

#include "catalog/machine_filter.h"
#include "cli/verb.h"

namespace stint::cli {

/// The flags that say which machines are considered: --gpu, --types, --exclude and --arch.
std::vector<OptionSpec> machine_options();

/// What these flags say.
MachineFilter machines_of(const Invocation& invocation);

}  // namespace stint::cli
