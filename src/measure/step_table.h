#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace stint {

/// One measured setup of a published table: a job on a number of equal VMs.
struct StepRow {
  std::string job;     // What is left out together, and what a job profile is matched by.
  std::string series;  // Times are comparable only within a job and a series; often empty.
  std::string device;  // Accelerator as the catalogue names it; empty when the table does not say.
  std::vector<int> workers_by_vm;  // Workers on each VM, at least one each.
  double batch_per_worker = 1;
  int servers = 0;              // Parameter servers; 0: all-reduce.
  bool asynchronous = false;    // Workers do not wait for each other.
  std::optional<Seconds> time;  // Of an iteration; absent in rows that are to be predicted.
  double times_per_step = 1;    // An iteration takes this many of `time`, for tables by sample.
  std::optional<Seconds> synchronisation;  // The part that the table's authors call so.
  std::optional<Seconds> repeat;           // The same setup measured again.
  std::optional<Bytes> gradient_bytes;     // Where the table says it.
  std::string unusable;  // Why nothing can be said of this row; empty for a good one.
};

int workers(const StepRow& row);
int workers_on_fullest_vm(const StepRow& row);

/// Reads a table of step times as published with Pollux (OSDI'21): columns model, gpus_per_node
/// ("1-2-4", or blank), num_nodes, num_gpus, batch_per_gpu, and step_time_s and sync_time_s, which
/// may be missing or blank. Where gpus_per_node is blank the GPUs are spread as evenly as possible.
/// Times must be above zero (synchronisation: not below) and counts must agree with each other;
/// errors are bad input with line and column.
Result<std::vector<StepRow>> read_pollux_steps(std::string_view text, const std::string& source);

}  // namespace stint
