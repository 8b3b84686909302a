#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace stint {

/// One measured collective operation.
struct CollectiveRow {
  std::string cluster;  // Instance type.
  int vms = 1;
  int workers = 1;  // In all.
  std::string collective;
  Bytes payload;                // Of one worker.
  std::optional<Seconds> time;  // Absent in rows that are to be predicted.
};

/// Reads results of nccl-tests, one row per data row, in order: columns instance_type, nodes,
/// ranks, collective and bytes (of one rank), and time_us_out_of_place, which may be missing or
/// blank. Values that cannot be are bad input with line and column.
Result<std::vector<CollectiveRow>> read_collective_table(std::string_view text,
                                                         const std::string& source);

}  // namespace stint
