#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "measure/tables/availability_trace.h"
#include "risk/deadline_game.h"

namespace stint {

/// A job with a deadline on spot and on-demand machines; see risk/deadline_game.h.
struct DeadlineTerms {
  Seconds work = 24 * kHour;
  std::optional<Seconds> deadline = {};  // Absent: one and a half times the work.
  Seconds changeover = 13 * kMinute;
  double price_ratio = 3.3;  // On demand over spot.
  int machines = 1;

  Seconds deadline_or_default() const { return deadline.value_or(1.5 * work); }
};

/// The game in ticks of `gap`: work and deadline are rounded, the changeover is rounded up. A usage
/// error when there is no work or price, or on-demand machines alone could not keep the deadline.
Result<DeadlineGame> game_in_ticks(const DeadlineTerms& terms, Seconds gap);

/// Ticks from one window of the game to the next; half the deadline unless it is said.
int window_step_in_ticks(const std::optional<Seconds>& step, const DeadlineGame& game, Seconds gap);

/// Reads the traces; the first that cannot be read is the error.
Result<std::vector<AvailabilityTrace>> load_traces(const std::vector<std::string>& files);

}  // namespace stint
