#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace stint {

/// A job with a deadline on spot and on-demand machines, in ticks. At each tick the policy sees the
/// number of available spot machines and chooses how many to hold; a machine that is no longer
/// available is lost at the beginning of the tick. A new machine is paid for `changeover` ticks
/// before it makes progress; finished work is never lost. Every machine that is set up does one of
/// the `work × machines` parts of the work in a tick. On-demand machines are always available.
///
/// There may be several zones with spot machines. All machines of a job are in one of them, because
/// training across zones is slow: taking spot machines of another zone releases all machines held.
struct DeadlineGame {
  int work = 1;        // Ticks that all machines together need.
  int deadline = 1;    // At least `work`, else no choice can keep it.
  int changeover = 0;  // Ticks.
  int machines = 1;
  double price_ratio = 1;  // Price of an on-demand tick relative to a spot tick, which costs one.

  int parts() const { return work * machines; }
};

/// The number of machines of each market held for a tick.
struct Holding {
  int spot = 0;
  int on_demand = 0;

  bool operator==(const Holding&) const = default;
};

/// Machines of one market, by their remaining ticks of set-up, smallest first. Machines that are
/// released or lost are those with the longest set-up left.
class Fleet {
 public:
  /// Holds `count` machines for this tick; new ones need `changeover` ticks.
  void hold(int count, int changeover);

  /// Advances by a tick; returns the parts of the work done by the machines that are set up.
  int pass();

  int count() const { return static_cast<int>(left_.size()); }
  std::span<const int> left() const { return left_; }

 private:
  std::vector<int> left_;
};

/// The state of a game at a tick, before the choice.
struct GameState {
  int tick = 0;
  int parts_left = 0;
  int available = 0;  // Spot machines available in this tick, at most those of the game.
  Fleet spot;         // Without those that are lost.
  Fleet on_demand;
  int zone = 0;            // Zone of the spot machines.
  int on_demand_zone = 0;  // Zone in which the on-demand machines were started.
};

/// Ticks until `parts` are done from now on with all machines on demand, of which `held` exist.
int on_demand_ticks(const DeadlineGame& game, const Fleet& held, int parts);

/// Whether the deadline can be kept after `choice` for this tick, for any future of the spot
/// market.
bool is_safe(const DeadlineGame& game, const GameState& state, const Holding& choice);

/// Spot machines tick by tick, for each zone; all are of the same length.
using ZoneTicks = std::vector<std::span<const int>>;

/// The present zone while it has at least half of the machines of the fullest, else the fullest.
int half_as_full(std::span<const int> counts, int zone);

/// Decides at each tick. One object handles one game after the other.
class DeadlinePolicy {
 public:
  virtual ~DeadlinePolicy() = default;

  /// Starts a game; `past` are the spot machines of the ticks before it, oldest first.
  virtual void begin(const DeadlineGame& game, std::span<const int> past) = 0;

  /// The same for a game with several zones.
  virtual void begin_zones(const DeadlineGame& game, const ZoneTicks& past);

  /// The zone of the spot machines in this tick, given the `counts` of each zone, at most those of
  /// the game. Called before `choose`, and only where there are several zones.
  virtual int choose_zone(const GameState& state, std::span<const int> counts);

  /// At most the available spot machines, and in total at most the game's machines.
  virtual Holding choose(const GameState& state) = 0;
};

/// The machines held in a tick, and those of them that were set up and made progress.
struct PlayedTick {
  Holding held;
  Holding working;
  int zone = 0;
  int available = 0;  // Spot machines available, at most those of the game.
};

struct GameResult {
  double cost = 0;
  std::optional<int> finished;  // The tick after the last; absent: the deadline was missed.
  int overdue = 0;  // Ticks past the deadline that the rest takes with all machines on demand.
  int spot_ticks = 0;
  int on_demand_ticks = 0;
  int set_up_ticks = 0;  // Paid without progress.
  int moves = 0;         // Number of moves of spot machines to another zone.
  std::vector<PlayedTick> ticks;
};

/// Simulates `policy` on `available`, whose zones have at least the deadline's ticks; `past` has
/// the same zones. The game ends when the work is done or the deadline has passed; the cost counts
/// until then. In a tick that is `refused` no new on-demand machine starts, whatever the policy
/// asks for; those that are held stay. Ticks beyond the end of `refused` are not refused.
GameResult play(const DeadlineGame& game, const ZoneTicks& past, const ZoneTicks& available,
                DeadlinePolicy& policy, const std::vector<bool>& refused = {});

/// The same with one zone.
GameResult play(const DeadlineGame& game, std::span<const int> past, std::span<const int> available,
                DeadlinePolicy& policy, const std::vector<bool>& refused = {});

}  // namespace stint
