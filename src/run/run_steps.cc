#include "run/run_steps.h"

#include <algorithm>
#include <utility>

namespace stint {
namespace {

constexpr int kFirst = 11;          // Steps until a speed is known; see RunSpeed.
constexpr std::int64_t kLast = 16;  // More than a search looks ahead; see LiveSearch.

}  // namespace

bool RunSteps::add(int attempt, std::int64_t step, Seconds time, Seconds at, std::int64_t steps) {
  if (attempt != std::exchange(attempt_, attempt)) {
    reports_ = 0;
    times_.clear();  // Nobody wants to know of earlier workers any more.
  }
  ++reports_;
  last_ = step;
  at_ = at;
  times_.push_back(time);
  const bool ends = step <= steps && steps - step < kLast;
  return reports_ <= kFirst || ends;
}

std::optional<RunEvent> RunSteps::take() {
  if (times_.empty()) return std::nullopt;
  std::vector<Seconds> times = std::exchange(times_, {});
  RunEvent event{.kind = RunEventKind::kStepDone, .at = at_, .attempt = attempt_, .step = last_};
  if (times.size() > 1) event.steps = static_cast<int>(times.size());
  // The median, because one step that was held up says nothing about the speed.
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  event.duration = *middle;
  return event;
}

}  // namespace stint
