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
  int turns = 1;       // In a round of a rhythm.
  int iterations = 1;  // To be done.
  Seconds start = {};  // Of its first iteration.
};

/// When jobs that are done leave the others alone.
enum class RunLength {
  kUntilDone,  // When their own iterations are done.
  kTogether,   // Not before all have done theirs; they go on until then.
};

/// Something that took time, on one accelerator of a group or between all of them.
struct TurnEvent {
  enum class Kind {
    kTurn,    // The job computed on the group's accelerators.
    kBucket,  // Its bucket `number` was on its way.
    kUpdate,  // Its trainer updated the model.
  };
  Kind kind = Kind::kTurn;
  std::size_t job = 0;
  std::size_t group = 0;   // Of a turn.
  std::size_t number = 0;  // Of a bucket, or of the iteration.
  Seconds start;
  Seconds end;
};

/// What came of a run. Times are from its start, which is not later than that of any job.
struct SharedRun {
  std::vector<std::vector<Seconds>> ends;  // Of each iteration of each job.
  std::vector<TurnEvent> events = {};      // In the order of their ends; where asked for.

  Seconds makespan() const;
};

/// What is asked of a simulation beside the terms.
struct SharedRunOptions {
  RunLength length = RunLength::kUntilDone;
  bool events = false;
};

/// Plays iterations of jobs on the same VMs, event by event. Each worker has an accelerator that it
/// shares with one worker of every other job and that computes for one at a time, as the terms say
/// (see TurnTerms); reductions of all jobs are flows through the same NICs, in buckets, at most
/// `in_flight` of a job at once.
///
/// An iteration begins when the one before was updated and its data is there. A job by itself takes
/// what simulate_step says, or with terms without overlap the same with all buckets ready at the
/// end of backward. As there, all workers of a job compute as long as its slowest: in truth the
/// faster ones hand over a little sooner. Backward is slowed by the job's own communication only
/// where the two overlap.
///
/// Requires jobs with groups of equal VMs and workers, with computing above zero, turns ≥ 1,
/// iterations ≥ 1 and start ≥ 0; pieces ≥ 1, slice > 0, hand_over ≥ 0 and compute_slowdown ≥ 0.
/// Without jobs nothing happens.
SharedRun simulate_sharing(std::span<const SharedStepJob> jobs, const TurnTerms& terms,
                           const SharedRunOptions& options = {});

/// Rounds that tell a rhythm to well below a percent.
inline constexpr int kSharedRounds = 64;

/// What an iteration of each job takes on average while all of them are there and go on for ever:
/// the mean over some `rounds`, without those in which they find their rhythm. `iterations` of the
/// jobs are ignored. Requires rounds ≥ 1.
std::vector<Seconds> shared_iteration_times(std::span<const SharedStepJob> jobs,
                                            const TurnTerms& terms, int rounds = kSharedRounds);

}  // namespace stint
