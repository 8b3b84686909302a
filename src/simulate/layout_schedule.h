#pragma once

#include "base/units.h"
#include "plan/parallel_layout.h"
#include "predict/collective.h"

namespace stint {

/// A training step that is split over machines of one worker each, as the scripts of python/stint
/// run it: layers as units, ZeRO stages with one gather ahead, 1F1B, and tensor collectives in the
/// way of compute. Times and activations are of one micro-batch on one worker.
struct LayoutScript {
  ParallelLayout layout;  // Without virtual stages, context and expert parallelism.
  int micro_batches = 1;  // Of one worker and step.
  int layers = 1;         // Of one stage.
  Seconds forward;        // Of one layer.
  Seconds backward;       // The same, without what is computed again.
  Bytes layer;            // Parameters of one layer on one worker, before ZeRO divides them.
  Bytes embedding;        // Parameters of the first stage besides; it computes nothing.
  Bytes head;             // The same of the last stage.
  Bytes activations;      // Of all tokens of a micro-batch between two layers.
  Seconds update;         // Of the optimizer.
};

/// The time from one step to the next in the long run, played operation by operation. Each worker
/// computes in order; its NIC carries one operation after the other; a wait ends with the
/// operation. An all-reduce is ring_allreduce_time over `link`, an all-gather half of it, a
/// transfer its bytes and a message. A reduce-scatter takes as long as an all-reduce, because Gloo
/// has no other. Workers of one stage do the same at the same time, so that one stands for all.
/// Requires a layout without virtual stages.
Seconds play_layout(const LayoutScript& script, const Link& link);

}  // namespace stint
