#include "measure/trace/trace_iterations.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace stint {
namespace {

struct Span {
  Seconds begin;
  Seconds end;

  bool holds(Seconds moment) const { return moment >= begin && moment < end; }
  Seconds length() const { return end - begin; }
};

/// A kernel and when it was launched.
struct Kernel {
  Seconds launch;
  Span runs;
};

/// Marks of one trace by kind, each in the order they start.
struct Marks {
  std::vector<TraceMark> all;   // But launches and kernels.
  std::vector<Kernel> kernels;  // In the order of their launches.
};

/// When each launch was, by its number; the first of several with one number. There may be
/// millions, mostly in order, for which a list takes a fraction of a map's time and memory.
class Launches {
 public:
  explicit Launches(const std::vector<TraceMark>& marks) {
    for (const TraceMark& mark : marks) {
      if (mark.kind == MarkKind::kLaunch) all_.emplace_back(*mark.number, mark.start);
    }
    if (!std::is_sorted(all_.begin(), all_.end(), by_number)) {
      std::stable_sort(all_.begin(), all_.end(), by_number);
    }
  }

  std::optional<Seconds> find(std::optional<std::int64_t> number) const {
    if (!number) return std::nullopt;
    const auto found =
        std::lower_bound(all_.begin(), all_.end(), Launch(*number, Seconds{}), by_number);
    if (found == all_.end() || found->first != *number) return std::nullopt;
    return found->second;
  }

 private:
  using Launch = std::pair<std::int64_t, Seconds>;
  static bool by_number(const Launch& a, const Launch& b) { return a.first < b.first; }

  std::vector<Launch> all_;
};

Marks sorted_marks(const std::vector<TraceMark>& marks) {
  Marks sorted;
  const Launches launches(marks);
  for (const TraceMark& mark : marks) {
    if (mark.kind == MarkKind::kKernel) {
      sorted.kernels.push_back({.launch = launches.find(mark.number).value_or(mark.start),
                                .runs = {mark.start, mark.end}});
    } else if (mark.kind != MarkKind::kLaunch) {
      sorted.all.push_back(mark);
    }
  }
  std::stable_sort(sorted.all.begin(), sorted.all.end(),
                   [](const TraceMark& a, const TraceMark& b) { return a.start < b.start; });
  const auto earlier = [](const Kernel& a, const Kernel& b) { return a.launch < b.launch; };
  std::sort(sorted.kernels.begin(), sorted.kernels.end(), earlier);
  return sorted;
}

std::vector<Span> spans_of(const std::vector<TraceMark>& marks, MarkKind kind) {
  std::vector<Span> spans;
  for (const TraceMark& mark : marks) {
    if (mark.kind == kind) spans.push_back({mark.start, mark.end});
  }
  return spans;
}

/// From the first begin to the last end.
std::optional<Span> hull(const std::vector<Span>& spans) {
  if (spans.empty()) return std::nullopt;
  Span all = spans.front();
  for (const Span& span : spans) {
    all.begin = std::min(all.begin, span.begin);
    all.end = std::max(all.end, span.end);
  }
  return all;
}

/// How long at least one of them lasts. Requires them in the order they begin.
Seconds covered(const std::vector<Span>& spans) {
  Seconds sum;
  std::optional<Seconds> until;
  for (const Span& span : spans) {
    const Seconds from = until ? std::max(*until, span.begin) : span.begin;
    if (span.end > from) sum += span.end - from;
    until = std::max(until.value_or(span.end), span.end);
  }
  return sum;
}

/// The stretches of time that are one iteration each.
std::vector<Span> windows_of(const std::vector<TraceMark>& marks, TraceRhythm& rhythm) {
  std::vector<Span> windows;
  for (const Span& step : spans_of(marks, MarkKind::kStep)) {
    // Steps follow each other but for rounding; one inside another is the same step told again,
    // and a file full of those must not be looked through once for each.
    if (windows.empty() || step.begin >= windows.back().begin + 0.5 * windows.back().length()) {
      windows.push_back(step);
    }
  }
  rhythm = TraceRhythm::kProfilerSteps;
  if (!windows.empty()) return windows;
  // An update inside another one, of a wrapper, is no iteration of its own.
  std::vector<Seconds> ends;
  for (const Span& update : spans_of(marks, MarkKind::kUpdate)) {
    if (ends.empty() || update.begin >= ends.back()) ends.push_back(update.end);
  }
  for (std::size_t i = 1; i < ends.size(); ++i) windows.push_back({ends[i - 1], ends[i]});
  rhythm = windows.empty() ? TraceRhythm::kNone : TraceRhythm::kUpdates;
  return windows;
}

Seconds forward_begin(const std::vector<TraceMark>& marks, const Span& window, Seconds backward) {
  Seconds begin = window.begin;
  for (const TraceMark& mark : marks) {
    if (mark.start >= backward) break;
    if (mark.kind == MarkKind::kForward) return mark.start;
    const bool before = mark.kind == MarkKind::kInput || mark.kind == MarkKind::kZero;
    if (before && mark.end <= backward) begin = std::max(begin, mark.end);
  }
  return begin;
}

std::optional<Bytes> bytes_of(const TraceMark& mark) {
  if (!mark.number) return std::nullopt;
  return static_cast<double>(*mark.number) * kByte;
}

/// The all-reduces of gradients, as the first kind of event that tells their bytes shows them.
std::vector<TraceReduction> reductions_of(const std::vector<TraceMark>& marks, const Span& backward,
                                          Seconds until) {
  std::vector<TraceReduction> without_bytes;
  for (const MarkKind kind : {MarkKind::kReduceCall, MarkKind::kReduceRecord, MarkKind::kReduceSend,
                              MarkKind::kReduceKernel}) {
    std::vector<TraceReduction> found;
    for (const TraceMark& mark : marks) {
      if (mark.kind != kind || mark.start < backward.begin || mark.start >= until) continue;
      const double done =
          backward.length() > Seconds{} ? (mark.start - backward.begin) / backward.length() : 1;
      found.push_back({.bytes = bytes_of(mark), .ready = std::min(done, 1.0)});
    }
    const bool told = std::all_of(found.begin(), found.end(),
                                  [](const TraceReduction& it) { return it.bytes.has_value(); });
    if (!found.empty() && told) return found;
    if (without_bytes.empty()) without_bytes = found;
  }
  return without_bytes;
}

std::optional<Bytes> gradients_of(const std::vector<TraceMark>& marks) {
  std::optional<Bytes> sum;
  for (const TraceMark& mark : marks) {
    if (mark.kind != MarkKind::kGradient) continue;
    const auto bytes = bytes_of(mark);
    if (!bytes) return std::nullopt;
    sum = sum.value_or(Bytes{}) + *bytes;
  }
  return sum;
}

std::optional<int> batch_of(const std::vector<TraceMark>& marks, Seconds forward) {
  for (const TraceMark& mark : marks) {
    if (mark.kind != MarkKind::kBatch || mark.start < forward) continue;
    const bool fits = *mark.number >= 1 && *mark.number <= std::numeric_limits<int>::max();
    return fits ? std::optional(static_cast<int>(*mark.number)) : std::nullopt;
  }
  return std::nullopt;
}

/// Puts times of kernels in the place of those of the processor, which only launches them.
void use_kernels(TraceIteration& iteration, const std::vector<Kernel>& kernels,
                 const Span& backward, const std::vector<Span>& updates) {
  std::vector<Span> forward_runs;
  std::vector<Span> backward_runs;
  std::vector<Span> update_runs;
  for (const Kernel& kernel : kernels) {
    const auto inside = [&](const Span& span) { return span.holds(kernel.launch); };
    if (kernel.launch < backward.begin) {
      forward_runs.push_back(kernel.runs);
    } else if (kernel.launch < backward.end) {
      backward_runs.push_back(kernel.runs);
    } else if (std::any_of(updates.begin(), updates.end(), inside)) {
      update_runs.push_back(kernel.runs);
    }
  }
  const auto replace = [](std::optional<Seconds>& time, const std::vector<Span>& runs) {
    if (const auto all = hull(runs)) time = all->length();
  };
  iteration.on_gpu = !backward_runs.empty();
  if (!iteration.on_gpu) return;
  replace(iteration.forward, forward_runs);
  replace(iteration.backward, backward_runs);
  replace(iteration.update, update_runs);
}

std::optional<Seconds> total(const std::vector<Span>& spans) {
  return spans.empty() ? std::nullopt : std::optional(covered(spans));
}

/// The iteration of `window`, if it has a backward pass. `marks` start within it.
std::optional<TraceIteration> iteration_of(const Span& window, const std::vector<TraceMark>& marks,
                                           const std::vector<Kernel>& kernels) {
  const auto backward = hull(spans_of(marks, MarkKind::kAutograd));
  if (!backward) return std::nullopt;
  const std::vector<Span> updates = spans_of(marks, MarkKind::kUpdate);
  const Seconds forward = forward_begin(marks, window, backward->begin);
  TraceIteration iteration{.time = window.length(),
                           .forward = backward->begin - forward,
                           .backward = backward->length(),
                           .update = total(updates),
                           .input = total(spans_of(marks, MarkKind::kInput)),
                           .communication = total(spans_of(marks, MarkKind::kReduceKernel)),
                           .gradients = gradients_of(marks),
                           .batch = batch_of(marks, forward)};
  if (!iteration.communication) {
    iteration.communication = total(spans_of(marks, MarkKind::kReduceSend));
  }
  Seconds until = window.end;
  for (const Span& update : updates) {
    if (update.begin >= backward->end) until = std::min(until, update.begin);
  }
  iteration.reductions = reductions_of(marks, *backward, until);
  use_kernels(iteration, kernels, *backward, updates);
  return iteration;
}

/// The part of `sorted` whose moments lie in `window`.
template <class T, class Moment>
std::vector<T> within(const std::vector<T>& sorted, const Span& window, Moment moment) {
  const auto before = [&](const T& it, Seconds limit) { return moment(it) < limit; };
  const auto begin = std::lower_bound(sorted.begin(), sorted.end(), window.begin, before);
  return {begin, std::lower_bound(begin, sorted.end(), window.end, before)};
}

}  // namespace

TraceIterations find_iterations(const TraceMarks& marks) {
  const Marks sorted = sorted_marks(marks.marks());
  TraceIterations found;
  for (const Span& window : windows_of(sorted.all, found.rhythm)) {
    const auto iteration = iteration_of(
        window, within(sorted.all, window, [](const TraceMark& it) { return it.start; }),
        within(sorted.kernels, window, [](const Kernel& it) { return it.launch; }));
    if (iteration) found.iterations.push_back(*iteration);
  }
  return found;
}

}  // namespace stint
