#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "load/environment.h"
#include "plan/plan.h"

namespace stint {

/// Keeps `answer` as the last one, for `--plan N`.
Status keep_plan(const Environment& environment, const PlanAnswer& answer);

/// One plan of an answer.
struct PickedPlan {
  PlanAnswer answer;
  std::size_t row = 0;  // From 0; there is such a plan.
  std::vector<std::string> warnings;
};

/// Row `which` ("2", from 1) of the last answer, or the first plan of the file `which`.
Result<PickedPlan> load_plan(const Environment& environment, const std::string& which);

}  // namespace stint
