#include "interleave/joint_memory.h"

namespace stint {

MemoryVerdict shared_memory_verdict(std::span<const MemoryNeed> needs, Bytes memory) {
  MemoryNeed all;
  for (const MemoryNeed& need : needs) {
    all.parameters += need.parameters;
    all.gradients += need.gradients;
    all.optimizer += need.optimizer;
    all.activations += need.activations;
    all.overhead += need.overhead;
  }
  return memory_verdict(all, memory);
}

}  // namespace stint
