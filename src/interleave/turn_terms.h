#pragma once

#include "base/units.h"
#include "interleave/turn_times.h"
#include "plan/sharing_mode.h"

namespace stint {

/// Who computes next on an accelerator that several jobs want.
enum class TurnOrder {
  kRhythm,     // The next by plan; the accelerator waits for it.
  kFirstCome,  // Who asked first.
  kSlices,     // The next of those who want it, for a slice of time.
};

/// How the accelerator and the network of VMs are shared. An iteration takes the turn before
/// forward and hands it over when its last gradient is ready; the trainer's update needs no turn.
struct TurnTerms {
  TurnOrder order = TurnOrder::kRhythm;
  bool overlap = false;  // Whether buckets leave when they are ready, else when all of them are.
  LinkSharing sharing = LinkSharing::kFair;
  int pieces = 1;                    // Equal parts of an iteration's computing, a turn for each.
  Seconds slice = 2 * kMillisecond;  // Of TurnOrder::kSlices.
  Seconds hand_over = {};            // From one job's turn to the next job's.
  // Computing takes 1 + this as long while gradients of another job are on their way. Kernels that
  // sum gradients need the accelerator too; to be measured on real ones.
  double compute_slowdown = 0;
};

/// The terms of a mode. Requires one that shares. Freely: nothing holds back buckets that are
/// ready.
TurnTerms terms_of(SharingMode mode);

}  // namespace stint
