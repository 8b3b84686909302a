#include "converge/level.h"

namespace stint {

bool reaches(double metric, const Level& level) {
  return level.lower_is_better ? metric <= level.value : metric >= level.value;
}

std::optional<double> moment_of(std::span<const MetricPoint> run, const Level& level) {
  double best = 0;
  for (std::size_t i = 0; i < run.size(); ++i) {
    const MetricPoint& it = run[i];
    if (reaches(it.metric, level)) {
      if (i == 0) return it.moment;
      const double before = run[i - 1].moment;
      return before + (it.moment - before) * (level.value - best) / (it.metric - best);
    }
    const bool better = i == 0 || (level.lower_is_better ? it.metric < best : it.metric > best);
    if (better) best = it.metric;
  }
  return std::nullopt;
}

}  // namespace stint
