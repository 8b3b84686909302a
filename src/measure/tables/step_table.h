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
  std::string job;     // Unit of held-out sets, and key of the job profile.
  std::string series;  // Times are comparable only within a job and a series; often empty.
  std::string device;  // Accelerator as the catalogue names it, or the VM type in our own records.
  std::vector<int> workers_by_vm;  // Workers on each VM, at least one each.
  double batch_per_worker = 1;
  int servers = 0;              // Parameter servers; 0: all-reduce.
  bool asynchronous = false;    // Workers do not wait for each other.
  std::optional<Seconds> time;  // Time of an iteration; absent in rows that are to be predicted.
  double times_per_step = 1;    // An iteration takes this many of `time`, for tables by sample.
  // The part that the table's authors call synchronisation.
  std::optional<Seconds> synchronisation;
  std::optional<Seconds> repeat;        // The same setup measured again.
  std::optional<Bytes> gradient_bytes;  // Where the table has it.
  double network = 1;                   // Network of one VM relative to that of the fitted costs.
  std::optional<BytesPerSecond> reference;  // Line rate that `network` is a multiple of.
  // Reason why the measured columns cannot be used, and there is no time; empty when they can or
  // are missing.
  std::string unmeasured;
  std::string unusable;  // Reason why nothing can be predicted for this row; empty for a good one.
  int line = 0;          // Line in its file, from 1; 0: unknown.
};

int workers(const StepRow& row);
int workers_on_fullest_vm(const StepRow& row);

/// Reads a table of step times as published with Pollux (OSDI'21): columns model, gpus_per_node
/// ("1-2-4", or blank), num_nodes, num_gpus, batch_per_gpu, and step_time_s and sync_time_s, which
/// may be missing or blank. Where gpus_per_node is blank the GPUs are spread as evenly as possible.
/// Rows whose counts do not agree with each other are unusable, and those with a time that is not
/// above zero (synchronisation: below zero) are unmeasured; the reasons say the column, and every
/// row its line. A table without the key columns is bad input.
Result<std::vector<StepRow>> read_pollux_steps(std::string_view text, const std::string& source);

}  // namespace stint
