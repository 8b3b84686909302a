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

/// The policies that are simulated on a window.
enum class Player {
  kOnDemand,
  kSpot,
  kGreedy,
  kUniformProgress,
  kStint,
  kStintOneZone,  // The mean cost of stint in each zone alone.
  kInformed,      // Knows the law of the pool; see risk/deadline_policy.h.
  kOptimum        // The clairvoyant optimum, which knows the whole window beforehand.
};

std::span<const EnumName<Player>> names_of(Player);

/// The prior of stint about a pool: of one machine, or of several.
using PoolPrior = std::variant<PoolBelief, CountBelief>;

/// The prior from the counts of other pools, in ticks of the same gap. Each of them weighs as much
/// as half a day of the pool's own; for one machine, as much as a few spells.
PoolPrior learned_prior(const DeadlineGame& game, Seconds gap,
                        const std::vector<std::vector<int>>& others);

/// A pool tick by tick, and the game that is simulated on windows of it.
struct ReplayPool {
  DeadlineGame game;
  Seconds gap;
  // Spot machines in each tick; all zones are of the same length.
  std::vector<std::vector<int>> zones;
  PoolPrior prior;                    // Prior of every zone.
  std::optional<PoolModel> law = {};  // For the informed policy.
  std::vector<bool> refused = {};     // Ticks of a window without on-demand starts.
};

/// A window of a pool, as long as the game's deadline. The policies know the ticks before it.
struct ReplayWindow {
  std::size_t pool = 0;
  int start = 0;
};

/// The starts of the windows that fit into the pool: 0 and every `step` ticks.
std::vector<int> window_starts(const ReplayPool& pool, int step);

/// Simulates one window; the optimum has only a cost. The informed policy needs the law and one
/// zone, and the one-zone policy is simulated zone by zone.
GameResult play_window(const ReplayPool& pool, int start, Player player,
                       const std::vector<bool>& refused = {});

/// The result of a game.
struct PlayedGame {
  double cost = 0;  // In ticks of one spot machine.
  bool missed = false;
  Seconds finish = {};  // From the start; after a miss, the rest is done on demand.
  Seconds late = {};    // Time past the deadline.
};

struct WindowOutcome {
  // The optimum always, the informed policy where there is a law, one zone where there are several.
  std::map<Player, PlayedGame> games;
  std::map<Player, PlayedGame> refused;  // The same with refusals, where the pool has any.
};

/// Simulates all policies on every window. The windows share the machine's threads.
std::vector<WindowOutcome> replay(std::span<const ReplayPool> pools,
                                  std::span<const ReplayWindow> windows,
                                  const Progress& progress = {});

/// Means, worst and misses over the windows, by the name of each policy that was simulated on all.
std::map<std::string, DeadlineScore> score_windows(std::span<const WindowOutcome> outcomes);

}  // namespace stint
