#pragma once

#include <span>

#include "base/units.h"
#include "plan/sharing_mode.h"

namespace stint {

/// The time for which one iteration of a job uses each resource that it shares with other jobs on
/// the same VMs. The parts are serial within the job: it computes, then sums gradients, then does
/// the rest.
struct TurnTimes {
  Seconds compute;    // On the accelerator, which computes for one job at a time.
  Seconds sync;       // On the network, without other traffic.
  Seconds rest = {};  // On neither: the trainer's update, latencies.
};

/// An iteration of the job alone, without overlap: c + s + r.
Seconds serial_time(const TurnTimes& job);

/// The time in which each of the jobs does one iteration, when they repeatedly take turns on
/// accelerator and network in the same order.
///
///   P = max(Σ cᵢ, Σ sᵢ, maxᵢ (cᵢ + sᵢ + rᵢ))
///
/// It is a lower bound: accelerator, network and each job are busy that long in every round. Where
/// each of them works for one job at a time, first come first served, it is reached: the period of
/// such an order is the largest mean of a cycle of waiting (Baccelli et al., Synchronization and
/// Linearity, 1992, §2.3), in time over rounds. Cycles of one round are the terms above. Any other
/// passes through no c or s twice and takes two rounds or more, so that without rests its mean is
/// at most (Σ c + Σ s)/2, and with two jobs at most the mean of their own c + s + r. With three
/// jobs and rests P is only a bound, as it is where jobs share the network evenly rather than one
/// after the other. No jobs: zero.
Seconds shared_period(std::span<const TurnTimes> jobs);

/// The way in which the network carries all-reduces of two jobs at the same time.
enum class LinkSharing {
  kFirstCome,  // One after the other.
  kFair,       // At the same time, each slower: what TCP does.
  kWindows,    // At the same time, at rates in proportion to what each has on its way.
};

/// A lower bound of a round of `turns` iterations of `often` to one of `seldom`, if an iteration
/// computes in one piece. With m turns of A to one of B:
///
///   max(m cA + cB,  m sA + sB,  m (cA + sA + rA),  cB + sB + rB,
///       m cA + (m − 1)(sA + rA) + max(sA + rA, cB),
///       m sA + (m − 1)(cA + rA) + max(cA + rA, sB))
///
/// The fifth term: B computes in one of the m gaps between the computing of A, and stretches that
/// gap if it is longer. The last is the same on a network that serves one after the other; a shared
/// network may carry B in several gaps of A, so that the term is left out there. It is only a
/// bound: the event-driven simulator determines how well turns fit together. Requires turns ≥ 1.
Seconds rhythm_bound(const TurnTimes& often, const TurnTimes& seldom, int turns,
                     LinkSharing sharing);

/// The job that computes next on an accelerator that several jobs want.
enum class TurnOrder {
  kRhythm,     // The next by plan; the accelerator waits for it.
  kFirstCome,  // The job that asked first.
  kSlices,     // The next of the waiting jobs, for a slice of time.
};

/// The way in which the accelerator and the network of VMs are shared. An iteration takes the turn
/// before forward and gives it up when its last gradient is ready; the trainer's update needs no
/// turn.
struct TurnTerms {
  TurnOrder order = TurnOrder::kRhythm;
  bool overlap = false;  // Buckets are sent when they are ready, else when all are.
  LinkSharing sharing = LinkSharing::kFair;
  int pieces = 1;                    // Equal parts of an iteration's computing, a turn for each.
  Seconds slice = 2 * kMillisecond;  // For TurnOrder::kSlices.
  Seconds hand_over = {};            // From one job's turn to the next job's.
  // Relative slowdown of computing while gradients of another job are sent. Kernels that sum
  // gradients need the accelerator too; this is still to be measured on real ones.
  double compute_slowdown = 0;
};

/// The terms of a mode. Requires one that shares. In free sharing buckets are sent as soon as they
/// are ready.
TurnTerms terms_of(SharingMode mode);

}  // namespace stint
