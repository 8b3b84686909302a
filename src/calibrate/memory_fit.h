#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "measure/tables/memory_table.h"
#include "solver/least_squares.h"

namespace stint {

/// The load of one device of a pipeline stage.
struct StageLoad {
  double parameters = 0;   // Number of parameters.
  double activations = 0;  // Elements kept for the backward pass, of all microbatches in flight.
  int tensor_parallel = 1;
};

/// Sizes of layers by model, tensor-parallel degree and layer.
class LayerTable {
 public:
  explicit LayerTable(const std::vector<LayerSize>& sizes);

  /// The loads of the devices of `plan`, one for each stage and degree in it. A stage k of K of a
  /// one-forward-one-backward schedule keeps min(K − k, microbatches) of them in flight
  /// (PipeDream's schedule, Narayanan et al. 2019). Bad input when a layer has no size, or the plan
  /// leaves out layers of the model.
  Result<std::vector<StageLoad>> loads(const PlanMemory& plan) const;

 private:
  std::map<std::tuple<std::string, int, int>, LayerSize> sizes_;
  std::map<std::string, int> layers_;  // Number of layers of a model.
};

/// A plan that was run.
struct PlanRow {
  std::string cluster;
  std::vector<StageLoad> loads;  // At least one.
  Bytes memory_peak;
};

/// The memory of the fullest device, with its 80 % interval.
struct MemoryEstimate {
  Bytes mean;
  Bytes p10;
  Bytes p90;
};

/// The memory of plans:
///
///   peak = max over stages of s · parameters + a_c · activations + o_c + q · (degree − 1)
///
/// s bytes for a parameter with its gradient and optimizer state; a_c bytes for an element of
/// activation and o_c of overhead, which differ between clusters c (precision, attention kernels,
/// framework) around a population; q of buffers for each peer of a tensor-parallel group.
/// Fitted on log bytes with physical priors, so that few plans suffice.
class PlanMemoryModel {
 public:
  /// Requires at least one row.
  static Result<PlanMemoryModel> fit(std::span<const PlanRow> rows);

  /// Requires at least one load. A cluster that was not fitted gets the population's constants and
  /// a correspondingly wide interval.
  MemoryEstimate estimate(const std::string& cluster, const std::vector<StageLoad>& loads) const;

 private:
  Fitted fitted_;
  std::map<std::string, std::size_t> clusters_;
  double row_deviation_ = 0;
};

/// The estimate without a fit: 16 bytes for a parameter (mixed-precision Adam, Rajbhandari et al.
/// 2020) and 2 for an element of activation. Requires at least one load.
Bytes plain_memory(const std::vector<StageLoad>& loads);

}  // namespace stint
