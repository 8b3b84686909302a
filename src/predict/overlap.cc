#include "predict/overlap.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/check.h"

namespace stint {
namespace {

/// A bucket on its way.
struct Flight {
  Seconds latency;  // What is left of it, then
  Seconds left;     // of the time alone on the link.
};

/// The buckets on the link share it: each gets an even part until one ends, joins or starts.
class SharedLink {
 public:
  std::size_t flying() const { return flights_.size(); }

  void start(const BucketTiming& bucket) {
    flights_.push_back({.latency = bucket.latency, .left = bucket.communication});
  }

  /// Until the next bucket joins or ends, if nothing starts before.
  Seconds next_change() const {
    Seconds soonest = kNever;
    for (const Flight& it : flights_) {
      soonest = std::min(soonest, it.latency > kDone ? it.latency : it.left * sharers());
    }
    return soonest;
  }

  void advance(Seconds time) {
    const Seconds moved = time / std::max(1.0, sharers());
    for (Flight& it : flights_) {
      if (it.latency > kDone) {
        it.latency -= time;
      } else {
        it.left -= moved;
      }
    }
    std::erase_if(flights_,
                  [](const Flight& it) { return it.latency <= kDone && it.left <= kDone; });
  }

 private:
  static constexpr Seconds kNever = std::numeric_limits<double>::infinity() * kSecond;
  static constexpr Seconds kDone = 1e-12 * kSecond;  // Rounding, far below any message.

  double sharers() const {
    return static_cast<double>(std::count_if(flights_.begin(), flights_.end(),
                                             [](const auto& it) { return it.latency <= kDone; }));
  }

  std::vector<Flight> flights_;
};

Seconds last_arrival_shared(std::span<const BucketTiming> buckets, std::size_t in_flight) {
  SharedLink link;
  std::size_t next = 0;
  Seconds now;
  while (next < buckets.size() || link.flying() > 0) {
    const bool may_start = next < buckets.size() && link.flying() < in_flight;
    if (may_start && buckets[next].ready <= now) {
      link.start(buckets[next++]);
      continue;
    }
    if (link.flying() == 0) {
      now = buckets[next].ready;
      continue;
    }
    Seconds step = link.next_change();
    if (may_start) step = std::min(step, buckets[next].ready - now);
    now += step;
    link.advance(step);
  }
  return now;
}

}  // namespace

Seconds last_arrival(std::span<const BucketTiming> buckets, int in_flight) {
  CHECK(in_flight >= 1);
  if (in_flight > 1) return last_arrival_shared(buckets, static_cast<std::size_t>(in_flight));
  Seconds end;
  for (const BucketTiming& bucket : buckets) {
    end = std::max(bucket.ready, end) + bucket.latency + bucket.communication;
  }
  return end;
}

Seconds exposed_communication(std::span<const BucketTiming> buckets, int in_flight,
                              Seconds backward) {
  return std::max(Seconds{}, last_arrival(buckets, in_flight) - backward);
}

}  // namespace stint
