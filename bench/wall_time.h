#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

#include "base/units.h"

namespace stint {

/// What one call took, over batches of calls.
struct WallTime {
  Seconds median;
  Seconds min;
};

inline Seconds wall_clock() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count() * kSecond;
}

/// Times `body` in batches of `calls`, after one call that warms the caches. The medians of
/// batches do not mind a neighbour who disturbs some of them.
template <class Body>
WallTime wall_time_of(int batches, int calls, const Body& body) {
  body();
  std::vector<Seconds> times;
  for (int batch = 0; batch < batches; ++batch) {
    const Seconds start = wall_clock();
    for (int call = 0; call < calls; ++call) body();
    times.push_back((wall_clock() - start) / calls);
  }
  std::sort(times.begin(), times.end());
  return {.median = times[times.size() / 2], .min = times.front()};
}

}  // namespace stint
