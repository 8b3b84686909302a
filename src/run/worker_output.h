#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "run/seat.h"

namespace stint {

/// Prefix of the line that precedes the output of each start of a worker in its log.
inline const std::string kLogMark = "[stint] ";

/// The end of the names of the files with the output of workers.
inline const std::string kWorkerLogEnd = "-worker.log";

/// The name of the file with the output of a worker.
std::string worker_log_name(Seat seat);

/// The output of the processes of a run, in a file for each worker and receiver. What cannot be
/// written is lost: training goes on without its logs.
class WorkerOutput {
 public:
  explicit WorkerOutput(std::string folder) : folder_(std::move(folder)) {}

  void append_worker(Seat seat, std::string_view line) const;
  void append_receiver(int vm, std::string_view line) const;

  /// The last lines of a worker since it started, at most this many.
  std::vector<std::string> last_lines(Seat seat, std::size_t most) const;

 private:
  std::string folder_;
};

}  // namespace stint
