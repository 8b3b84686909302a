#pragma once

#include <algorithm>
#include <ctime>
#include <vector>

#include "base/clock.h"
#include "base/units.h"

namespace stint {

/// Time that processors spent on this process: the same whatever else runs on the machine, unlike
/// wall time.
inline Seconds processor_time() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec)) * kSecond;
}

/// A clock for those that time themselves.
class ProcessorClock : public Clock {
 public:
  Seconds now() const override { return processor_time(); }
};

/// What calls took.
struct ProcessorTime {
  Seconds median;
  Seconds min;
};

/// Times `body` in batches of `calls`; the first one, which warms the caches, counts as well.
template <class Body>
ProcessorTime processor_time_of(int batches, int calls, const Body& body) {
  std::vector<Seconds> times;
  for (int batch = 0; batch < batches; ++batch) {
    const Seconds start = processor_time();
    for (int call = 0; call < calls; ++call) body();
    times.push_back((processor_time() - start) / calls);
  }
  std::sort(times.begin(), times.end());
  return {.median = times[times.size() / 2], .min = times.front()};
}

}  // namespace stint
