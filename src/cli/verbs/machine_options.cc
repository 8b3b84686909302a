#include "cli/verbs/machine_options.h"

#include <fmt/format.h>

namespace stint::cli {

std::vector<OptionSpec> machine_options(const MachineWords& words) {
  return {
      {.name = "--gpu",
       .value = "NAMES",
       .help = fmt::format("Accelerators to {}, in any spelling and with wildcards: A100,H100 "
                           "or 'RTX*' ({}).",
                           words.verb, words.gpus),
       .list = true},
      {.name = "--types",
       .value = "NAMES",
       .help = fmt::format(
           "VM types to {}, with wildcards: 'p4*,g5.*' or 'aws/g6*' (default: all).", words.verb),
       .list = true},
      {.name = "--exclude",
       .value = "NAMES",
       .help = "VM types or accelerators to leave out, with wildcards.",
       .list = true},
      {.name = "--arch",
       .value = "NAMES",
       .help = fmt::format("Processor architectures to {}: {}.", words.verb, words.processors),
       .list = true}};
}

MachineFilter machines_of(const Invocation& invocation) {
  return {.gpus = invocation.list("--gpu"),
          .types = invocation.list("--types"),
          .excluded = invocation.list("--exclude"),
          .processors = invocation.list("--arch")};
}

}  // namespace stint::cli
