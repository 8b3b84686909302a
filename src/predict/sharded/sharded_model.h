#pragma once

#include <optional>
#include <string>

#include "base/units.h"
#include "catalog/catalog.h"
#include "job/job.h"
#include "models/model_shape.h"
#include "predict/sharded/sharded_memory.h"
#include "predict/sharded/sharded_step.h"

namespace stint {

/// What a sharded step is predicted with.
struct ShardedLaws {
  ShardedLaw step;
  ShardedMemoryLaw memory;
  double spread = 0.25;  // Deviation of the logarithm of an iteration; a prior until it is fitted.
  bool fitted = false;   // The constants were fitted to measured rows.
};

/// A training of a transformer as layouts are asked about: all but machines, layout and batch.
struct ShardedModel {
  std::string name;
  ShardedSetup setup;
  ShardedStates states;
  LayoutBounds bounds;  // Layers, heads and experts; workers and batch are those of a question.
  WorkPrecision precision = WorkPrecision::kMixed;
  ShardedLaws laws;

  /// Numbers of the model.
  double parameters() const;
};

/// The training that `job` describes of a model of this shape. Requires work.
ShardedModel sharded_model(const ModelShape& shape, const JobProfile& job, const ShardedLaws& laws);

/// Equal VMs as layouts are asked about.
struct ShardedCluster {
  ShardedMachines machines;
  Bytes memory;  // Of one accelerator.
  int vms = 1;

  std::int64_t workers() const { return std::int64_t{vms} * machines.workers_per_vm; }
};

/// So many VMs of `type`. Nothing where the catalogue lacks the peak, the memory or its bandwidth,
/// or, of several VMs, the network. Accelerators whose link is not stated talk over PCIe 3.0.
std::optional<ShardedCluster> sharded_cluster(const Catalog& catalog, const VmType& type,
                                              WorkPrecision precision, int vms);

}  // namespace stint
