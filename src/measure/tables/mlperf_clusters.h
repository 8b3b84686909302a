#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/csv.h"
#include "base/result.h"
#include "base/units.h"
#include "measure/tables/step_table.h"

namespace stint {

/// A benchmark of MLPerf Training on one cluster of a submitter.
struct MlperfRow {
  std::string round;  // "v3.1".
  std::string submitter;
  std::string benchmark;
  std::string accelerator;  // As the submitter writes it.
  std::string gpu;          // A short name.
  std::string framework;
  std::string interconnect;  // Of the accelerators of a node; often empty.
  std::optional<double> accelerators;
  std::optional<double> nodes;
  std::optional<double> accelerators_per_node;
  std::optional<double> global_batch;
  std::optional<Seconds> step;  // Absent: not measured.
};

/// Whether the header is that of clusters with rates.
bool is_mlperf_clusters(const Csv& csv);

/// Whether the header is that of times to train by run, which has no rates.
bool is_mlperf_runs(const Csv& csv);

/// Reads clusters: columns round, submitter, benchmark, accelerator, gpu, accelerators, nodes,
/// accelerators_per_node and global_batch, and step_s or samples_per_s, which may be missing.
/// Unreadable cells are bad input with line and column.
Result<std::vector<MlperfRow>> read_mlperf_clusters(const Csv& csv);

/// Whether the row is of one machine.
bool is_one_node(const MlperfRow& row);

/// The seconds that one accelerator of a single machine takes for a sample, as steps of one worker.
/// What the machine spends on synchronisation is part of them.
std::vector<StepRow> steps_of(std::span<const MlperfRow> rows);

}  // namespace stint
