#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace stint {

/// A job with a deadline on spot and on-demand machines, in ticks. At each tick one sees how many
/// spot machines there are and chooses how many to hold; a machine that is not there any more is
/// lost at the beginning of the tick. A new machine is paid for `changeover` ticks before it gets
/// anything done; what was done is never lost. Every machine that is set up does one of the
/// `work × machines` parts of the work in a tick. On-demand machines are always there.
///
/// There may be several zones with spot machines. All machines of a job are in one of them, because
/// training across zones is slow: who takes spot machines of another zone leaves all that he holds.
struct DeadlineGame {
  int work = 1;        // Ticks that all machines need together.
  int deadline = 1;    // At least `work`, else no choice can keep it.
  int changeover = 0;  // Ticks.
  int machines = 1;
  double price_ratio = 1;  // An on-demand tick over a spot tick, which costs one.

  int parts() const { return work * machines; }
};

/// How many machines of each market are held for a tick.
struct Holding {
  int spot = 0;
  int on_demand = 0;

  bool operator==(const Holding&) const = default;
};

/// Machines of one market, by the ticks of set-up they have left, the readiest first. Those that
/// are let go, or lost, are the ones that got least far.
class Fleet {
 public:
  /// Holds `count` machines for this tick; new ones need `changeover` ticks.
  void hold(int count, int changeover);

  /// Lets a tick pass: parts of the work done by the machines that are set up.
  int pass();

  int count() const { return static_cast<int>(left_.size()); }
  std::span<const int> left() const { return left_; }

 private:
  std::vector<int> left_;
};

/// Where a game stands at a tick, before the choice.
struct GameState {
  int tick = 0;
  int parts_left = 0;
  int available = 0;  // Spot machines this tick, at most those of the game.
  Fleet spot;         // Without those that are lost.
  Fleet on_demand;
  int zone = 0;            // Where the spot machines are.
  int on_demand_zone = 0;  // Where those on demand were started.
};

/// Ticks until `parts` are done from now on with all machines on demand, of which `held` are there.
int on_demand_ticks(const DeadlineGame& game, const Fleet& held, int parts);

/// Whether the deadline can be kept after `choice` for this tick, whatever spot does afterwards.
bool is_safe(const DeadlineGame& game, const GameState& state, const Holding& choice);

/// Spot machines tick by tick, of each zone; all are as long.
using ZoneTicks = std::vector<std::span<const int>>;

/// The present zone while it gives at least half of what the fullest does, else the fullest.
int half_as_full(std::span<const int> counts, int zone);

/// Decides at each tick. One object plays one game after the other.
class DeadlinePolicy {
 public:
  virtual ~DeadlinePolicy() = default;

  /// A game begins; `past` are the spot machines of the ticks before it, oldest first.
  virtual void begin(const DeadlineGame& game, std::span<const int> past) = 0;

  /// The same for a game with several zones.
  virtual void begin_zones(const DeadlineGame& game, const ZoneTicks& past);

  /// Where to take spot machines in this tick, of which each zone has `counts`, at most those of
  /// the game. Asked before `choose`, and only where there are several zones.
  virtual int choose_zone(const GameState& state, std::span<const int> counts);

  /// At most the available spot machines, and at most the game's machines in all.
  virtual Holding choose(const GameState& state) = 0;
};

/// What was held in a tick, and which of these machines were set up and got something done.
struct PlayedTick {
  Holding held;
  Holding working;
  int zone = 0;
  int available = 0;  // Spot machines there, at most those of the game.
};

struct GameResult {
  double cost = 0;
  std::optional<int> finished;  // The tick after the last; absent: the deadline was missed.
  int overdue = 0;  // Ticks past the deadline that the rest takes with all machines on demand.
  int spot_ticks = 0;
  int on_demand_ticks = 0;
  int set_up_ticks = 0;  // Paid without progress.
  int moves = 0;         // Times that spot machines were taken in another zone than before.
  std::vector<PlayedTick> ticks;
};

/// Plays `policy` through `available`, whose zones have at least the deadline's ticks; `past` has
/// the same zones. The game ends when the work is done or the deadline has passed; the cost is what
/// was paid until then. In a tick that is `refused` no new on-demand machine starts, whatever the
/// policy asks for; those that are held stay. Ticks beyond the end of `refused` are not.
GameResult play(const DeadlineGame& game, const ZoneTicks& past, const ZoneTicks& available,
                DeadlinePolicy& policy, const std::vector<bool>& refused = {});

/// The same with one zone.
GameResult play(const DeadlineGame& game, std::span<const int> past, std::span<const int> available,
                DeadlinePolicy& policy, const std::vector<bool>& refused = {});

}  // namespace stint
