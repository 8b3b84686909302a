#include "simulate/spot_supply.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"

namespace stint {

SampledSupply::SampledSupply(std::vector<SpotPool> pools) : pools_(std::move(pools)) {
  for (std::size_t i = 0; i < pools_.size(); ++i) {
    CHECK(pools_[i].count >= 0);
    pool_of_place_.insert(pool_of_place_.end(), static_cast<std::size_t>(pools_[i].count), i);
  }
}

const SpotPool& SampledSupply::pool_of(int place) const {
  return pools_[pool_of_place_[static_cast<std::size_t>(place)]];
}

Seconds SampledSupply::granted(int place, Seconds from, Random& random) const {
  const WaitForSpot& wait = pool_of(place).wait;
  if (from <= Seconds() || wait.at_once >= 1 || random.uniform() < wait.at_once) return from;
  return from +
         random.lognormal(wait.otherwise.mean.in(kSecond), wait.otherwise.deviation.in(kSecond)) *
             kSecond;
}

Seconds SampledSupply::lost(int place, Seconds /*granted*/, Seconds ready, Random& random) const {
  const SpotPool& pool = pool_of(place);
  const double together = pool.shock.share * pool.shock.chance * (pool.count - 1);
  return ready + pool.hazard.age_at(random.exponential() * (1 + together));
}

double SampledSupply::taken_along(int place, Random& random) const {
  const CommonShock& shock = pool_of(place).shock;
  return shock.share > 0 && random.uniform() < shock.share ? shock.chance : 0;
}

TraceSupply::TraceSupply(const AvailabilityTrace& trace, Seconds start)
    : trace_(trace), start_(start) {
  CHECK(!trace.counts.empty());
  CHECK(trace.gap > Seconds());
  CHECK(start >= Seconds());
}

Seconds TraceSupply::next(long tick, int place, bool more) const {
  const long ticks = static_cast<long>(trace_.counts.size());
  for (long i = tick; i < tick + ticks; ++i) {
    const bool has = trace_.counts[static_cast<std::size_t>(i % ticks)] > place;
    if (has == more) return static_cast<double>(i) * trace_.gap - start_;
  }
  return std::numeric_limits<double>::infinity() * kSecond;
}

Seconds TraceSupply::granted(int place, Seconds from, Random& /*random*/) const {
  const long tick = static_cast<long>(std::floor((start_ + from) / trace_.gap + 1e-9));
  return std::max(from, next(tick, place, true));
}

Seconds TraceSupply::lost(int place, Seconds granted, Seconds /*ready*/, Random& /*random*/) const {
  const long tick = static_cast<long>(std::floor((start_ + granted) / trace_.gap + 1e-9));
  return next(tick + 1, place, false);
}

double TraceSupply::taken_along(int /*place*/, Random& /*random*/) const { return 0; }

}  // namespace stint
