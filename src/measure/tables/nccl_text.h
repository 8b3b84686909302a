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
  int workers = 1;  // Total number.
  std::string collective;
  Bytes payload;                // Payload of one worker.
  std::optional<Seconds> time;  // Absent in rows that are to be predicted.
};

/// Reads results of nccl-tests, one row per data row, in order: columns instance_type, nodes,
/// ranks, collective and bytes (of one rank), and time_us_out_of_place, which may be missing or
/// blank. Values that cannot be are bad input with line and column.
Result<std::vector<CollectiveRow>> read_collective_table(std::string_view text,
                                                         const std::string& source);

/// One line of a table of nccl-tests.
struct NcclRow {
  CollectiveRow row;  // With its out-of-place time.
  std::optional<Seconds> in_place;
};

struct NcclTable {
  std::vector<NcclRow> rows;
  int wrong = 0;  // Lines left out because the results were wrong.
  std::vector<std::string> notes;
};

/// Reads the output of all_reduce_perf and the other nccl-tests, one or several runs in a text. The
/// VMs are the hosts and the workers the ranks of the "# Rank" lines; the collective is named by
/// the text or inferred from the ratio of its two bandwidths, which is 2 (n - 1) / n for an
/// all-reduce. `cluster` is the instance type; empty: the text's name of the GPUs. Bad input: no
/// line of results, an unreadable one, or one without ranks above it.
Result<NcclTable> read_nccl_text(std::string_view text, const std::string& source,
                                 const std::string& cluster);

/// A CSV table that read_collective_table understands.
std::string write_collective_table(const std::vector<NcclRow>& rows);

}  // namespace stint
