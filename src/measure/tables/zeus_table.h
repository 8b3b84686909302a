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

/// An epoch of a workload on one GPU under a power limit, as published with Zeus (NSDI'23).
struct ZeusRow {
  std::string gpu;
  std::string dataset;
  std::string network;
  std::string optimizer;
  double batch = 0;
  double power_limit_w = 0;
  std::optional<double> average_power_w;  // Measured with the time.
  std::optional<Seconds> epoch;           // Absent: not measured.
};

/// Whether the header is that of epoch times.
bool is_zeus_epochs(const Csv& csv);

/// The machine in which the authors of Zeus had a GPU.
struct ZeusMachine {
  std::string board;                  // The GPU's name in the catalogue.
  std::optional<int> processor_year;  // In which its processor appeared.
  std::string processor_maker;        // Empty when the authors name none.
};

/// The machine of what a table of Zeus calls `gpu`; without year and maker of the processor when
/// the authors name none.
ZeusMachine zeus_machine(const std::string& gpu);

/// Whether the authors trained `network` at 16 bits, on the matrix units of GPUs that have them.
bool is_mixed_precision(const std::string& network);

/// Whether the header is that of epochs to a target, which has no times.
bool is_zeus_targets(const Csv& csv);

/// Reads epoch times: columns gpu, dataset, network, batch, optimizer and power_limit_w, and
/// epoch_s and average_power_w, which may be missing or blank. Unreadable cells are bad input with
/// line and column.
Result<std::vector<ZeusRow>> read_zeus_epochs(const Csv& csv);

/// The epochs of each workload, batch and GPU under the highest power limit, as steps: an epoch
/// times its batch is a multiple of a step that is the same for all batches of a workload.
std::vector<StepRow> steps_of(std::span<const ZeusRow> rows);

}  // namespace stint
