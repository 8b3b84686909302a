#pragma once

#include <optional>
#include <vector>

#include "optimise/deepvm.h"
#include "optimise/front.h"
#include "plan/plan.h"

namespace stint {

/// What DeepVM rents.
struct DeepVmPick {
  Found found;  // Its workers.
  DeepVmChoice choice;
  std::optional<DeepVmReceiver> receiver;  // Of a tier.
  bool fitted = false;                     // Its figures are not the published ones.
};

struct DeepVmLimits {
  int vms_max = 1;  // Of workers.
  std::optional<DollarsPerSecond> rate_max = {};
  std::vector<Quota> quotas = {};
};

/// DeepVM's choice among the spot VMs of the space. Where types have published figures, only these
/// are considered, because others are not in their unit. Otherwise flops is the peak of the data
/// sheet, and the scaling is fitted to what we predict. NICs count with their peak, as in the
/// publication.
Result<std::optional<DeepVmPick>> deepvm_pick(const Evaluator& evaluator,
                                              const DeepVmLimits& limits);

/// The pick as a plan: receivers do no work, so they only add to the bill.
Plan plan_of(const Evaluator& evaluator, const DeepVmPick& pick);

}  // namespace stint
