#pragma once

#include "risk/deadline_game.h"

namespace stint {

/// What the game costs at least for someone who knows all of `available` (of at least the
/// deadline's ticks) beforehand; infinite when the deadline cannot be kept. Machines of a market
/// are alike, so the i-th of them can be taken to be there when at least i are: every such slot is
/// solved by itself for each amount of work, and the slots share the work as is cheapest.
///
/// With several zones each slot may be in another one and on-demand machines are left nowhere. For
/// one machine that is the game; for more it is a bound that nobody can reach for sure.
double cheapest_in_hindsight(const DeadlineGame& game, const ZoneTicks& available);

}  // namespace stint
