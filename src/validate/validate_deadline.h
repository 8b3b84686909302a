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

/// Pools of each kind times their zones, slots of a trace, and zones at once; 500 MB.
inline constexpr int kPoolsMax = 1'000;

/// Random pools of one machine; see simulate/synthetic_pool.h.
struct SyntheticDeadlineRequest {
  DeadlineTerms terms = {};  // Without a deadline: 1.1, 1.25, 1.5 and 2 times the work.
  int pools = 4;             // Number of pools of each kind.
  int zones = 1;             // Zones of each pool, of the same kind; they fail together at times.
  int seed = 1;
  Seconds length = 14 * kDay;               // Length of each pool.
  std::optional<Seconds> window_step = {};  // Absent: half the deadline.
  std::string refusals = {};                // A table of failed starts to apply to the windows.
  Progress progress = {};
};

/// The same comparison as on traces, by kind of pool and slack (deadline over work). Where the law
/// of a pool is known, `informed` makes the best moves under it: about the least mean cost of a
/// policy that does not know the future. With several zones the job moves between them, and
/// `stint-one-zone` stays.
Result<DeadlineValidation> validate_deadline_synthetic(const SyntheticDeadlineRequest& request);

/// Applies the failed starts that `file` records to every window of the pools, from the first
/// failure on; see measure/tables/lifetime_table.h for the selection of rows. Returns a description
/// for the reader.
Result<std::string> add_refusals(const std::string& file, std::vector<ReplayPool>& pools);

/// Traces of spot machines on which a job with a deadline is simulated.
struct ValidateDeadlineRequest {
  std::vector<std::string> traces;    // Files.
  std::vector<std::string> fit = {};  // Files of other pools for the prior of stint.
  DeadlineTerms terms = {};
  int zones = 1;                  // Number of consecutive traces that are zones of one region.
  std::optional<int> slots = {};  // Slots of each trace, each replayed as one machine.
  std::optional<Seconds> window_step = {};  // Absent: half the deadline.
  std::string windows = {};                 // A table to write, with a line for each window.
  std::string refusals = {};                // A table of failed starts to apply to the windows.
  Progress progress = {};
};

/// Simulates the job from tick 0 of each trace and every step, as long as the deadline lies within,
/// with stint and with other policies, and compares the cost with on-demand machines and with the
/// clairvoyant optimum.
///
/// At each tick stint knows the traces to fit, the trace before the window, and the window until
/// then. A trace to fit that has exactly the simulated counts is left out.
///
/// The job moves between the zones of a region, and `stint-one-zone` stays. The zones are aligned
/// at their first ticks, in ticks of the first and as long as the shortest.
///
/// Bad input when a trace cannot be read or all are shorter than a window.
Result<DeadlineValidation> validate_deadline(const ValidateDeadlineRequest& request);

}  // namespace stint
