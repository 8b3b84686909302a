#include "risk/cluster_table.h"

#include <array>
#include <cmath>
#include <utility>

#include "base/check.h"

namespace stint {
namespace {

constexpr float kNever = 1e30F;
constexpr int kMoves = 5;

}  // namespace

std::vector<double> machine_ticks(const CountModel& model, int ticks) {
  const int counts = model.machines + 1;
  std::vector<double> sum(static_cast<std::size_t>(counts), 0.0);
  std::vector<double> longer(sum);
  for (int tick = 0; tick < ticks; ++tick) {
    for (int now = 0; now < counts; ++now) {
      double after = 0;
      for (int then = 0; then < counts; ++then) {
        after += model.probability(now, then) * sum[static_cast<std::size_t>(then)];
      }
      longer[static_cast<std::size_t>(now)] = now + after;
    }
    std::swap(sum, longer);
  }
  return sum;
}

CountBelief::CountBelief(int machines)
    : machines_(machines), seen_(CountModel{machines, {}}.cell(machines + 1, 0), 0.0) {}

void CountBelief::see(int count) {
  count = std::min(count, machines_);
  if (last_ >= 0) {
    seen_[CountModel{machines_, {}}.cell(last_, count)] += 1;
    ticks_ += 1;
  }
  last_ = count;
}

void CountBelief::learn_from(std::span<const int> counts, double weight_ticks) {
  CountBelief other(machines_);
  for (const int count : counts) other.see(count);
  const double weight = other.ticks_ > weight_ticks ? weight_ticks / other.ticks_ : 1;
  for (std::size_t i = 0; i < seen_.size(); ++i) seen_[i] += weight * other.seen_[i];
}

CountModel CountBelief::model() const {
  const int size = machines_ + 1;
  CountModel model{machines_, std::vector<double>(seen_.size())};
  // Prior: a count stays with this probability, and else changes by few.
  constexpr double kStay = 0.95;
  constexpr double kFewer = 0.6;
  constexpr double kPriorTicks = 20;
  for (int now = 0; now < size; ++now) {
    const auto at = [&](int then) { return model.cell(now, then); };
    double moves = 0;
    double seen = 0;
    for (int then = 0; then < size; ++then) {
      if (then != now) moves += std::pow(kFewer, std::abs(then - now));
      seen += seen_[at(then)];
    }
    for (int then = 0; then < size; ++then) {
      const double guess =
          then == now ? kStay : (1 - kStay) * std::pow(kFewer, std::abs(then - now)) / moves;
      model.next[at(then)] = (seen_[at(then)] + kPriorTicks * guess) / (seen + kPriorTicks);
    }
  }
  return model;
}

Holding holding_of(const DeadlineGame& game, ClusterMove move, int available, int on_demand) {
  switch (move) {
    case ClusterMove::kWait:
      return {0, 0};
    case ClusterMove::kSpot:
      return {available, 0};
    case ClusterMove::kFill:
      return {available, game.machines - available};
    case ClusterMove::kFillBeside: {
      const int spot = std::min(available, game.machines - on_demand);
      return {spot, game.machines - spot};
    }
    case ClusterMove::kAllOnDemand:
      return {0, game.machines};
  }
  return {};
}

class ClusterTable::Solver {
 public:
  Solver(ClusterTable& table, const CountModel& pool)
      : table_(table),
        pool_(pool),
        game_(table.game_),
        counts_(game_.machines + 1),
        states_(static_cast<int>(table.states())),
        width_(static_cast<std::size_t>(table.grid_) + 2),
        after_(table.counts() * table.states() * width_, kNever),
        now_(after_),
        expected_(table.states() * width_),
        best_(width_),
        moves_(width_) {
    for (auto* values : {&after_, &now_}) {
      for (std::size_t at = 0; at < values->size(); at += width_) (*values)[at] = 0;
    }
  }

  void run() {
    for (int left = 1; left <= game_.deadline; ++left) {
      last_ = static_cast<std::size_t>(std::min(table_.grid_, left));
      for (int available = 0; available < counts_; ++available) {
        expect(available);
        for (int state = 0; state < states_; ++state) decide(available, state);
      }
      std::swap(after_, now_);
    }
    for (int available = 0; available < counts_; ++available) {
      table_.values_.push_back(value(after_, available, 0)[game_.work]);
    }
  }

 private:
  float* value(std::vector<float>& values, int available, int state) {
    const std::size_t row =
        static_cast<std::size_t>(available) * table_.states() + static_cast<std::size_t>(state);
    return values.data() + row * width_;
  }
  float* expected(std::size_t state) { return expected_.data() + state * width_; }

  Holding held(int state) const {
    if (state <= game_.machines) return {state, 0};
    const int spot = state - game_.machines - 1;
    return {spot, game_.machines - spot};
  }

  /// Expected costs after this tick by the machines held, for all that can be held now.
  void expect(int available) {
    for (int state = 0; state < states_; ++state) {
      const Holding holding = held(state);
      const bool can_be = holding.on_demand > 0 ? holding.spot <= available
                                                : holding.spot == 0 || holding.spot == available;
      if (!can_be) continue;
      float* into = expected(static_cast<std::size_t>(state));
      std::fill(into, into + last_ + 1, 0.0F);
      for (int then = 0; then < counts_; ++then) {
        const float probability = static_cast<float>(pool_.probability(available, then));
        const float* from = value(after_, then, state);
        for (std::size_t w = 0; w <= last_; ++w) into[w] += probability * from[w];
      }
      std::fill(into + last_ + 1, into + width_, kNever);
      into[0] = 0;
    }
  }

  void decide(int available, int state) {
    const Holding before = held(state);
    std::fill(best_.begin(), best_.end(), 2 * kNever);
    const int spot_kept = std::min(before.spot, available);
    for (int index = kMoves - 1; index >= 0; --index) {
      const auto move = static_cast<ClusterMove>(index);
      const Holding next = holding_of(game_, move, available, before.on_demand);
      const int fresh =
          std::max(0, next.spot - spot_kept) + std::max(0, next.on_demand - before.on_demand);
      const double progress =
          (next.spot + next.on_demand - static_cast<double>(fresh) * game_.changeover) /
          game_.machines;
      weigh(index, expected(table_.state_of(next)), progress,
            static_cast<float>(next.spot + game_.price_ratio * next.on_demand));
    }
    float* values = value(now_, available, state);
    std::copy(best_.begin() + 1, best_.begin() + static_cast<std::ptrdiff_t>(last_) + 1,
              values + 1);
    keep_runs();
  }

  /// Replaces the best move so far if this one is cheaper. After it the work left is w − progress,
  /// between two points of the grid.
  void weigh(int index, const float* after, double progress, float price) {
    const double down = std::floor(-progress);
    const float part = static_cast<float>(-progress - down);
    const auto shift = static_cast<std::ptrdiff_t>(down);
    const auto width = static_cast<std::ptrdiff_t>(width_);
    for (std::size_t w = 1; w <= last_; ++w) {
      const std::ptrdiff_t low = static_cast<std::ptrdiff_t>(w) + shift;
      const float below = low <= 0 ? 0 : low < width ? after[low] : kNever;
      const float above = low + 1 <= 0 ? 0 : low + 1 < width ? after[low + 1] : kNever;
      const float cost = price + (part > 1e-6F ? below + part * (above - below) : below);
      if (cost < best_[w]) {
        best_[w] = cost;
        moves_[w] = static_cast<std::uint8_t>(index);
      }
    }
  }

  void keep_runs() {
    table_.rows_.push_back(static_cast<std::uint32_t>(table_.runs_.size()));
    int last = -1;
    for (std::size_t w = 1; w <= last_; ++w) {
      if (moves_[w] == last) continue;
      last = moves_[w];
      table_.runs_.push_back(static_cast<std::uint32_t>(w * 8) + moves_[w]);
    }
  }

  ClusterTable& table_;
  const CountModel& pool_;
  const DeadlineGame& game_;
  int counts_;
  int states_;
  std::size_t width_;
  std::size_t last_ = 0;
  std::vector<float> after_;
  std::vector<float> now_;
  std::vector<float> expected_;
  std::vector<float> best_;
  std::vector<std::uint8_t> moves_;
};

namespace {

/// Ticks up to which work left is discretised.
int grid_of(const DeadlineGame& game) {
  return std::max(game.work + game.changeover + 1, game.deadline);
}

}  // namespace

double cluster_table_cells(const DeadlineGame& game) {
  const double counts = game.machines + 1.0;
  return counts * (2 * counts) * (grid_of(game) + 2.0);
}

ClusterTable::ClusterTable(const DeadlineGame& game, const CountModel& pool)
    : game_(game), grid_(grid_of(game)) {
  CHECK(pool.machines == game.machines && game.work >= 1 && game.deadline >= 1);
  Solver(*this, pool).run();
  rows_.push_back(static_cast<std::uint32_t>(runs_.size()));
}

std::size_t ClusterTable::state_of(const Holding& held) const {
  const auto spot = static_cast<std::size_t>(held.spot);
  return held.on_demand == 0 ? spot : counts() + spot;
}

ClusterMove ClusterTable::move(int ticks_left, int parts_left, int available,
                               const Holding& before) const {
  const int left = std::clamp((parts_left + game_.machines - 1) / game_.machines, 1,
                              std::min(grid_, ticks_left));
  const std::size_t situation =
      static_cast<std::size_t>(ticks_left - 1) * counts() + static_cast<std::size_t>(available);
  const std::size_t at = situation * states() + state_of(before);
  const auto begin = runs_.begin() + rows_[at];
  const auto end = runs_.begin() + rows_[at + 1];
  const auto next = std::upper_bound(begin, end, static_cast<std::uint32_t>(left * 8 + 7));
  CHECK(next != begin);
  return static_cast<ClusterMove>(*std::prev(next) & 7U);
}

std::size_t ClusterTable::size() const {
  return (rows_.size() + runs_.size()) * sizeof(std::uint32_t);
}

}  // namespace stint
