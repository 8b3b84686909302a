#pragma once

#include <vector>

#include "predict/sharded/sharded_step.h"

namespace stint {

/// One iteration of a model that is split over workers, as it was played.
struct ShardedPlay {
  Seconds pipeline;   // From the first forward pass to the last backward pass of any stage.
  Seconds gradients;  // Exposed reduction behind it.
  Seconds update;
  Seconds fixed;              // Cost of an iteration on the host.
  std::vector<Seconds> busy;  // Of each stage: passes and transfers.

  Seconds total() const { return pipeline + gradients + update + fixed; }

  /// Share of the pipeline's time that a stage waits, on average over the stages.
  double idle() const;
};

/// Plays the schedule of sharded_step pass by pass: 1F1B (Narayanan et al. 2021) or, with virtual
/// stages, its interleaved form as Megatron-LM orders it. Stage s of p begins with p − s − 1
/// forward passes, with v virtual stages with 2 (p − s − 1) + (v − 1) p of the parts, and then
/// takes a backward pass after each forward one. A pass starts when its stage is free and what it
/// needs has arrived; a stage sends its result before it goes on. The last stage also has the head.
/// All stages reduce their gradients behind their last backward pass, at the same time.
///
/// Where stages are equal, transfers are short and the micro-batches come in rounds of the stages,
/// it agrees with the closed form, whose bubble is that of this schedule; unequal stages, which the
/// closed form takes to be as slow as the last, it plays as they are.
ShardedPlay simulate_sharded(const ShardedSetup& setup, const ShardedLaw& law);

}  // namespace stint
