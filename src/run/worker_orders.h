#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "checkpoint/checkpoint_files.h"
#include "run/run_record.h"

// The orders to workers: JSON with one member each. stint/training.py executes them.

namespace stint {

/// Workers that are to train together.
struct TrainOrder {
  int attempt = 0;
  std::string master = {};  // Address of rank 0.
  int port = 0;
  std::vector<int> shares = {};           // Samples per step, by rank.
  std::vector<int> micro_batches = {};    // Samples per micro-step, by rank.
  std::optional<Json> checkpoint = {};    // See checkpoint_at; absent: there is none.
  std::optional<RunBatch> training = {};  // Absent: the script's own batch and steps.
};

/// The order to the worker of this rank.
Json train_order(const TrainOrder& order, std::size_t rank);

/// The order to save once the step is done. With `halt` no step follows before the next order to
/// train.
Json save_order(int attempt, std::int64_t step, Json place, bool halt);

/// The order to end: training is over.
Json end_order();

/// A checkpoint to begin from.
Json checkpoint_at(const Checkpoint& checkpoint, Json place);

/// A place for checkpoints: a folder of this computer,
Json folder_place(const std::string& folder);

struct ReceiverAddress {
  std::string address;
  int port = 0;
};

/// or machines that keep them.
Json receivers_place(const std::vector<ReceiverAddress>& receivers, const RunRecord& record);

/// The environment of a worker beside its rank. `run` is the folder of the run, `share` the samples
/// of a step on this machine.
std::vector<std::string> order_variables(const RunRecord& record, const RunMachines& machines,
                                         const std::string& run, int share);

}  // namespace stint
