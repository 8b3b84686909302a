#include "measure/trace/timing_of.h"

#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "base/text.h"

namespace stint {

Seconds to_nanosecond(Seconds time) {
  constexpr double kNanoseconds = 1e6;  // In a millisecond, the unit that most times print in.
  const double milliseconds = time.in(kMillisecond);
  return std::round(milliseconds * kNanoseconds) / kNanoseconds * kMillisecond;
}

Seconds profile_time(Seconds time) {
  // By way of the text, whose digits are then those that are written.
  const auto digits = parse_double(fmt::format("{:.4g}", to_nanosecond(time).in(kMillisecond)));
  return digits ? *digits * kMillisecond : time;
}

Timing profile_timing(Timing timing) {
  timing.median = profile_time(timing.median);
  if (timing.spread) timing.spread = profile_time(*timing.spread);
  return timing;
}

Timing timing_of(std::vector<Seconds> times) {
  constexpr double kNormal = 1.4826;
  const int count = static_cast<int>(times.size());
  const Seconds middle = median_of(times);
  for (Seconds& time : times) time = std::max(time - middle, middle - time);
  const Seconds spread = kNormal * median_of(std::move(times));
  return {.median = to_nanosecond(middle), .spread = to_nanosecond(spread), .count = count};
}

}  // namespace stint
