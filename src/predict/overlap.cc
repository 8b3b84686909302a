#include "predict/overlap.h"

#include <algorithm>
#include <vector>

#include "base/check.h"

namespace stint {
namespace {

/// The q buckets in flight share the link: each gets 1/q of it until one ends or a new one starts.
Seconds last_arrival_shared(std::span<const BucketTiming> buckets, std::size_t in_flight) {
  std::vector<Seconds> flying;  // What is left of each, alone on the link.
  std::size_t next = 0;
  Seconds now;
  while (next < buckets.size() || !flying.empty()) {
    while (next < buckets.size() && flying.size() < in_flight && buckets[next].ready <= now) {
      flying.push_back(buckets[next++].communication);
    }
    if (flying.empty()) {
      now = buckets[next].ready;
      continue;
    }
    const double sharers = static_cast<double>(flying.size());
    Seconds step = *std::min_element(flying.begin(), flying.end()) * sharers;
    const bool may_start = next < buckets.size() && flying.size() < in_flight;
    if (may_start) step = std::min(step, buckets[next].ready - now);
    now += step;
    for (Seconds& left : flying) left -= step / sharers;
    constexpr Seconds kDone = 1e-12 * kSecond;  // Rounding, far below any message.
    std::erase_if(flying, [&](Seconds left) { return left <= kDone; });
  }
  return now;
}

}  // namespace

Seconds last_arrival(std::span<const BucketTiming> buckets, int in_flight) {
  CHECK(in_flight >= 1);
  if (in_flight > 1) return last_arrival_shared(buckets, static_cast<std::size_t>(in_flight));
  Seconds end;
  for (const BucketTiming& bucket : buckets) {
    end = std::max(bucket.ready, end) + bucket.communication;
  }
  return end;
}

Seconds exposed_communication(std::span<const BucketTiming> buckets, int in_flight,
                              Seconds backward) {
  return std::max(Seconds{}, last_arrival(buckets, in_flight) - backward);
}

}  // namespace stint
