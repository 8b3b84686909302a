#pragma once

#include <span>

#include "plan/prediction.h"
#include "predict/memory.h"

namespace stint {

/// Whether workers of several jobs fit into the `memory` of one accelerator. Each keeps all of its
/// own there all the time, also while it is not its turn: states, activations and overhead. A
/// process has its own context on the accelerator, so that nothing is shared, and what is kept free
/// for fragmentation is kept once, as for one worker.
MemoryVerdict shared_memory_verdict(std::span<const MemoryNeed> needs, Bytes memory);

}  // namespace stint
