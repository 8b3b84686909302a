#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/codec.h"
#include "base/result.h"
#include "base/units.h"
#include "plan/parallel_layout.h"

namespace stint {

/// Published tables of the memory that sharded layouts take.
enum class MemoryFormat { kBloom, kNanotron, kFsdpTables, kSailor };

std::span<const EnumName<MemoryFormat>> names_of(MemoryFormat type);

/// The numbers of a transformer that a table states; absent ones it leaves blank.
struct StatedModel {
  std::string name;  // Where the model is known by name; empty otherwise.
  std::optional<double> parameters;
  std::optional<std::int64_t> layers;
  std::optional<std::int64_t> hidden;
  std::optional<std::int64_t> heads;
  std::optional<std::int64_t> feed_forward;
  std::optional<std::int64_t> vocabulary;
};

/// First and last layer of a stage, where a table counts the embeddings as layer 0.
struct StageLayers {
  int first = 0;
  int last = 0;

  bool operator==(const StageLayers&) const = default;
};

/// A layout and the peak memory of a worker in it.
struct MemoryLayoutRow {
  MemoryFormat format = MemoryFormat::kBloom;
  std::string software;              // Rows with the same habits: a framework on a cluster.
  std::string date;                  // Empty where the table has none.
  std::vector<std::string> devices;  // At least one; all that differ.
  int workers_per_vm = 8;
  StatedModel model;
  double sequence = 0;  // Zero: the model's.
  double global_batch = 1;
  ParallelLayout layout;
  std::vector<StageLayers> stages;  // Empty: layers are spread evenly.
  Bytes unit = kGB;                 // Of the measured column.
  std::optional<double> memory;     // In units.
  std::string problem;              // Why the row cannot be predicted; empty when it can.
};

/// Reads the rows of a table, in order. Measured columns (memory_gb, peak_memory_gb, memory_gib,
/// measured_peak_mem_bytes) may be missing or blank; other columns of results are not looked at.
///
/// bloom: memory in GB as noted by hand. nanotron: peak memory in GB. fsdp-tables: peak reserved
/// memory in GiB; an empty global_batch is local_batch · fsdp. sailor: peak bytes of the fullest
/// device.
Result<std::vector<MemoryLayoutRow>> read_memory_layouts(std::string_view text,
                                                         const std::string& source,
                                                         MemoryFormat format);

}  // namespace stint
