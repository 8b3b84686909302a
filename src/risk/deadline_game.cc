#include "risk/deadline_game.h"

#include "base/check.h"

namespace stint {

void Fleet::hold(int count, int changeover) {
  left_.resize(static_cast<std::size_t>(count), changeover);
}

int Fleet::pass() {
  int done = 0;
  for (int& left : left_) {
    if (left == 0) ++done;
    if (left > 0) --left;
  }
  return done;
}

int on_demand_ticks(const DeadlineGame& game, const Fleet& held, int parts) {
  if (parts <= 0) return 0;
  // Machines are sorted by set-up: the first k alone share parts + Σ left ticks.
  int sum = 0;
  int best = std::numeric_limits<int>::max();
  for (int k = 1; k <= game.machines; ++k) {
    sum += k <= held.count() ? held.left()[static_cast<std::size_t>(k - 1)] : game.changeover;
    best = std::min(best, (parts + sum + k - 1) / k);
  }
  return best;
}

namespace {

/// Holds the machines of `choice` for this tick. On-demand machines in another zone are released
/// for spot.
void hold(const DeadlineGame& game, const Holding& choice, GameState& state) {
  if (choice.spot > 0 && state.on_demand_zone != state.zone) state.on_demand = {};
  if (state.on_demand.count() == 0) state.on_demand_zone = state.zone;
  state.spot.hold(choice.spot, game.changeover);
  state.on_demand.hold(choice.on_demand, game.changeover);
}

}  // namespace

bool is_safe(const DeadlineGame& game, const GameState& state, const Holding& choice) {
  GameState next = state;
  hold(game, choice, next);
  const int parts = next.parts_left - next.spot.pass() - next.on_demand.pass();
  return on_demand_ticks(game, next.on_demand, parts) <= game.deadline - state.tick - 1;
}

int half_as_full(std::span<const int> counts, int zone) {
  const auto fullest = std::max_element(counts.begin(), counts.end());
  if (*fullest == 0 || 2 * counts[static_cast<std::size_t>(zone)] >= *fullest) return zone;
  return static_cast<int>(fullest - counts.begin());
}

void DeadlinePolicy::begin_zones(const DeadlineGame& game, const ZoneTicks& past) {
  begin(game, past.empty() ? std::span<const int>{} : past.front());
}

int DeadlinePolicy::choose_zone(const GameState& state, std::span<const int> counts) {
  return half_as_full(counts, state.zone);
}

namespace {

/// The number of on-demand machines granted in a tick when this many are wanted.
int granted(int wanted, const GameState& state, const std::vector<bool>& refused) {
  const auto tick = static_cast<std::size_t>(state.tick);
  const bool none_new = tick < refused.size() && refused[tick];
  return none_new ? std::min(wanted, state.on_demand.count()) : wanted;
}

/// Ticks from `state` on until the work is done with all machines on demand.
int ticks_to_end(const DeadlineGame& game, GameState state, const std::vector<bool>& refused) {
  const int start = state.tick;
  for (; state.parts_left > 0; ++state.tick) {
    state.on_demand.hold(granted(game.machines, state, refused), game.changeover);
    state.parts_left -= state.on_demand.pass();
  }
  return state.tick - start;
}

}  // namespace

namespace {

/// Begins a tick: machines are lost, and where there are several zones one is chosen.
void begin_tick(const DeadlineGame& game, const ZoneTicks& available, DeadlinePolicy& policy,
                GameState& state) {
  std::vector<int> counts;
  for (const auto& zone : available) {
    counts.push_back(std::min(zone[static_cast<std::size_t>(state.tick)], game.machines));
  }
  const auto here = [&] { return counts[static_cast<std::size_t>(state.zone)]; };
  state.available = here();
  state.spot.hold(std::min(state.spot.count(), state.available), game.changeover);
  if (counts.size() < 2) return;
  const int zone = policy.choose_zone(state, counts);
  CHECK(zone >= 0 && zone < static_cast<int>(counts.size()));
  if (zone != state.zone) state.spot = {};
  state.zone = zone;
  state.available = here();
}

}  // namespace

GameResult play(const DeadlineGame& game, const ZoneTicks& past, const ZoneTicks& available,
                DeadlinePolicy& policy, const std::vector<bool>& refused) {
  CHECK(!available.empty() && past.size() == available.size());
  for (const auto& zone : available) CHECK(zone.size() >= static_cast<std::size_t>(game.deadline));
  GameResult result;
  GameState state;
  state.parts_left = game.parts();
  policy.begin_zones(game, past);
  std::optional<int> last_zone;  // Zone of the spot machines held last.
  for (; state.tick < game.deadline && state.parts_left > 0; ++state.tick) {
    begin_tick(game, available, policy, state);
    Holding choice = policy.choose(state);
    CHECK(choice.spot >= 0 && choice.spot <= state.available && choice.on_demand >= 0 &&
          choice.spot + choice.on_demand <= game.machines);
    choice.on_demand = granted(choice.on_demand, state, refused);
    hold(game, choice, state);
    const Holding working{state.spot.pass(), state.on_demand.pass()};
    const int done = working.spot + working.on_demand;
    state.parts_left -= done;
    result.ticks.push_back({choice, working, state.zone, state.available});
    result.spot_ticks += choice.spot;
    result.on_demand_ticks += choice.on_demand;
    result.set_up_ticks += choice.spot + choice.on_demand - done;
    if (choice.spot == 0) continue;
    if (last_zone && *last_zone != state.zone) ++result.moves;
    last_zone = state.zone;
  }
  if (state.parts_left <= 0) result.finished = state.tick;
  result.overdue = ticks_to_end(game, state, refused);
  result.cost = result.spot_ticks + game.price_ratio * result.on_demand_ticks;
  return result;
}

GameResult play(const DeadlineGame& game, std::span<const int> past, std::span<const int> available,
                DeadlinePolicy& policy, const std::vector<bool>& refused) {
  return play(game, ZoneTicks{past}, ZoneTicks{available}, policy, refused);
}

}  // namespace stint
