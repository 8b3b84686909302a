#pragma once

#include <span>

#include "job/job.h"
#include "plan/layout.h"
#include "predict/batch_split.h"
#include "predict/device_scaling.h"
#include "predict/law.h"

namespace stint {

struct BucketLaw;

/// Equal VMs of a cluster as the closed form needs them: a view of figures that stand elsewhere, so
/// that asking about another cluster costs nothing but the arithmetic.
struct WorkerGroup {
  const DeviceTimes* times = nullptr;
  double jitter = 0;       // See LawInput.
  double network = 1;      // The VM's network over the reference.
  double inside_link = 1;  // The link inside the VM over that of the calibration.
  bool efa = false;        // Over which nothing was calibrated, on an unlike network.
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

/// What the law is told of a group whose workers have `batch`.
LawInput law_input(const JobProfile& job, const Workers& cluster, const WorkerGroup& group,
                   double batch);

/// Shares the samples of a micro-step out by the speed of workers beside each other (see
/// batch_split.h), sets each group's batch, and writes a share for each.
void share_out(const JobProfile& job, const FabricLaw& fabric, const JobLaw& own,
               const Workers& cluster, int samples, std::span<KindShare> shares);

}  // namespace stint
