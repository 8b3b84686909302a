#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace stint {

/// What we look at of one event of a trace. The texts live until the next event is parsed.
struct TraceEvent {
  std::string_view name;
  std::string_view category;     // "cpu_op", "kernel" …; empty in bare-array traces.
  char phase = 'X';              // 'X' has a duration.
  std::optional<Seconds> start;  // Since the first event that was parsed.
  Seconds duration;
  std::optional<std::int64_t> correlation;  // Joins a kernel and its launch.
  std::optional<std::int64_t> elements;     // Of a collective's message.
  std::string_view element_type;            // "float", "c10::Half" …
  std::string_view collective;              // "allreduce", where the event says so.
  std::optional<int> group_size;            // Ranks of the collective.
  std::optional<std::int64_t> rows_first;   // First extent of the first input,
  std::optional<std::int64_t> rows_second;  // and of the second.
};

/// What the members beside the events say.
struct TraceHeader {
  std::optional<int> rank;
  std::optional<int> world_size;
  std::string backend;
  std::string device;  // Name of the first accelerator; empty: none is told.
};

/// Parses events one by one with simdjson, reusing its memory. Not for several threads.
class TraceEventParser {
 public:
  /// Whether simdjson is there; if not, nothing may be parsed.
  static Status available();

  TraceEventParser();
  ~TraceEventParser();
  TraceEventParser(const TraceEventParser&) = delete;
  TraceEventParser& operator=(const TraceEventParser&) = delete;

  /// The event of `text`, which must be a JSON object; else bad input that says why. Members of
  /// other kinds than a profiler writes count as absent.
  Result<TraceEvent> event(std::string_view text);

  /// Reads "distributedInfo" and "deviceProperties", each of which may be empty; what cannot be
  /// read counts as absent.
  TraceHeader header(std::string_view distributed, std::string_view devices);

 private:
  struct Parser;  // What simdjson needs.
  std::unique_ptr<Parser> parser_;
};

}  // namespace stint
