#pragma once

#include <optional>
#include <string>
#include <vector>

#include "job/job.h"
#include "measure/trace/trace_iterations.h"

namespace stint {

/// The trace of one rank.
struct RankTrace {
  std::string source;  // Its file.
  std::size_t events = 0;
  TraceHeader header;
  TraceIterations found;
  std::optional<int> group_size;
  bool assumed_types = false;
  bool loads_itself = false;
  std::size_t dropped = 0;  // Marks that did not fit.
};

/// What the user knows better than the trace.
struct TraceHints {
  std::string name;    // Of the job.
  std::string device;  // A gpu of the catalogue or a processor; empty: by the trace.
  std::optional<int> batch_per_worker;
  std::optional<Bytes> gradients;
};

/// Something that a trace does not tell.
struct TraceGap {
  std::string what;
  std::string advice;  // Empty: there is nothing to be done.
};

/// What the traces of a job tell, over all iterations of all ranks.
struct TraceProfile {
  std::size_t events = 0;
  int files = 0;
  int workers = 1;
  std::string workers_from;  // What told their number.
  TraceRhythm rhythm = TraceRhythm::kNone;
  bool on_gpu = false;
  std::string device;
  Timing iteration;
  std::optional<Timing> forward;
  std::optional<Timing> backward;
  std::optional<Timing> update;
  std::optional<Timing> input;
  std::optional<Timing> communication;
  std::optional<int> batch_per_worker;
  std::optional<Bytes> gradients;
  std::vector<Bucket> buckets;
  std::vector<TraceGap> gaps;
  std::vector<std::string> notes;
  std::optional<JobProfile> job;  // Absent: a gap must be filled first.
};

/// Puts the traces of one job together. Bad input: no iteration in any of them, two of one rank, or
/// worlds of different sizes. Requires a trace at least.
Result<TraceProfile> profile_traces(const std::vector<RankTrace>& ranks, const TraceHints& hints);

}  // namespace stint
