#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/codec.h"
#include "base/result.h"
#include "base/units.h"

namespace stint {

/// Published tables of collectives.
enum class CollectiveFormat { kSimai, kMlEngineering, kAceso, kVtrain, kNccl };

std::span<const EnumName<CollectiveFormat>> names_of(CollectiveFormat type);

/// What the measured column of a table says of a collective of S bytes that takes T.
enum class CollectiveQuantity {
  kSeconds,       // T.
  kMicroseconds,  // T.
  kBusRate,       // Bus bandwidth of nccl-tests in GB/s.
  kLineShare,     // Bus bandwidth over the line rate.
  kRate,          // S/T in GB/s.
};

/// One row of a table of collectives.
struct CollectiveMeasurement {
  CollectiveFormat format = CollectiveFormat::kNccl;
  std::string system;      // One hardware and software: a GPU, a VM type, a table.
  std::string gpu;         // As the table names it; empty: it does not.
  std::string vm_type;     // Likewise.
  std::string network;     // Likewise.
  std::string collective;  // As nccl-tests names it, or "ring", "point_to_point".
  int vms = 1;
  int workers_per_vm = 1;
  int accelerators_per_vm = 8;
  Bytes payload;  // As nccl-tests counts it.
  Bytes stated;   // As the table counts it.
  CollectiveQuantity quantity = CollectiveQuantity::kSeconds;
  std::optional<double> value;  // Absent in rows that are to be predicted.
  std::string unusable;         // Why a value is absent although the cell has one.
};

/// The columns that tables of `format` have besides the measured one, and that column. Aceso has a
/// second table, of messages between two GPUs.
struct CollectiveColumns {
  std::vector<std::string> given;
  std::string measured;
};

std::vector<CollectiveColumns> columns_of(CollectiveFormat format);

/// Reads a table, one row for each of its data rows, in order; the measured column may be missing
/// or blank. A header that is not one of `format`, and values that cannot be, are bad input that
/// names the file.
///
/// - simai: fractions of the line rate by size and VMs of 8 GPUs. One VM stands for NVLink, several
///   for the NIC. The table ata_ratio is of all-to-alls, the others of rings; columns without VMs
///   count as messages.
/// - ml-engineering: bus bandwidth by GPU, VMs and GPUs per VM.
/// - aceso: V100s inside one VM, sizes in MiB; all-gathers state the input of a worker. A size of 0
///   is below 1 MiB: taken as a quarter. Times of 10⁶ s mark what did not fit into memory.
/// - vtrain: all-reduces inside one VM.
/// - nccl: the output of nccl-tests by VM type.
Result<std::vector<CollectiveMeasurement>> read_collective_format(std::string_view text,
                                                                  const std::string& source,
                                                                  CollectiveFormat format);

/// The format whose columns `text` has; bad input that lists them when there is none.
Result<CollectiveFormat> collective_format(std::string_view text, const std::string& source);

}  // namespace stint
