#pragma once

#include <optional>
#include <string>

#include "app/risk/deadline_terms.h"
#include "base/parallel.h"
#include "base/result.h"
#include "plan/deadline_validation.h"

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

}  // namespace stint
