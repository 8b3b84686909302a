#pragma once

#include <string>
#include <vector>

#include "app/risk/deadline_terms.h"
#include "base/result.h"
#include "simulate/deadline_replay.h"

namespace stint {

/// One window of a trace, or of several zones that the job moves between.
struct ReplayDeadlineRequest {
  std::vector<std::string> traces;  // Files, one for each zone.
  DeadlineTerms terms = {};
  Seconds start = {};  // Of the window, from the beginning of the traces; rounded to ticks.
  Player player = Player::kStint;
};

/// What happened in it, tick by tick. Costs are in ticks of one spot machine.
struct DeadlineReplay {
  DeadlineGame game;
  Seconds gap;
  int start = 0;                   // In ticks.
  std::vector<std::string> zones;  // Their files.
  GameResult result;
  double on_demand_cost = 0;
  double optimum_cost = 0;
};

/// Plays one policy through a window; stint knows the trace before it. A usage error when the
/// window does not lie within the traces.
Result<DeadlineReplay> replay_deadline(const ReplayDeadlineRequest& request);

}  // namespace stint
