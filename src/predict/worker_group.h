#pragma once

#include <span>

#include "base/units.h"
#include "job/job.h"
#include "plan/layout.h"
#include "predict/device_scaling.h"
#include "predict/fabric.h"
#include "predict/law.h"

namespace stint {

/// How long a worker computes: fixed + batch · per_sample.
struct WorkerSpeed {
  Seconds fixed;
  Seconds per_sample;
};

/// Equal workers.
struct WorkerKind {
  int workers = 1;
  WorkerSpeed speed;
};

/// What the workers of a kind get: `busiest` of them `largest` samples, the others one less.
struct KindShare {
  int largest = 1;
  int busiest = 1;
};

/// How `batch` samples are shared out so that the slowest worker is done soonest: integers that add
/// up to the batch, each worker at least one.
///
///   minimise max_k (fixed_k + b_k · per_sample_k)  subject to  Σ b_k = B, b_k ≥ 1
///
/// Each next sample goes to the worker that would be done first with it; as times only grow with
/// the batch, this is optimal. Ties go to the earlier kind. Where that leads is found by halving,
/// without handing out single samples. Writes one share for each kind. Requires a positive
/// per_sample and at least one worker for each, and batch ≥ the number of workers.
void split_batch(int batch, std::span<const WorkerKind> kinds, std::span<KindShare> shares);

struct BucketLaw;

/// Equal VMs of a cluster as the closed form needs them: a view of figures that stand elsewhere, so
/// that asking about another cluster costs nothing but the arithmetic.
struct WorkerGroup {
  const DeviceTimes* times = nullptr;
  double jitter = 0;                         // See LawInput.
  double network = 1;                        // The VM's network over the reference.
  double inside_link = 1;                    // The link inside the VM over that of the calibration.
  const FabricTransfer* transfer = nullptr;  // To the VM's network; null: as `network` says.
  int vms = 1;
  int workers_per_vm = 1;
  int batch = 1;  // Of the busiest worker in a micro-step.

  int workers() const { return vms * workers_per_vm; }
};

/// The workers of a cluster, and how they work together.
struct Workers {
  std::span<WorkerGroup> groups;
  Collective collective = Collective::kRing;
  int servers = 0;       // Of a parameter server; 0: all-reduce.
  int accumulation = 1;  // Micro-steps per communication.
  bool plays_buckets = false;
  BytesPerSecond reference_network = kReferenceNetwork;  // That of the calibration.
  const BucketLaw* buckets = nullptr;  // The law of the fabric where buckets can be followed.

  int vms() const;
  int workers() const;
};

/// One micro-step and update of a worker that is alone.
Seconds alone_time(const DeviceTimes& times, double batch);

/// The law on the network of a group.
FabricLaw law_on(const FabricLaw& fabric, const WorkerGroup& group);

/// What that law is told of a group whose workers have `batch`.
LawInput law_input(const JobProfile& job, const Workers& cluster, const WorkerGroup& group,
                   double batch);

/// Shares the samples of a micro-step out by the speed of workers beside each other (see
/// batch_split.h), sets each group's batch, and writes a share for each.
void share_out(const JobProfile& job, const FabricLaw& fabric, const JobLaw& own,
               const Workers& cluster, int samples, std::span<KindShare> shares);

}  // namespace stint
