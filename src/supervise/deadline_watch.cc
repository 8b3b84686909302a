#include "supervise/deadline_watch.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace stint {
namespace {

constexpr double kMoved = 0.1;  // A change of speed by less than this leaves the game unchanged.
constexpr double kGrid = 0.05;
constexpr int kTicksMax = 1 << 26;  // More than any run has.

int ticks_up(Seconds time, Seconds tick) {
  return static_cast<int>(std::ceil(std::min(time / tick, 1e6)));
}

double slowness_of(const RunTerms& terms, const RunProgress& progress) {
  return std::max(1.0, progress.slowness_max.value_or(terms.slower));
}

/// Machines that are held, by the number of ticks until they train, smallest first.
Fleet fleet_of(std::vector<Seconds> ready, const DeadlineGame& game, Seconds tick) {
  std::sort(ready.begin(), ready.end());
  Fleet fleet;
  for (const Seconds left : ready) {
    if (fleet.count() == game.machines) break;
    fleet.hold(fleet.count() + 1, std::clamp(ticks_up(left, tick), 0, game.changeover));
  }
  return fleet;
}

/// Whether an on-demand machine stays that may hold the reached state.
bool keeps_on_demand(const RunTerms& terms, const std::optional<Holding>& choice) {
  if (choice) return choice->on_demand > 0;
  return std::any_of(terms.slots.begin(), terms.slots.end(), [](const RunSlot& slot) {
    return slot.trains && slot.market == Market::kOnDemand;
  });
}

}  // namespace

std::string problem(const WatchMemory& it) {
  int left = kTicksMax;
  for (const SpotTicks& spell : it.past) {
    if (spell.ticks > left) return "there are too many ticks";
    left -= spell.ticks;
  }
  return it.spot.has_value() == it.on_demand.has_value() ? "" : "half of a choice is missing";
}

WatchMemory DeadlineWatch::memory() const {
  WatchMemory memory{.tick = tick_,
                     .begun = begun_,
                     .chosen = chosen_,
                     .buys = buys_,
                     .save_helps = save_helps_,
                     .overdue = overdue_};
  for (const int machines : past_) {
    if (memory.past.empty() || memory.past.back().machines != machines) {
      memory.past.push_back({.machines = machines, .ticks = 0});
    }
    ++memory.past.back().ticks;
  }
  if (!choice_) return memory;
  memory.spot = choice_->spot;
  memory.on_demand = choice_->on_demand;
  return memory;
}

void DeadlineWatch::remember(const WatchMemory& memory) {
  past_.clear();
  for (const SpotTicks& spell : memory.past) {
    past_.insert(past_.end(), static_cast<std::size_t>(spell.ticks), spell.machines);
  }
  tick_ = memory.tick;
  machines_ = 0;
  begun_ = memory.begun;
  anew_ = true;
  choice_.reset();
  if (memory.spot) choice_ = Holding{.spot = *memory.spot, .on_demand = *memory.on_demand};
  chosen_ = memory.chosen;
  buys_ = memory.buys;
  save_helps_ = memory.save_helps;
  overdue_ = memory.overdue;
}

void DeadlineWatch::change_terms() {
  begun_ = false;
  machines_ = 0;
  choice_.reset();
}

std::optional<Holding> DeadlineWatch::choose(const RunTerms& terms, const RunProgress& progress) {
  if (machines_ == 0) {
    const std::vector<int> slots = training_slots(terms);
    machines_ = static_cast<int>(slots.size());
    step_ = terms.step_time(slots);
  }
  const int tick = static_cast<int>(std::min(progress.now / terms.tick, 1e9));
  if (policy_ && (tick > tick_ || !begun_)) {
    past_.push_back(progress.spot_available);
    tick_ = tick;
    if (!progress.moving) follow(terms, progress.now, ask_policy(terms, progress));
  }
  look_at_time(terms, progress);
  if (buys_) return Holding{.spot = 0, .on_demand = machines_};
  return choice_;
}

void DeadlineWatch::follow(const RunTerms& terms, Seconds now, std::optional<Holding> choice) {
  const bool sells = choice_ && choice && choice->on_demand < choice_->on_demand;
  if (sells && now - chosen_ < 2 * (terms.start_up + terms.regroup)) return;
  if (choice != choice_) chosen_ = now;
  choice_ = choice;
}

void DeadlineWatch::look_at_time(const RunTerms& terms, const RunProgress& progress) {
  const Seconds step = step_ * slowness_of(terms, progress);
  const auto work = [&](std::int64_t from) {
    return static_cast<double>(terms.steps - from) * step + terms.save_time;
  };
  const Seconds set_up = terms.start_up + 2 * terms.regroup + terms.save_time;
  const Seconds left = *terms.deadline - progress.now;
  const auto room = [&](std::int64_t from) { return left - 2 * terms.tick - set_up - work(from); };

  Seconds ready;  // Until all on-demand machines train, if they are launched now.
  for (const Seconds one : progress.on_demand) ready = std::max(ready, one);
  if (static_cast<int>(progress.on_demand.size()) < machines_)
    ready = terms.start_up + terms.regroup;
  overdue_ = ready +
             work(progress.safe) / slowness_of(terms, progress) * progress.slowness.value_or(1) -
             left;

  // On-demand machines are released only when there is time to launch them again, with a margin:
  // each checkpoint gives slack that the steps after it use up.
  const Seconds spare = 2 * terms.tick + std::min(terms.save_every, 2 * terms.start_up);
  const Seconds needed = buys_ ? 2 * terms.start_up + 2 * terms.tick + spare : Seconds{};
  const std::int64_t from = keeps_on_demand(terms, choice_) ? progress.safe : progress.saved;
  buys_ = room(from) < needed;
  const Seconds soon = 2 * terms.tick + terms.save_time;
  const bool worth = static_cast<double>(progress.reached - from) * step > terms.save_time;
  save_helps_ = worth && room(from) < needed + soon && room(progress.reached) >= needed;
}

std::optional<Holding> DeadlineWatch::ask_policy(const RunTerms& terms,
                                                 const RunProgress& progress) {
  // The slowness is rounded up to a grid, so that rehearsals solve few different games.
  const double slowness = std::ceil(progress.slowness.value_or(1) / kGrid - 1e-9) * kGrid;
  const Seconds step = step_ * slowness;
  if (!begun_ || anew_ || std::abs(slowness / game_slowness_ - 1) > kMoved) {
    const Seconds end = *terms.deadline - terms.save_time - terms.tick;
    const RunSlot& first = terms.slots[static_cast<std::size_t>(training_slots(terms).front())];
    game_ = {.work = std::max(1, ticks_up(static_cast<double>(terms.steps) * step, terms.tick)),
             .deadline = static_cast<int>(std::floor(std::clamp(end / terms.tick, -1e6, 1e6))),
             .changeover = ticks_up(terms.start_up + terms.regroup, terms.tick),
             .machines = machines_,
             .price_ratio = std::max(1.0, first.on_demand / first.spot)};
    game_slowness_ = slowness;
    begun_ = true;
    anew_ = false;
    // Without a tick until the deadline there is nothing to decide.
    if (game_.deadline >= 1) policy_->begin(game_, std::span(past_).first(past_.size() - 1));
  }
  const Seconds left = static_cast<double>(terms.steps - progress.reached) * step;
  const GameState state{.tick = tick_,
                        .parts_left = ticks_up(left * machines_, terms.tick),
                        .available = std::clamp(progress.spot_available, 0, machines_),
                        .spot = fleet_of(progress.spot, game_, terms.tick),
                        .on_demand = fleet_of(progress.on_demand, game_, terms.tick)};
  const Holding all{.spot = 0, .on_demand = machines_};
  if (state.parts_left <= 0) return choice_;
  if (state.tick >= game_.deadline || !is_safe(game_, state, all)) return all;
  Holding choice = policy_->choose(state);
  CHECK(choice.spot >= 0 && choice.on_demand >= 0);
  CHECK(choice.spot + choice.on_demand <= machines_);
  return is_safe(game_, state, choice) ? choice : all;
}

}  // namespace stint
