#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/codec_fields.h"
#include "base/parallel.h"
#include "base/units.h"
#include "plan/validations.h"
#include "risk/cluster_policy.h"
#include "risk/deadline_game.h"
#include "risk/deadline_policy.h"

namespace stint {

/// Who plays a window.
enum class Player {
  kOnDemand,
  kSpot,
  kGreedy,
  kUniformProgress,
  kStint,
  kStintOneZone,  // The mean of what stint costs in each zone alone.
  kInformed,      // Knows the law of the pool; see risk/deadline_policy.h.
  kOptimum        // Knows the whole window beforehand.
};

std::span<const EnumName<Player>> names_of(Player);

/// What stint knows of a pool beforehand: of one machine, or of several.
using PoolPrior = std::variant<PoolBelief, CountBelief>;

/// What the counts of other pools tell, in ticks of the same gap. Each of them weighs as much as
/// half a day of the pool's own; of one machine, as much as a few spells.
PoolPrior learned_prior(const DeadlineGame& game, Seconds gap,
                        const std::vector<std::vector<int>>& others);

/// A pool tick by tick, and the game that is played on stretches of it.
struct ReplayPool {
  DeadlineGame game;
  Seconds gap;
  std::vector<std::vector<int>> zones;  // Spot machines in each tick; all zones are as long.
  PoolPrior prior;                      // Of every zone.
  std::optional<PoolModel> law = {};    // For who is informed.
  std::vector<bool> refused = {};       // Ticks of a window without on-demand starts.
};

/// A stretch of a pool, as long as the game's deadline. What was before it is the players' past.
struct ReplayWindow {
  std::size_t pool = 0;
  int start = 0;
};

/// The starts of the windows that fit into the pool: 0 and every `step` ticks.
std::vector<int> window_starts(const ReplayPool& pool, int step);

/// Plays one window; the optimum has a cost only. Who is informed needs the law and one zone, and
/// who plays in one zone is asked for zone by zone.
GameResult play_window(const ReplayPool& pool, int start, Player player,
                       const std::vector<bool>& refused = {});

/// What a game came to.
struct PlayedGame {
  double cost = 0;  // In ticks of one spot machine.
  bool missed = false;
  Seconds finish = {};  // After the start; when missed, the rest is done on demand.
  Seconds late = {};    // After the deadline.
};

struct WindowOutcome {
  // The optimum always, the informed where there is a law, one zone where there are several.
  std::map<Player, PlayedGame> games;
  std::map<Player, PlayedGame> refused;  // The same with refusals, where the pool has any.
};

/// Everyone plays every window. The windows share the machine's threads.
std::vector<WindowOutcome> replay(std::span<const ReplayPool> pools,
                                  std::span<const ReplayWindow> windows,
                                  const Progress& progress = {});

/// Means, worst and misses over the windows, by the name of each who played them all.
std::map<std::string, DeadlineScore> score_windows(std::span<const WindowOutcome> outcomes);

}  // namespace stint
