#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/risk/deadline_terms.h"
#include "base/parallel.h"
#include "plan/deadline_validation.h"

namespace stint {

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
