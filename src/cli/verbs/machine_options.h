#pragma once

#include <vector>

#include "catalog/machine_filter.h"
#include "cli/verb.h"

namespace stint::cli {

/// How a verb speaks of the machines it takes.
struct MachineWords {
  const char* verb = "consider";
  const char* gpus = "default: all that run CUDA";
  const char* processors = "amd64, arm64 or both (default: amd64)";
};

/// The flags that say which machines are considered: --gpu, --types, --exclude and --arch.
std::vector<OptionSpec> machine_options(const MachineWords& words = {});

/// What these flags say.
MachineFilter machines_of(const Invocation& invocation);

}  // namespace stint::cli
