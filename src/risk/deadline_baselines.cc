#include "risk/deadline_baselines.h"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/check.h"

namespace stint {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The least cost from a tick on by the parts left, for each state of the machine.
struct Costs {
  Costs(const DeadlineGame& game, std::size_t zones)
      : rows(static_cast<std::size_t>(std::max(1, game.changeover)) * (zones + 1) + 1,
             std::vector<double>(static_cast<std::size_t>(game.deadline) + 1, kInfinity)) {
    for (auto& row : rows) row[0] = 0;
  }

  // The states are: no machine, then on demand with each number of ticks of set-up left, then spot
  // in each zone likewise.
  std::vector<std::vector<double>> rows;
};

/// The costs one tick earlier; `here` has the zones with spot.
void step_back(const DeadlineGame& game, const std::vector<bool>& here, const Costs& after,
               Costs& before) {
  const std::size_t kinds = static_cast<std::size_t>(std::max(1, game.changeover));
  const std::size_t parts = before.rows[0].size();
  // The cost of holding a machine for this tick, when it has `left` ticks of set-up left.
  const auto held = [&](std::size_t first, double price, int left, std::size_t w) {
    const auto& row = after.rows[first + static_cast<std::size_t>(std::max(0, left - 1))];
    return price + (left > 0 ? row[w] : row[w - 1]);
  };
  for (std::size_t w = 1; w < parts; ++w) {
    double best = after.rows[0][w];
    best = std::min(best, held(1, game.price_ratio, game.changeover, w));
    for (std::size_t z = 0; z < here.size(); ++z) {
      if (here[z]) best = std::min(best, held(1 + (z + 1) * kinds, 1, game.changeover, w));
    }
    before.rows[0][w] = best;
    for (std::size_t i = 0; i < kinds; ++i) {
      const int left = static_cast<int>(i);
      before.rows[1 + i][w] = std::min(best, held(1, game.price_ratio, left, w));
      for (std::size_t z = 0; z < here.size(); ++z) {
        const std::size_t first = 1 + (z + 1) * kinds;
        before.rows[first + i][w] = here[z] ? std::min(best, held(first, 1, left, w)) : best;
      }
    }
  }
}

/// The least cost of doing 0, 1, … parts on one machine before the deadline.
std::vector<double> cheapest_of_slot(const DeadlineGame& game, const ZoneTicks& available,
                                     int slot) {
  Costs after(game, available.size());
  Costs before(game, available.size());
  std::vector<bool> here(available.size());
  for (int tick = game.deadline - 1; tick >= 0; --tick) {
    for (std::size_t z = 0; z < available.size(); ++z) {
      here[z] = available[z][static_cast<std::size_t>(tick)] >= slot;
    }
    step_back(game, here, after, before);
    std::swap(after, before);
  }
  return after.rows[0];
}

}  // namespace

double cheapest_in_hindsight(const DeadlineGame& game, const ZoneTicks& available) {
  for (const auto& zone : available) CHECK(zone.size() >= static_cast<std::size_t>(game.deadline));
  const std::size_t all = static_cast<std::size_t>(game.parts());
  // Least cost of this many parts, or more, by the slots so far.
  std::vector<double> cost(all + 1, kInfinity);
  cost[0] = 0;
  for (int slot = 1; slot <= game.machines; ++slot) {
    const std::vector<double> own = cheapest_of_slot(game, available, slot);
    std::vector<double> next = cost;
    for (std::size_t done = 0; done < all; ++done) {
      if (cost[done] == kInfinity) continue;
      for (std::size_t more = 1; more < own.size() && own[more] < kInfinity; ++more) {
        double& sum = next[std::min(all, done + more)];
        sum = std::min(sum, cost[done] + own[more]);
      }
    }
    cost = std::move(next);
  }
  return cost[all];
}

void OnDemandOnly::begin(const DeadlineGame& game, std::span<const int> /*past*/) { game_ = game; }

Holding OnDemandOnly::choose(const GameState& /*state*/) { return {0, game_.machines}; }

void SpotOnly::begin(const DeadlineGame& /*game*/, std::span<const int> /*past*/) {}

Holding SpotOnly::choose(const GameState& state) { return {state.available, 0}; }

void Greedy::begin(const DeadlineGame& game, std::span<const int> /*past*/) {
  game_ = game;
  for_good_ = false;
}

Holding Greedy::choose(const GameState& state) {
  const Holding spot = {state.available, 0};
  if (!for_good_ && !is_safe(game_, state, spot)) for_good_ = true;
  return for_good_ ? Holding{0, game_.machines} : spot;
}

Holding fill_up(const DeadlineGame& game, const GameState& state) {
  const int spot = std::min(state.available, game.machines - state.on_demand.count());
  return {spot, game.machines - spot};
}

void UniformProgress::begin(const DeadlineGame& game, std::span<const int> /*past*/) {
  game_ = game;
  for_good_ = false;
}

Holding UniformProgress::choose(const GameState& state) {
  const double machines = game_.machines;
  const double left = state.parts_left / machines;
  if (game_.deadline - state.tick <= std::ceil(left) + 2 * game_.changeover) for_good_ = true;
  if (for_good_) return {0, game_.machines};
  const double pace = static_cast<double>(game_.work) / game_.deadline;
  const double done = game_.work - left;
  const bool ahead = done >= (state.tick + 2 * game_.changeover) * pace;
  const bool behind = done < state.tick * pace;
  if (state.on_demand.count() > 0 ? !ahead : behind) return fill_up(game_, state);
  return {state.available, 0};
}

}  // namespace stint
