#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "load/environment.h"

namespace stint {

/// The request of `stint logs`.
struct LogsRequest {
  std::string run = {};                    // Empty: the last one.
  bool follow = false;                     // Until the run ends.
  std::optional<int> rank = {};            // Only this one.
  std::optional<std::int64_t> lines = {};  // The last of each worker; absent: all.
};

struct LogListener {
  std::function<void(int rank, const std::string& line)> line;
  /// Called while there is nothing more; returns when it is time to look again, false to end.
  std::function<bool()> pause;
};

struct LogsEnd {
  std::string run;
  std::int64_t lines = 0;
  bool interrupted = false;  // By the listener.
};

/// Hands over what the workers of a run printed, made harmless, line by line in bounded memory.
///
/// The lines carry no times: each worker's output is taken to be spread evenly over the time that
/// it ran, and those of all workers are merged by that; what comes while following is handed over
/// as it comes. A line has the rank that the marks in the log give its worker; without marks, the
/// rank with which its machine trained most steps. Usage errors: no such run or rank.
Result<LogsEnd> show_logs(const Environment& environment, const LogsRequest& request,
                          const LogListener& listener);

}  // namespace stint
