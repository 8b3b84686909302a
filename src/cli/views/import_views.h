#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/views/view.h"
#include "measure/trace/trace_iterations.h"

namespace stint {

inline std::span<const EnumName<TraceRhythm>> names_of(TraceRhythm /*type*/) {
  static constexpr EnumName<TraceRhythm> kNames[] = {{TraceRhythm::kNone, "nothing"},
                                                     {TraceRhythm::kProfilerSteps, "ProfilerStep"},
                                                     {TraceRhythm::kUpdates, "Optimizer.step"}};
  return kNames;
}

}  // namespace stint

namespace stint::cli {

struct TimingView {
  Seconds median;
  std::optional<Seconds> spread;
  std::optional<int> count;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, TimingView>& it) {
  walk.number("median_s", it.median, kSecond, "Median time.", Range::kNotNegative);
  walk.number("spread_s", it.spread, kSecond, "Robust standard deviation.", Range::kNotNegative);
  walk.field("count", it.count, "Number of measurements.", kCount);
}

/// `stint import trace`.
struct TraceImportView {
  static constexpr const char* kSchema = "stint.trace-import/1";
  static constexpr const char* kTitle = "What profiler traces say about a job";
  int files = 0;
  std::int64_t events = 0;
  int workers = 1;
  std::string workers_from;
  TraceRhythm iterations_from = TraceRhythm::kNone;
  std::string device;
  TimingView iteration;
  std::optional<TimingView> input;
  std::optional<TimingView> forward;
  std::optional<TimingView> backward;
  std::optional<TimingView> communication;
  std::optional<TimingView> update;
  std::optional<int> batch_per_worker;
  std::optional<std::int64_t> gradient_bytes;
  std::vector<std::string> notes;
  std::vector<std::string> not_found;
  std::optional<Json> job;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, TraceImportView>& it) {
  walk.field("files", it.files, "Number of traces.", kCount);
  walk.field("events", it.events, "Number of events in the traces.", kCount);
  walk.field("workers", it.workers, "Workers of the job.", kCount);
  walk.field("workers_from", it.workers_from, "Source of the number of workers.");
  walk.field("iterations_from", it.iterations_from, "Events that delimit iterations.");
  walk.field("device", it.device, "GPU of the catalogue, or processor.");
  walk.field("iteration", it.iteration, "Time of a whole iteration.");
  walk.field("input", it.input, "Waiting for data.");
  walk.field("forward", it.forward, "Forward pass.");
  walk.field("backward", it.backward, "Backward pass.");
  walk.field("communication", it.communication, "Time of the all-reduces.");
  walk.field("update", it.update, "Step of the trainer's optimizer.");
  walk.field("batch_per_worker", it.batch_per_worker, "Samples per worker and iteration.", kCount);
  walk.field("gradient_bytes", it.gradient_bytes, "Size of all gradients.", kCount);
  walk.field("notes", it.notes, "Remarks, as whole sentences.", kList);
  walk.field("not_found", it.not_found, "Quantities that the traces do not contain.", kList);
  walk.field("job", it.job, "Job profile, a stint.job/1 document.");
}

struct CollectiveView {
  std::string instance_type;
  int nodes = 1;
  int ranks = 1;
  std::string collective;
  std::int64_t bytes = 0;
  Seconds time;
  std::optional<Seconds> time_in_place;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, CollectiveView>& it) {
  walk.field("instance_type", it.instance_type, "VM type of the hosts.");
  walk.field("nodes", it.nodes, "Number of hosts.", kCount);
  walk.field("ranks", it.ranks, "Number of workers.", kCount);
  walk.field("collective", it.collective, "Name of the operation.");
  walk.field("bytes", it.bytes, "Payload of one rank.", kCount);
  walk.number("time_s", it.time, kSecond, "Time of the out-of-place collective.",
              Range::kNotNegative);
  walk.number("time_in_place_s", it.time_in_place, kSecond, "Time of the in-place collective.",
              Range::kNotNegative);
}

/// `stint import nccl`.
struct NcclImportView {
  static constexpr const char* kSchema = "stint.nccl-import/1";
  static constexpr const char* kTitle = "Collectives measured by nccl-tests";
  std::vector<CollectiveView> rows;
  int wrong = 0;
  std::vector<std::string> notes;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, NcclImportView>& it) {
  walk.field("rows", it.rows, "Measured collectives, in order.", kList);
  walk.field("wrong", it.wrong, "Lines left out because their results were wrong.", kCount);
  walk.field("notes", it.notes, "Remarks, as whole sentences.", kList);
}

/// `stint probes`.
struct ProbesView {
  static constexpr const char* kSchema = "stint.probes/1";
  static constexpr const char* kTitle = "The setups to measure first";
  std::map<std::string, std::vector<int>> rows;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, ProbesView>& it) {
  walk.field("rows", it.rows, "Rows of the table of setups, from 0, by job.",
             {.range = Range::kNotNegative, .always = true});
}

}  // namespace stint::cli
