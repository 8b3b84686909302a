#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace stint {

// Published tables of what fits into the memory of an accelerator. All readers return one row per
// data row, in order; unreadable cells are bad input with line and column.

/// A job and its batch per worker; 1 where the table leaves it blank.
struct SizedJob {
  std::string job;
  int batch = 1;

  bool operator==(const SizedJob&) const = default;
};

/// Whether a job fits on a device.
struct MemoryMark {
  std::size_t row = 0;  // Number in the table, from 0.
  SizedJob job;
  std::string device;
  std::optional<bool> fits;  // Absent: not measured.
};

/// Reads Gavel's rates of jobs alone (see read_gavel_steps): a rate or repeat of 0 does not fit.
Result<std::vector<MemoryMark>> read_memory_marks(std::string_view text, const std::string& source);

/// Whether two jobs fit on one device together.
struct PairMark {
  std::size_t row = 0;
  SizedJob first;
  SizedJob second;
  std::string device;
  std::optional<bool> fits;
};

/// Reads Gavel's table of packed pairs: columns gpu, model_a, batch_a, model_b and batch_b, and oom
/// (1: does not fit), which may be missing or blank.
Result<std::vector<PairMark>> read_pair_marks(std::string_view text, const std::string& source);

/// Devices that hold one copy of a stage.
struct StageReplica {
  std::string device;
  int count = 1;
  int tensor_parallel = 1;

  bool operator==(const StageReplica&) const = default;
};

/// Layers first to last, both included, of a pipeline.
struct PlanStage {
  int layer_first = 0;
  int layer_last = 0;
  std::vector<StageReplica> replicas;  // At least one.
};

/// A plan of Sailor's and the largest memory that a device of it used.
struct PlanMemory {
  std::string cluster;
  std::string model;
  int microbatch = 1;
  int global_batch = 1;
  std::vector<PlanStage> stages;  // At least one.
  std::optional<Bytes> memory_peak;
};

/// Reads plans as published with Sailor (SOSP'25): columns cluster, model, microbatch,
/// global_batch, layers_per_stage ("0-15|16-33") and stage_replicas ("GH-96x4:tp4 & GH-96x4:tp4 |
/// …", stages apart by |, replicas by &), and measured_peak_mem_bytes, which may be missing or
/// blank.
Result<std::vector<PlanMemory>> read_plan_memory(std::string_view text, const std::string& source);

/// One layer of a model.
struct LayerSize {
  std::string model;
  // The table's name of the column: parameters shrink with it, so that it appears to be the
  // tensor-parallel degree.
  int microbatch = 1;
  int layer = 0;
  std::int64_t parameters = 0;
  std::int64_t activation_out = 0;     // Elements that are sent to the next layer.
  std::int64_t activation_memory = 0;  // Elements that are kept for the backward pass.
};

/// Reads Sailor's sizes of layers: columns model, microbatch, layer, params, activation_out_elems
/// and activation_mem_elems.
Result<std::vector<LayerSize>> read_layer_sizes(std::string_view text, const std::string& source);

}  // namespace stint
