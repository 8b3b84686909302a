#include "cli/verbs/machine_options.h"

namespace stint::cli {

std::vector<OptionSpec> machine_options() {
  return {{.name = "--gpu",
           .value = "NAMES",
           .help = "Accelerators to consider, in any spelling and with wildcards: A100,H100 or "
                   "'RTX*' (default: all that run CUDA).",
           .list = true},
          {.name = "--types",
           .value = "NAMES",
           .help = "VM types to consider, with wildcards: 'p4*,g5.*' or 'aws/g6*' (default: all).",
           .list = true},
          {.name = "--exclude",
           .value = "NAMES",
           .help = "VM types or accelerators to leave out, with wildcards.",
           .list = true},
          {.name = "--arch",
           .value = "NAMES",
           .help = "Processor architectures to consider: amd64, arm64 or both (default: amd64).",
           .list = true}};
}

MachineFilter machines_of(const Invocation& invocation) {
  return {.gpus = invocation.list("--gpu"),
          .types = invocation.list("--types"),
          .excluded = invocation.list("--exclude"),
          .processors = invocation.list("--arch")};
}

}  // namespace stint::cli
