#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace stint {

/// The number of machines of a pool that were available, tick by tick.
struct AvailabilityTrace {
  std::string name;         // The file it was read from.
  Seconds gap;              // Between ticks.
  std::vector<int> counts;  // Machines available during each tick.
};

/// The tick into which traces with times are divided.
inline constexpr Seconds kTraceGap = 5 * kMinute;

/// Whether the text looks like a trace: JSON, or a table with one of the headers below.
bool is_availability_trace(std::string_view text);

/// Reads a trace, whose content determines its form:
/// - JSON {"metadata": {"gap_seconds": 195}, "data": [machines in each tick]};
/// - CSV time_s,running_instances, in seconds;
/// - CSV time,running_instances, in hours if its times stay below 1000, else in seconds;
/// - CSV time_s,event,node, where events are add and remove.
/// JSON has its own gap. Tables are divided into ticks of `gap` from their first time on, where a
/// machine counts only if it is available during the whole tick; of several counts at one time the
/// last holds, and a tick that the table does not cover to its end is left out.
Result<AvailabilityTrace> read_availability_trace(std::string_view text, const std::string& source,
                                                  Seconds gap = kTraceGap);

/// The trace's counts in ticks of `gap`: each is the smallest of the ticks that it covers. A tick
/// that the trace does not cover to its end is left out, and so are those past the most that a
/// trace may have.
std::vector<int> resampled(const AvailabilityTrace& trace, Seconds gap);

/// The traces from their first ticks on, in ticks of the first and as long as the shortest.
std::vector<std::vector<int>> side_by_side(std::span<const AvailabilityTrace> traces);

}  // namespace stint
