#include "risk/pool_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/normal.h"

namespace stint {
namespace {

// No spell ends or continues with certainty.
constexpr double kLeaveMin = 1e-5;
constexpr double kLeaveMax = 0.98;

// The prior: the middle of AWS GPU pools in 2022, where up-spells had medians of 0.3 to 1.2 hours
// and down-spells of 0.2 to 0.8 (Wu et al., NSDI'24).
const Seconds kUpMedian = 0.6 * kHour;
const Seconds kDownMedian = 0.4 * kHour;
constexpr double kMedianSpread = 1.2;  // Deviation of the logarithm of a pool's median.

constexpr double kGuessedEnds = 4;  // The prior weighs as much as that many ends in a phase.
constexpr double kOthersEnds = 10;  // Another pool's trace weighs as much as that many ends.
const Seconds kHalfForgotten = 48 * kHour;

/// One log-normal law of spells, and its likelihood.
struct Guess {
  std::vector<double> leave;  // Probability of the end of a spell, by phase.
  double log_weight = 0;
  double alive = 0;  // Weight × P(a spell lasts until the phase).
};

double ticks_of_phase(const std::vector<int>& ages, std::size_t phase) {
  return phase + 1 < ages.size() ? ages[phase + 1] - ages[phase] : std::max(1, ages[phase]);
}

/// The grid of laws, with their prior weights.
std::vector<Guess> guesses_of(const std::vector<int>& ages, double median_ticks) {
  std::vector<Guess> guesses;
  for (int step = -10; step <= 10; ++step) {
    for (const double spread : {0.7, 1.1, 1.5, 2.0, 2.6}) {
      const double deviation = 0.25 * step;
      const double median = std::max(0.3, median_ticks) * std::exp(kMedianSpread * deviation);
      // A spell that is observed at all lasts half a tick more or less.
      const auto lasts = [&](double ticks) {
        return std::max(1e-300, 1 - normal_distribution(std::log((ticks + 0.5) / median) / spread));
      };
      Guess guess;
      const double width = std::log(spread / 1.5) / 0.35;
      guess.log_weight = -0.5 * deviation * deviation - 0.5 * width * width;
      for (std::size_t i = 0; i < ages.size(); ++i) {
        const double ticks = ticks_of_phase(ages, i);
        const double stays = std::pow(lasts(ages[i] + ticks) / lasts(ages[i]), 1 / ticks);
        guess.leave.push_back(std::clamp(1 - stays, kLeaveMin, kLeaveMax));
      }
      guesses.push_back(std::move(guess));
    }
  }
  return guesses;
}

}  // namespace

std::vector<int> phase_ages(int age_max) {
  std::vector<int> ages;
  for (int age = 0; age <= age_max; age = std::max(age + 1, static_cast<int>(age * 1.42))) {
    ages.push_back(age);
  }
  return ages;
}

int phase_at(std::span<const SpellPhase> phases, int age) {
  const auto next = std::upper_bound(phases.begin(), phases.end(), age,
                                     [](int at, const SpellPhase& it) { return at < it.age; });
  return static_cast<int>(next - phases.begin()) - 1;
}

std::vector<double> ticks_to_go(std::span<const SpellPhase> phases) {
  std::vector<double> to_go(phases.size());
  double after = 0;
  for (std::size_t i = phases.size(); i-- > 0;) {
    const double stays = 1 - phases[i].leave;
    // A phase of n ticks passes into the next one with probability 1/n; the last one never does.
    const double step = i + 1 < phases.size() ? 1.0 / (phases[i + 1].age - phases[i].age) : 0;
    after = stays * (1 + step * after) / (1 - stays * (1 - step));
    to_go[i] = after;
  }
  return to_go;
}

PoolBelief::PoolBelief(Seconds gap, int age_max) : gap_(gap), ages_(phase_ages(age_max)) {
  std::size_t phase = 0;
  for (int age = 0; age <= age_max; ++age) {
    while (phase + 1 < ages_.size() && ages_[phase + 1] <= age) ++phase;
    phase_of_age_.push_back(static_cast<int>(phase));
  }
  const std::vector<double> none(ages_.size(), 0.0);
  up_side_ = {none, none, none, none, 0};
  down_side_ = up_side_;
  keep_ = std::exp2(-gap_ / kHalfForgotten);
}

void PoolBelief::count(Side& side, int age, bool leaves) {
  const std::size_t phase = static_cast<std::size_t>(
      phase_of_age_[std::min(static_cast<std::size_t>(age), phase_of_age_.size() - 1)]);
  side.ticks[phase] += 1;
  if (leaves) side.leaves[phase] += 1;
  if (leaves) side.ends += 1;
}

void PoolBelief::see(bool up) {
  if (!begun_) {
    begun_ = true;
    up_ = up;
    return;
  }
  for (Side* side : {&up_side_, &down_side_}) {
    for (double& ticks : side->ticks) ticks *= keep_;
    for (double& leaves : side->leaves) leaves *= keep_;
    side->ends *= keep_;
  }
  count(up_ ? up_side_ : down_side_, age_, up != up_);
  age_ = up == up_ ? age_ + 1 : 0;
  up_ = up;
}

void PoolBelief::learn_from(std::span<const int> counts, int machines) {
  PoolBelief other(gap_, ages_.back());
  other.keep_ = 1;
  for (const int count : counts) other.see(count >= machines);
  const auto add = [](const Side& from, Side& to) {
    const double weight = std::min(1.0, kOthersEnds / std::max(1.0, from.ends));
    for (std::size_t i = 0; i < from.ticks.size(); ++i) {
      to.others_ticks[i] += weight * from.ticks[i];
      to.others_leaves[i] += weight * from.leaves[i];
    }
  };
  add(other.up_side_, up_side_);
  add(other.down_side_, down_side_);
}

std::vector<SpellPhase> PoolBelief::predict(const Side& side, Seconds median) const {
  std::vector<Guess> guesses = guesses_of(ages_, median / gap_);
  double top = -std::numeric_limits<double>::infinity();
  for (Guess& guess : guesses) {
    for (std::size_t i = 0; i < ages_.size(); ++i) {
      const double leaves = side.leaves[i] + side.others_leaves[i];
      const double ticks = side.ticks[i] + side.others_ticks[i];
      guess.log_weight +=
          leaves * std::log(guess.leave[i]) + (ticks - leaves) * std::log1p(-guess.leave[i]);
    }
    top = std::max(top, guess.log_weight);
  }
  for (Guess& guess : guesses) guess.alive = std::exp(guess.log_weight - top);
  std::vector<SpellPhase> phases;
  for (std::size_t i = 0; i < ages_.size(); ++i) {
    double alive = 0;
    double left = 0;
    for (Guess& guess : guesses) {
      alive += guess.alive;
      left += guess.alive * guess.leave[i];
      guess.alive *= std::pow(1 - guess.leave[i], ticks_of_phase(ages_, i));
    }
    // Spells of this length are beyond the prior: they may well last longer.
    const double guessed = alive > 0 ? left / alive : kLeaveMin;
    const double leave = (side.leaves[i] + kGuessedEnds) / (side.ticks[i] + kGuessedEnds / guessed);
    phases.push_back({ages_[i], std::clamp(leave, kLeaveMin, kLeaveMax)});
  }
  return phases;
}

PoolModel PoolBelief::model() const {
  return {predict(up_side_, kUpMedian), predict(down_side_, kDownMedian)};
}

}  // namespace stint
