#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.h"
#include "measure/trace/trace_event.h"

namespace stint {

/// What an event tells of a training loop.
enum class MarkKind : std::uint8_t {
  kStep,          // ProfilerStep#N: one iteration.
  kForward,       // The model's forward pass.
  kAutograd,      // One node of the backward pass.
  kGradient,      // A gradient was added up; its bytes.
  kUpdate,        // Optimizer.step.
  kZero,          // Optimizer.zero_grad.
  kInput,         // Waiting for the data loader.
  kBatch,         // An operator whose input has one row per sample; the rows.
  kReduceCall,    // An all-reduce is asked for; its bytes in this and the next three.
  kReduceRecord,  // PyTorch's own record of it.
  kReduceSend,    // It runs, as seen by the processor.
  kReduceKernel,  // It runs on the GPU.
  kLaunch,        // A kernel is launched; its correlation.
  kKernel,        // A kernel runs, all-reduces aside; its correlation.
};

/// One event, as far as we need it.
struct TraceMark {
  MarkKind kind = MarkKind::kStep;
  Seconds start;
  Seconds end;
  std::optional<std::int64_t> number = {};  // What the kind says; absent: the event does not.
};

/// The marks of one trace. What it holds is bounded: marks beyond `kMarksMax` are counted only.
class TraceMarks {
 public:
  /// 160 MB of them; a trace of 1 GB has some two million kernels and launches.
  static constexpr std::size_t kMarksMax = 4'000'000;

  void add(const TraceEvent& event);

  /// In the order they were added.
  const std::vector<TraceMark>& marks() const { return marks_; }
  std::size_t dropped() const { return dropped_; }
  /// Ranks of the largest collective.
  std::optional<int> group_size() const { return group_size_; }
  /// Some messages were taken as of four bytes an element, because no type is told.
  bool assumed_types() const { return assumed_types_; }
  /// The loop loads its data itself, so that what it waits for is the whole work of loading.
  bool loads_itself() const { return loads_itself_; }

 private:
  std::optional<TraceMark> mark_of(const TraceEvent& event);
  std::optional<TraceMark> reduction_of(const TraceEvent& event);
  std::optional<std::int64_t> message_bytes(const TraceEvent& event);

  std::vector<TraceMark> marks_;
  std::size_t dropped_ = 0;
  std::optional<int> group_size_;
  bool assumed_types_ = false;
  bool loads_itself_ = false;
};

}  // namespace stint
