#pragma once

#include "plan/layout_estimate.h"
#include "predict/sharded/layout_choices.h"

namespace stint {

/// The choice as answers state it.
LayoutEstimate estimate_of(const LayoutQuestion& question, const LayoutChoice& choice);

}  // namespace stint
