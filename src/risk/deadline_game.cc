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
  // The readiest come first: with the first k alone, parts + Σ left ticks are shared by k.
  int sum = 0;
  int best = std::numeric_limits<int>::max();
  for (int k = 1; k <= game.machines; ++k) {
    sum += k <= held.count() ? held.left()[static_cast<std::size_t>(k - 1)] : game.changeover;
    best = std::min(best, (parts + sum + k - 1) / k);
  }
  return best;
}

bool is_safe(const DeadlineGame& game, const GameState& state, const Holding& choice) {
  Fleet spot = state.spot;
  Fleet on_demand = state.on_demand;
  spot.hold(choice.spot, game.changeover);
  on_demand.hold(choice.on_demand, game.changeover);
  const int parts = state.parts_left - spot.pass() - on_demand.pass();
  return on_demand_ticks(game, on_demand, parts) <= game.deadline - state.tick - 1;
}

namespace {

/// The on-demand machines that one gets in a tick when one wants so many.
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

GameResult play(const DeadlineGame& game, std::span<const int> past, std::span<const int> available,
                DeadlinePolicy& policy, const std::vector<bool>& refused) {
  CHECK(available.size() >= static_cast<std::size_t>(game.deadline));
  GameResult result;
  GameState state;
  state.parts_left = game.parts();
  policy.begin(game, past);
  for (; state.tick < game.deadline && state.parts_left > 0; ++state.tick) {
    state.available = std::min(available[static_cast<std::size_t>(state.tick)], game.machines);
    state.spot.hold(std::min(state.spot.count(), state.available), game.changeover);
    Holding choice = policy.choose(state);
    CHECK(choice.spot >= 0 && choice.spot <= state.available && choice.on_demand >= 0 &&
          choice.spot + choice.on_demand <= game.machines);
    choice.on_demand = granted(choice.on_demand, state, refused);
    state.spot.hold(choice.spot, game.changeover);
    state.on_demand.hold(choice.on_demand, game.changeover);
    const Holding working{state.spot.pass(), state.on_demand.pass()};
    const int done = working.spot + working.on_demand;
    state.parts_left -= done;
    result.ticks.push_back({choice, working});
    result.spot_ticks += choice.spot;
    result.on_demand_ticks += choice.on_demand;
    result.set_up_ticks += choice.spot + choice.on_demand - done;
  }
  if (state.parts_left <= 0) result.finished = state.tick;
  result.overdue = ticks_to_end(game, state, refused);
  result.cost = result.spot_ticks + game.price_ratio * result.on_demand_ticks;
  return result;
}

}  // namespace stint
