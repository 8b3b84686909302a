#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "measure/tables/availability_trace.h"
#include "risk/deadline_game.h"
#include "simulate/deadline_replay.h"

namespace stint {

/// A job with a deadline on spot and on-demand machines; see risk/deadline_game.h.
struct DeadlineTerms {
  Seconds work = 24 * kHour;
  std::optional<Seconds> deadline = {};  // Absent: one and a half times the work.
  Seconds changeover = 13 * kMinute;
  double price_ratio = 3.3;  // On-demand price over spot price.
  int machines = 1;

  Seconds deadline_or_default() const { return deadline.value_or(1.5 * work); }
};

/// The game in ticks of `gap`: work and deadline are rounded, the changeover is rounded up. A usage
/// error when there is no work or price, or on-demand machines alone could not keep the deadline.
Result<DeadlineGame> game_in_ticks(const DeadlineTerms& terms, Seconds gap);

/// Ticks from one window of the game to the next; half the deadline by default.
int window_step_in_ticks(const std::optional<Seconds>& step, const DeadlineGame& game, Seconds gap);

/// Reads the traces; the first that cannot be read is the error.
Result<std::vector<AvailabilityTrace>> load_traces(const std::vector<std::string>& files);

/// One window of a trace, or of several zones that the job moves between.
struct ReplayDeadlineRequest {
  std::vector<std::string> traces;  // Files, one for each zone.
  DeadlineTerms terms = {};
  Seconds start = {};  // Start of the window, from the beginning of the traces; rounded to ticks.
  Player player = Player::kStint;
};

/// The events of the window, tick by tick. Costs are in ticks of one spot machine.
struct DeadlineReplay {
  DeadlineGame game;
  Seconds gap;
  int start = 0;                   // In ticks.
  std::vector<std::string> zones;  // Their files.
  GameResult result;
  double on_demand_cost = 0;
  double optimum_cost = 0;
};

/// Simulates one policy on a window; stint knows the trace before it. A usage error when the window
/// does not lie within the traces.
Result<DeadlineReplay> replay_deadline(const ReplayDeadlineRequest& request);

}  // namespace stint
