#pragma once

#include <span>

#include "base/codec_fields.h"
#include "base/units.h"
#include "interleave/turn_times.h"

namespace stint {

/// How jobs on the same VMs get along. Enumerators stand in files.
enum class SharingMode {
  kSeparately,  // Not at all: each has VMs of its own, or they go one after the other.
  kFreely,      // Nobody is in charge: accelerators go round in slices of time.
  kWhole,       // By turns; gradients leave when all of them are ready.
  kBucket,      // By turns; buckets leave when they are ready, as DDP does.
};

std::span<const EnumName<SharingMode>> names_of(SharingMode type);

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
