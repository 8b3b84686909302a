#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "interleave/turn_times.h"
#include "predict/step.h"

namespace stint {

/// A job among others on the same VMs.
struct SharedStepJob {
  StepSetup setup;
  int turns = 1;       // Turns in a round of a rhythm.
  int iterations = 1;  // Number of iterations to do.
  Seconds start = {};  // Start of its first iteration.
};

/// The time at which finished jobs stop using the VMs.
enum class RunLength {
  kUntilDone,  // When their own iterations are done.
  kTogether,   // When all jobs have done theirs; finished jobs continue until then.
};

/// An activity, on one accelerator of a group or between all of them.
struct TurnEvent {
  enum class Kind {
    kTurn,    // The job computed on the group's accelerators.
    kBucket,  // Its bucket `number` was in transfer.
    kUpdate,  // Its trainer updated the model.
  };
  Kind kind = Kind::kTurn;
  std::size_t job = 0;
  std::size_t group = 0;   // For a turn.
  std::size_t number = 0;  // Number of the bucket, or of the iteration.
  Seconds start;
  Seconds end;
};

/// The result of a run. Times are from its start, which is not later than that of any job.
struct SharedRun {
  std::vector<std::vector<Seconds>> ends;  // End of each iteration of each job.
  std::vector<TurnEvent> events = {};      // In the order of their ends; on request.

  Seconds makespan() const;
};

/// The unit in which Gloo's ring all-reduce sends `payload` over `workers`:
///
///   payload / (n ⌈max(⌈payload / 1 MiB⌉, 2 n) / n⌉)
///
/// A worker has two of them on their way at once (gloo/allreduce.cc), however long the queue of its
/// NIC is, so that the streams of several all-reduces share that NIC in proportion to their
/// segments (LinkSharing::kWindows). Requires payload > 0 and workers ≥ 1.
Bytes ring_segment(Bytes payload, int workers);

/// The options of a simulation beside the terms.
struct SharedRunOptions {
  RunLength length = RunLength::kUntilDone;
  bool events = false;
};

/// Simulates iterations of jobs on the same VMs, event by event. Each worker has an accelerator
/// that it shares with one worker of every other job and that computes for one at a time, by the
/// terms (see TurnTerms); all-reduces of all jobs are flows through the same NICs, in buckets, at
/// most `in_flight` of a job at once.
///
/// An iteration begins when the previous one was updated and its data is ready. A job alone takes
/// the time of simulate_step, or with terms without overlap the same with all buckets ready at the
/// end of backward. As there, all workers of a job compute as long as its slowest: in reality the
/// faster ones give up the turn a little sooner. Backward is slowed by the job's own communication
/// only where the two overlap.
///
/// Requires jobs with groups of equal VMs and workers, with computing above zero, turns ≥ 1,
/// iterations ≥ 1 and start ≥ 0; pieces ≥ 1, slice > 0, hand_over ≥ 0 and compute_slowdown ≥ 0.
/// Without jobs the result is empty.
SharedRun simulate_sharing(std::span<const SharedStepJob> jobs, const TurnTerms& terms,
                           const SharedRunOptions& options = {});

/// Rounds that determine the period to well below a percent.
inline constexpr int kSharedRounds = 64;

/// The mean time of an iteration of each job while all of them train without end: the mean over
/// some `rounds`, without the transient at the start. `iterations` of the jobs are ignored.
/// Requires rounds ≥ 1.
std::vector<Seconds> shared_iteration_times(std::span<const SharedStepJob> jobs,
                                            const TurnTerms& terms, int rounds = kSharedRounds);

}  // namespace stint
