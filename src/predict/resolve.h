#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "catalog/catalog.h"
#include "job/job.h"
#include "plan/layout.h"
#include "predict/calibrated_law.h"
#include "predict/device_scaling.h"
#include "predict/memory.h"
#include "predict/sharded/sharded_model.h"
#include "predict/worker_group.h"

namespace stint {

/// What a person may choose.
struct PredictOptions {
  std::optional<int> batch_per_worker = {};    // Per micro-step; on a mixed cluster the average.
  std::optional<int> global_batch = {};        // Of an iteration, all micro-steps together.
  std::optional<int> workers_per_vm = {};      // Absent: one for each accelerator.
  std::vector<int> group_workers_per_vm = {};  // Where groups differ: of each, in their order.
  int accumulation = 1;                        // Micro-steps per communication.
  Collective collective = Collective::kRing;
  std::optional<int> servers = {};  // Of a parameter server; absent: one on each VM.
  bool plays_buckets = false;       // See step_setup.
};

/// All that is known before the question is asked. The references must outlive its use.
struct PredictContext {
  const JobProfile& job;
  const Catalog& catalog;
  const CalibratedLaw& law;
  const DeviceLaw& devices;
  const ShardedModel* sharded = nullptr;  // Of a job that is the training of a known transformer.

  const KnownJob* known() const { return law.known_job(job.name, job.gradient_bytes); }
};

/// Equal VMs of the cluster with everything looked up.
struct ResolvedGroup {
  VmType type;
  int vms = 1;
  int workers_per_vm = 1;
  DeviceTimes times;
  double jitter = 0;   // See LawInput.
  double network = 1;  // The VM's network over the reference.
  // From the network of the calibration to the VM's; absent where one is not followed.
  std::optional<FabricTransfer> transfer = {};
  double inside_link = 1;            // The link inside the VM over that of the calibration.
  std::optional<Bytes> memory = {};  // Of one accelerator.
  std::vector<int> batches = {};     // Of each worker and micro-step, falling.

  /// The busiest worker decides how long the group takes. Requires batches.
  int batch_max() const { return batches.front(); }
};

/// What the catalogue knows of the network of a VM type.
FabricFacts fabric_facts(const Catalog& catalog, const VmType& type);

/// Below this weight of what was learned on another network, an answer says so.
inline constexpr double kFarWeight = 0.7;

/// The memory of one worker of the group, for questions about it.
WorkerMemory memory_of(const ResolvedGroup& group);

/// A question with every figure in place.
struct ResolvedJob {
  Cluster cluster;
  PredictOptions options;
  BytesPerSecond reference_network = kReferenceNetwork;  // That of the calibration.
  std::optional<BucketLaw> buckets = {};                 // Of the calibration, see Workers.
  std::vector<ResolvedGroup> groups = {};
  std::vector<std::string> assumptions = {};  // Whole sentences.
  std::vector<std::string> warnings = {};

  int vms() const;
  int workers() const;
  int servers() const;  // Zero for all-reduce.
  std::int64_t global_batch() const;
};

/// What the closed form needs of a resolved job, which must outlive it. A group that has no batches
/// yet counts as having one sample for each worker.
class ClusterView {
 public:
  explicit ClusterView(const ResolvedJob& resolved);
  ClusterView(const ClusterView&) = delete;
  ClusterView& operator=(const ClusterView&) = delete;

  const Workers& workers() const { return workers_; }

 private:
  std::vector<WorkerGroup> groups_;
  Workers workers_;
};

/// Looks the VMs up and shares the batch out over the workers (see batch_split.h): the given global
/// batch, or the given batch per worker times the workers; without either, the job's own reference
/// batch. Unequal workers get batches in proportion to their speed.
/// Usage errors: several providers or regions, more workers than accelerators, a batch that cannot
/// be shared out. A VM without a network figure is bad input where there are several VMs.
Result<ResolvedJob> resolve(const PredictContext& context, const Cluster& cluster,
                            const PredictOptions& options);

/// The batch per worker of a group is that of its busiest worker.
Layout layout_of(const ResolvedJob& resolved);

}  // namespace stint
