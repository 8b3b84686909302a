#include "simulate/synthetic_pool.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/check.h"
#include "base/normal.h"

namespace stint {
namespace {

double log_uniform(Random& random, double low, double high) {
  return low * std::pow(high / low, random.uniform());
}

/// The law of spells with this median and mean: mean = median · exp(spread² / 2).
SpellLaw law_with(Seconds median, Seconds mean) {
  return {median, std::sqrt(2 * std::log(mean / median))};
}

struct Laws {
  SpellLaw up;
  SpellLaw down;
};

Laws draw_laws(Random& random) {
  constexpr double kMeanOverMedian = 1.3;
  constexpr int kTries = 10'000;  // About one draw in three is valid.
  for (int i = 0; i < kTries; ++i) {
    const double available = random.uniform(0.15, 0.9);
    const Seconds up_mean = log_uniform(random, 0.8, 4.4) * kHour;
    const Seconds down_mean = (1 - available) / available * up_mean;
    const Seconds up_median = log_uniform(random, 0.3, 1.2) * kHour;
    const Seconds down_median = log_uniform(random, 0.2, 0.8) * kHour;
    if (down_mean < 0.5 * kHour || down_mean > 5 * kHour) continue;
    if (up_mean < kMeanOverMedian * up_median) continue;
    if (down_mean < kMeanOverMedian * down_median) continue;
    return {law_with(up_median, up_mean), law_with(down_median, down_mean)};
  }
  CHECK(false);
  return {};
}

/// Draws one spell after the other.
class Spells {
 public:
  Spells(PoolKind kind, const Laws& laws, Random& random)
      : kind_(kind),
        laws_(laws),
        random_(random),
        calm_(random.below(2) == 0),
        first_hour_(random.uniform(0, kDay.in(kHour))) {}

  /// The duration of a spell that begins at `time`.
  Seconds next(bool up, Seconds time) {
    const SpellLaw& law = up ? laws_.up : laws_.down;
    switch (kind_) {
      case PoolKind::kSteady:
        return drawn(law);
      case PoolKind::kDrifting:
        wandered_ = std::clamp(wandered_ + 0.1 * random_.normal(), -1.0, 1.0);
        return std::exp(up ? wandered_ : -wandered_) * drawn(law);
      case PoolKind::kDaily: {
        const double turns = (time.in(kHour) + first_hour_) * kHour / kDay;
        const double tide = 0.9 * std::sin(2 * std::numbers::pi * turns);
        return std::exp(up ? tide : -tide) * drawn(law);
      }
      case PoolKind::kRegimes:
        if (random_.uniform() < 0.08) calm_ = !calm_;
        if (up) return (calm_ ? 3 : 0.35) * drawn(law);
        return (calm_ ? 0.6 : 1.2) * drawn(law);
      case PoolKind::kPareto: {
        const double times = 0.5 * std::pow(1 - random_.uniform(), -1 / 1.1);
        return std::min(times * law.median, 40 * kHour);
      }
      case PoolKind::kEchoing:
        echo_ = 0.8 * echo_ + 0.6 * law.spread * random_.normal();
        return std::exp(echo_) * law.median;
      case PoolKind::kClockwork:
        return random_.uniform(2.7, 3.3) * law.median;
    }
    CHECK(false);
    return {};
  }

 private:
  Seconds drawn(const SpellLaw& law) {
    return std::exp(law.spread * random_.normal()) * law.median;
  }

  PoolKind kind_;
  Laws laws_;
  Random& random_;
  bool calm_;
  double first_hour_;
  double wandered_ = 0;
  double echo_ = 0;  // Logarithm of the last spell over its median.
};

/// Probabilities of leaving the phases of spells that last at least one tick and are else rounded.
std::vector<SpellPhase> phases_of(const SpellLaw& law, Seconds gap, int age_max) {
  // P(a spell has more than `age` ticks).
  const auto goes_on = [&](double age) {
    if (age == 0) return 1.0;
    const double deviations = std::log((age + 0.5) * gap / law.median) / law.spread;
    return std::max(1e-12, normal_distribution(-deviations));
  };
  std::vector<SpellPhase> phases;
  const std::vector<int> ages = phase_ages(age_max);
  for (std::size_t i = 0; i < ages.size(); ++i) {
    const double age = ages[i];
    const double ticks = i + 1 < ages.size() ? ages[i + 1] - age : std::max(1.0, age);
    const double stays = std::pow(goes_on(age + ticks) / goes_on(age), 1 / ticks);
    phases.push_back({ages[i], std::clamp(1 - stays, 1e-5, 0.98)});
  }
  return phases;
}

}  // namespace

std::span<const EnumName<PoolKind>> names_of(PoolKind) {
  static constexpr std::array<EnumName<PoolKind>, 7> kNames{{{PoolKind::kSteady, "steady"},
                                                             {PoolKind::kDrifting, "drifting"},
                                                             {PoolKind::kDaily, "daily"},
                                                             {PoolKind::kRegimes, "regimes"},
                                                             {PoolKind::kPareto, "pareto"},
                                                             {PoolKind::kEchoing, "echoing"},
                                                             {PoolKind::kClockwork, "clockwork"}}};
  return kNames;
}

SyntheticPool synthetic_pool(PoolKind kind, Random random, Seconds gap, int ticks) {
  const Laws laws = draw_laws(random);
  SyntheticPool pool{.kind = kind, .up = laws.up, .down = laws.down, .gap = gap, .counts = {}};
  const auto size = static_cast<std::size_t>(ticks);
  bool up = random.below(2) == 0;
  Spells spells(kind, laws, random);
  while (pool.counts.size() < size) {
    const Seconds spell = spells.next(up, static_cast<double>(pool.counts.size()) * gap);
    const double whole = std::max(1.0, std::round(spell / gap));
    const auto left = static_cast<double>(size - pool.counts.size());
    pool.counts.insert(pool.counts.end(), static_cast<std::size_t>(std::min(whole, left)),
                       up ? 1 : 0);
    up = !up;
  }
  return pool;
}

std::vector<SyntheticPool> synthetic_zones(PoolKind kind, int zones, const Random& random,
                                           Seconds gap, int ticks) {
  if (zones == 1) return {synthetic_pool(kind, random, gap, ticks)};
  std::vector<SyntheticPool> pools;
  for (int zone = 1; zone <= zones; ++zone) {
    const Random own = random.fork(static_cast<std::uint64_t>(zone));
    pools.push_back(synthetic_pool(kind, own, gap, ticks));
  }
  Random outages = random.fork(0);
  const double end = ticks;
  double tick = 0;
  while (true) {
    const double first = tick + outages.exponential() * (12 * kHour / gap);
    tick = first + std::exp(0.8 * outages.normal()) * (kHour / gap);
    if (!(first < end)) return pools;
    for (SyntheticPool& pool : pools) {
      for (double at = first; at < std::min(tick, end); ++at) {
        pool.counts[static_cast<std::size_t>(at)] = 0;
      }
    }
  }
}

PoolModel law_of(const SyntheticPool& pool, int age_max) {
  CHECK(pool.kind == PoolKind::kSteady);
  return {phases_of(pool.up, pool.gap, age_max), phases_of(pool.down, pool.gap, age_max)};
}

}  // namespace stint
