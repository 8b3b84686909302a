#pragma once

#include <optional>

#include "optimise/front.h"

namespace stint {

/// Index of the choice with the job's reference batch, or else the one nearest to it.
int reference_choice(const PlanQuestion& question);

/// The VMs and the batch of `config`, run as one would without a search: on as many accelerators as
/// the batch has samples for, in the fewest micro-steps that fit into memory. Nothing when the job
/// cannot run on them. Requires parts of one machine.
std::optional<Found> plain_run(const Evaluator& evaluator, Config config);

}  // namespace stint
