#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "measure/trace/trace_marks.h"

namespace stint {

/// An all-reduce of gradients within an iteration.
struct TraceReduction {
  std::optional<Bytes> bytes;  // Absent: the trace does not tell.
  double ready = 1;            // Fraction of backward that was done when it was asked for.
};

/// One iteration of a training loop. Parts that the trace does not show are absent.
struct TraceIteration {
  Seconds time;
  std::optional<Seconds> forward;
  std::optional<Seconds> backward;
  std::optional<Seconds> update;
  std::optional<Seconds> input;          // Waiting for data.
  std::optional<Seconds> communication;  // While an all-reduce ran.
  std::optional<Bytes> gradients;        // As the backward pass added them up.
  std::optional<int> batch;
  std::vector<TraceReduction> reductions;  // In the order they were asked for.
  bool on_gpu = false;                     // The parts are times of kernels.
};

/// How the iterations were told apart.
enum class TraceRhythm { kNone, kProfilerSteps, kUpdates };

struct TraceIterations {
  TraceRhythm rhythm = TraceRhythm::kNone;
  std::vector<TraceIteration> iterations;
};

/// Finds the iterations with a backward pass. They are the ProfilerStep#N annotations or, without
/// any, what lies between the ends of two Optimizer.step events.
///
/// Within one, backward lasts from the first to the last autograd node. Forward begins with the
/// model's own event, else when the data was there and the gradients were zeroed, and ends where
/// backward begins. With kernels, each part lasts from its first kernel's start to its last one's
/// end, and a kernel belongs to the part that launched it. An all-reduce between the begin of
/// backward and the update carries gradients.
TraceIterations find_iterations(const TraceMarks& marks);

}  // namespace stint
