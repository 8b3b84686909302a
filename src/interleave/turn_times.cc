#include "interleave/turn_times.h"

#include <algorithm>

#include "base/check.h"

namespace stint {

Seconds serial_time(const TurnTimes& job) { return job.compute + job.sync + job.rest; }

Seconds shared_period(std::span<const TurnTimes> jobs) {
  TurnTimes sum;
  Seconds longest;
  for (const TurnTimes& job : jobs) {
    sum.compute += job.compute;
    sum.sync += job.sync;
    longest = std::max(longest, serial_time(job));
  }
  return std::max({sum.compute, sum.sync, longest});
}

Seconds rhythm_bound(const TurnTimes& often, const TurnTimes& seldom, int turns,
                     LinkSharing sharing) {
  CHECK(turns >= 1);
  const double m = turns;
  const Seconds compute_gap = often.sync + often.rest;
  const Seconds sync_gap = often.compute + often.rest;
  Seconds bound =
      std::max({m * often.compute + seldom.compute, m * often.sync + seldom.sync,
                m * serial_time(often), serial_time(seldom),
                m * often.compute + (m - 1) * compute_gap + std::max(compute_gap, seldom.compute)});
  if (sharing == LinkSharing::kFirstCome) {
    bound = std::max(bound, m * often.sync + (m - 1) * sync_gap + std::max(sync_gap, seldom.sync));
  }
  return bound;
}

TurnTerms terms_of(SharingMode mode) {
  CHECK(mode != SharingMode::kSeparately);
  return {.order = mode == SharingMode::kFreely ? TurnOrder::kSlices : TurnOrder::kRhythm,
          .overlap = mode != SharingMode::kWhole};
}

}  // namespace stint
