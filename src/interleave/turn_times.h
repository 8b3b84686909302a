#pragma once

#include <span>

#include "base/units.h"
#include "plan/sharing_mode.h"

namespace stint {

/// What one iteration of a job takes of what it shares with other jobs on the same VMs. All of it
/// is serial within the job: it computes, then sums gradients, then does the rest.
struct TurnTimes {
  Seconds compute;    // Of the accelerator, which computes for one job at a time.
  Seconds sync;       // Of the network, alone on it.
  Seconds rest = {};  // Of neither: the trainer's update, latencies.
};

/// An iteration of the job alone, where nothing hides its communication: c + s + r.
Seconds serial_time(const TurnTimes& job);

/// The time in which each of the jobs has done one iteration, when they take turns on accelerator
/// and network in the same order again and again.
///
///   P = max(Σ cᵢ, Σ sᵢ, maxᵢ (cᵢ + sᵢ + rᵢ))
///
/// Nothing is shorter: accelerator, network and each job are busy that long in every round. Where
/// each of them works for one job at a time, first come first served, it is reached: the period of
/// such an order is the largest mean of a cycle of waiting (Baccelli et al., Synchronization and
/// Linearity, 1992, §2.3), in time over rounds. Cycles of one round are the terms above. Any other
/// passes through no c or s twice and takes two rounds or more, so that without rests its mean is
/// at most (Σ c + Σ s)/2, and with two jobs at most the mean of their own c + s + r. With three
/// jobs and rests P is only a bound, as it is where jobs share the network evenly rather than one
/// after the other. No jobs: zero.
Seconds shared_period(std::span<const TurnTimes> jobs);

/// What is queued in a long queue of a NIC is sent before what comes later, and a stream that has
/// begun has a larger window. Of 1, 1.5, 2, 3 and 5 this fits rounds of unequal jobs on the
/// emulated cloud best (docs/measured/turns.md).
inline constexpr double kSeniority = 3;

/// How the network carries reductions of two jobs that meet on it.
enum class LinkSharing {
  kFirstCome,  // One after the other.
  kFair,       // At the same time, each slower: what TCP does.
  kSenior,     // At the same time, and who was there first has kSeniority times the rate.
};

/// No round of `turns` iterations of `often` to one of `seldom` is shorter, if an iteration
/// computes in one piece. With m turns of A to one of B:
///
///   max(m cA + cB,  m sA + sB,  m (cA + sA + rA),  cB + sB + rB,
///       m cA + (m − 1)(sA + rA) + max(sA + rA, cB),
///       m sA + (m − 1)(cA + rA) + max(cA + rA, sB))
///
/// The fifth term: B computes in one of the m gaps between the computing of A, and stretches that
/// gap if it is longer. The last is the same on a network that serves one after the other; one that
/// is shared may carry B in several gaps of A, so there it is left out. It is a bound and not more:
/// how well turns fit together is for the event-driven twin to say. Requires turns ≥ 1.
Seconds rhythm_bound(const TurnTimes& often, const TurnTimes& seldom, int turns,
                     LinkSharing sharing);

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
