#pragma once

#include <cstdint>

#include "optimise/evaluate.h"

namespace stint {

/// Configurations of equal VMs that the question implies: every rental, number of VMs and of
/// workers, batch, number of micro-steps, and both collectives.
std::int64_t implied_homogeneous(const Evaluator& evaluator);

/// Clusters of equal VMs that hold parts of the model only; each has its fastest layout.
std::int64_t implied_layouts(const Evaluator& evaluator);

/// Those of two kinds of VMs in one region of one provider.
std::int64_t implied_mixed(const Evaluator& evaluator);

}  // namespace stint
