#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/risk/replay_deadline.h"
#include "base/parallel.h"
#include "base/result.h"
#include "plan/validations.h"
#include "simulate/deadline_replay.h"

namespace stint {

/// Pools of one machine drawn by chance; see simulate/synthetic_pool.h.
struct SyntheticDeadlineRequest {
  DeadlineTerms terms = {};  // Without a deadline: 1.1, 1.25, 1.5 and 2 times the work.
  int pools = 4;             // Of each kind.
  int zones = 1;             // Of each pool, of the same kind; they fail together at times.
  int seed = 1;
  Seconds length = 14 * kDay;               // Of each pool.
  std::optional<Seconds> window_step = {};  // Absent: half the deadline.
  std::string refusals = {};                // A table of failed starts to put on the windows.
  Progress progress = {};
};

/// The same comparison as on traces, in cells of a kind of pool and a slack (deadline over work).
/// Where the law of a pool is known, `informed` plays the best moves under it: about the least that
/// a policy can cost on average which does not see the future. With several zones the job moves
/// between them, and `stint-one-zone` stays.
Result<DeadlineValidation> validate_deadline_synthetic(const SyntheticDeadlineRequest& request);

/// Puts the failed starts that `file` records on every window of the pools, from the first failure
/// on; see measure/refusal_pattern.h for which rows. Returns what was put there, for a reader.
Result<std::string> add_refusals(const std::string& file, std::vector<ReplayPool>& pools);

/// Traces of spot machines on which a job with a deadline is played.
struct ValidateDeadlineRequest {
  std::vector<std::string> traces;    // Files.
  std::vector<std::string> fit = {};  // Files of other pools that stint may learn from.
  DeadlineTerms terms = {};
  int zones = 1;                            // So many traces at a time are zones of one region.
  std::optional<int> slots = {};            // Of each trace, each replayed as one machine.
  std::optional<Seconds> window_step = {};  // Absent: half the deadline.
  std::string windows = {};                 // A table to write, a line for each window.
  std::string refusals = {};                // A table of failed starts to put on the windows.
  Progress progress = {};
};

/// Plays the job from tick 0 of each trace and every step, as long as the deadline lies within, by
/// stint and by other policies, and compares what it costs with on-demand machines and with the
/// best choices in hindsight.
///
/// Stint knows at each tick: the traces to fit, the trace before the window, and the window until
/// then. A trace among those to fit that has the very counts that are played is left out.
///
/// The job moves between the zones of a region, and `stint-one-zone` stays. They are laid side by
/// side from their first ticks, in ticks of the first and as long as the shortest.
///
/// Bad input when a trace cannot be read or all are shorter than a window.
Result<DeadlineValidation> validate_deadline(const ValidateDeadlineRequest& request);

}  // namespace stint
