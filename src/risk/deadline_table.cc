#include "risk/deadline_table.h"

#include <algorithm>

#include "base/check.h"

namespace stint {
namespace {

/// The cost of a missed deadline; multiplied by the smallest probability it still exceeds any cost.
constexpr float kNever = 1e30F;

}  // namespace

/// Holds the values of two ticks while the table is filled.
class DeadlineTable::Solver {
 public:
  Solver(DeadlineTable& table)
      : table_(table),
        kinds_(1 + 2 * static_cast<std::size_t>(table.set_ups_)),
        width_(static_cast<std::size_t>(table.game_.work) + 1),
        phases_(table.pool_.up.size()),
        after_(2 * phases_ * kinds_ * width_, kNever),
        now_(after_),
        expected_(kinds_ * width_),
        moves_(width_) {
    for (auto* values : {&after_, &now_}) {
      for (std::size_t at = 0; at < values->size(); at += width_) (*values)[at] = 0;
    }
  }

  void run() {
    const DeadlineGame& game = table_.game_;
    for (int left = 1; left <= game.deadline; ++left) {
      // Less work than this cannot be left at this tick, and more cannot be done in time.
      first_ = static_cast<std::size_t>(std::max(1, game.work - (game.deadline - left)));
      last_ = static_cast<std::size_t>(std::min(game.work, left));
      for (const bool up : {false, true}) {
        for (std::size_t phase = 0; phase < phases_; ++phase) {
          expect(up, phase);
          decide(up, phase);
        }
      }
      std::swap(after_, now_);
    }
    const std::size_t whole = static_cast<std::size_t>(game.work);
    table_.value_up_ = value(after_, true, 0, 0)[whole];
    table_.value_down_ = value(after_, false, 0, 0)[whole];
  }

 private:
  float* value(std::vector<float>& values, bool up, std::size_t phase, std::size_t kind) {
    return values.data() + (((up ? phases_ : 0) + phase) * kinds_ + kind) * width_;
  }
  std::size_t spot(int set_up_left) const { return 1 + static_cast<std::size_t>(set_up_left); }
  std::size_t on_demand(int set_up_left) const {
    return 1 + static_cast<std::size_t>(table_.set_ups_ + set_up_left);
  }

  /// Expected cost after this tick, by the machine held next.
  void expect(bool up, std::size_t phase) {
    const auto& phases = up ? table_.pool_.up : table_.pool_.down;
    const std::size_t next = std::min(phase + 1, phases_ - 1);
    const float leave = static_cast<float>(phases[phase].leave);
    // A phase of n ticks passes into the next one with probability 1/n.
    const float step =
        next == phase ? 0 : 1.0F / static_cast<float>(phases[next].age - phases[phase].age);
    const float on = (1 - leave) * step;
    const float stay = (1 - leave) * (1 - step);
    const float stands_in = up ? leave * static_cast<float>(table_.pool_.stand_in) : 0;
    const float gone = leave - stands_in;
    for (std::size_t kind = 0; kind < kinds_; ++kind) {
      const bool is_spot = kind >= spot(0) && kind < on_demand(0);
      // Without spot in this tick no spot machine is held in the next.
      if (is_spot && !up) continue;
      const float* same = value(after_, up, phase, kind);
      const float* further = value(after_, up, next, kind);
      const float* other = value(after_, !up, 0, is_spot ? 0 : kind);
      float* into = expected_.data() + kind * width_;
      for (std::size_t w = first_ - 1; w <= last_; ++w) {
        into[w] = stay * same[w] + on * further[w] + gone * other[w];
      }
      if (stands_in == 0) continue;
      const float* stand_in = value(after_, true, 0, is_spot ? 0 : kind);
      for (std::size_t w = first_ - 1; w <= last_; ++w) into[w] += stands_in * stand_in[w];
    }
  }

  /// The cost of one tick on a machine and of all later ones; the machine has `left` ticks of
  /// set-up left.
  struct Held {
    const float* after;
    float price;
  };
  Held held(bool on_spot, int left) const {
    const int next = std::max(0, left - 1);
    const float* row = expected_.data() + (on_spot ? spot(next) : on_demand(next)) * width_;
    return {left > 0 ? row : row - 1,
            on_spot ? 1.0F : static_cast<float>(table_.game_.price_ratio)};
  }

  void decide(bool up, std::size_t phase) {
    const int changeover = table_.game_.changeover;
    const float* wait = expected_.data();
    const Held new_on_demand = held(false, changeover);
    // Without spot the move has the cost of an impossible one.
    const Held new_spot = up ? held(true, changeover) : Held{wait, kNever};
    for (std::size_t kind = 0; kind < kinds_; ++kind) {
      const bool is_spot = kind >= spot(0) && kind < on_demand(0);
      if (is_spot && !up) {
        table_.rows_.push_back(static_cast<std::uint32_t>(table_.runs_.size()));
        continue;
      }
      const Held on =
          kind >= on_demand(0) ? held(false, static_cast<int>(kind - on_demand(0))) : new_on_demand;
      const Held off = is_spot ? held(true, static_cast<int>(kind - spot(0))) : new_spot;
      choose(wait, off, on, value(now_, up, phase, kind));
      keep_runs();
    }
  }

  void choose(const float* wait, Held off, Held on, float* best) {
    std::uint8_t* moves = moves_.data();
    for (std::size_t w = first_; w <= last_; ++w) {
      const float by_spot = off.price + off.after[w];
      const float by_on_demand = on.price + on.after[w];
      const float waiting = wait[w];
      float least = by_spot;
      std::uint8_t move = static_cast<std::uint8_t>(Move::kSpot);
      move = waiting < least ? static_cast<std::uint8_t>(Move::kWait) : move;
      least = waiting < least ? waiting : least;
      move = by_on_demand <= least ? static_cast<std::uint8_t>(Move::kOnDemand) : move;
      least = by_on_demand <= least ? by_on_demand : least;
      best[w] = least;
      moves[w] = move;
    }
  }

  void keep_runs() {
    table_.rows_.push_back(static_cast<std::uint32_t>(table_.runs_.size()));
    int last = -1;
    for (std::size_t w = first_; w <= last_; ++w) {
      if (moves_[w] == last) continue;
      last = moves_[w];
      table_.runs_.push_back(static_cast<std::uint32_t>(w * 4) + moves_[w]);
    }
  }

  DeadlineTable& table_;
  std::size_t kinds_;
  std::size_t width_;
  std::size_t phases_;
  std::size_t first_ = 1;
  std::size_t last_ = 0;
  std::vector<float> after_;
  std::vector<float> now_;
  std::vector<float> expected_;
  std::vector<std::uint8_t> moves_;
};

DeadlineTable::DeadlineTable(const DeadlineGame& game, const PoolModel& pool)
    : game_(game), pool_(pool), set_ups_(std::max(1, game.changeover)) {
  CHECK(game.machines == 1 && game.work >= 1 && game.deadline >= 1);
  CHECK(!pool.up.empty() && pool.up.size() == pool.down.size());
  // Were it certain, the deadline would depend on it.
  CHECK(pool.stand_in >= 0 && pool.stand_in <= 0.99);
  Solver(*this).run();
  rows_.push_back(static_cast<std::uint32_t>(runs_.size()));
}

std::size_t DeadlineTable::row(int ticks_left, bool up, int phase, const Machine& machine) const {
  const int phases = static_cast<int>(pool_.up.size());
  const int kinds = 1 + 2 * set_ups_;
  int kind = 0;
  if (machine.kind == Machine::Kind::kSpot) kind = 1 + machine.set_up_left;
  if (machine.kind == Machine::Kind::kOnDemand) kind = 1 + set_ups_ + machine.set_up_left;
  const int spell = ((ticks_left - 1) * 2 + (up ? 1 : 0)) * phases + phase;
  return static_cast<std::size_t>(spell) * static_cast<std::size_t>(kinds) +
         static_cast<std::size_t>(kind);
}

Move DeadlineTable::move(int ticks_left, int work_left, bool up, int phase,
                         const Machine& machine) const {
  CHECK(work_left > 0 && work_left <= ticks_left && ticks_left <= game_.deadline);
  const std::size_t at = row(ticks_left, up, phase, machine);
  const auto begin = runs_.begin() + rows_[at];
  const auto end = runs_.begin() + rows_[at + 1];
  const auto next = std::upper_bound(begin, end, static_cast<std::uint32_t>(work_left * 4 + 3));
  CHECK(next != begin);
  return static_cast<Move>(*std::prev(next) & 3U);
}

std::size_t DeadlineTable::size() const {
  return (rows_.size() + runs_.size()) * sizeof(std::uint32_t);
}

}  // namespace stint
