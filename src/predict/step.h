#pragma once

#include <limits>
#include <vector>

#include "base/units.h"
#include "job/job.h"
#include "plan/layout.h"
#include "plan/prediction.h"
#include "predict/collective.h"

namespace stint {

/// Equal VMs, and what each of their workers does in one iteration.
struct StepGroup {
  int vms = 1;
  int workers_per_vm = 1;
  // Of one micro-step of one worker, while the other workers of its VM compute as well.
  Seconds forward;
  Seconds backward;
  Seconds update;  // Once per iteration.
  Seconds input;   // Of the input pipeline for one micro-step; it runs beside the compute.
  Link network;    // Of one VM to the others.
  Link inside;     // Between the workers of a VM.
};

/// One iteration with every figure resolved: what the analytic and the event-driven predictor
/// are both asked.
struct StepSetup {
  std::vector<StepGroup> groups;
  std::vector<Bucket> buckets;  // In the order they become ready.
  Collective collective = Collective::kRing;
  int servers = 1;  // Of a parameter server.
  Sparsification sparsification = {};
  int accumulation = 1;          // Micro-steps per communication.
  int in_flight = 1;             // Buckets that may share the link; see overlap.h.
  double jitter = 0;             // Relative deviation of each step of each worker.
  double vm_spread = 0;          // Relative deviation of one VM from another that lasts.
  double backward_slowdown = 0;  // Backward takes 1 + this as long while gradients leave.
  // Power of the soft maximum of compute and communication; see step_parts.
  double sharpness = std::numeric_limits<double>::infinity();
};

int vms(const StepSetup& setup);
int workers(const StepSetup& setup);

/// How much longer than the typical worker the slowest one computes, as a fraction.
///
///   s = √( (σ_vm · m(N))² + (σ_step · m(n))² ),  m(k) = E max of k standard normals
///
/// N VMs differ for good, n workers in each step.
double straggling(const StepSetup& setup);

/// Time of the all-reduce of one bucket, alone on the links. A mixed cluster is as fast as its
/// slowest link. One VM reduces over the link inside it.
Seconds bucket_time(Bytes bytes, const StepSetup& setup);

/// Where the time of one iteration goes, in closed form.
///
///   compute = m · (forward + backward) of the slowest group, stretched by 1 + s
///   ready_k = when the last group has bucket k: the start of its last backward + ready fraction ·
///             that backward
///   end_k   = max(ready_k, end_{k−1}) + comm_k
///   sync    = max(end_last − compute, ‖compute − ready_1, Σ comm‖_G − (compute − ready_1))
///   T       = compute + sync + update + max(0, input − all that)
///
/// ‖a, b‖_G = (a^G + b^G)^(1/G) is the maximum of two times that vary from step to step, which on
/// average lies above the maximum of the averages; G = ∞ is the maximum itself (Pollux uses the
/// same soft maximum). It weighs what runs side by side: from the first bucket on, the rest of
/// the compute and the communication; so communication that costs nothing exposes nothing. With
/// several rings in flight end_last is last_arrival of overlap.h, where the latency of one passes
/// while another moves, and Σ comm counts one latency; other collectives are taken one by one.
///
/// Requires at least one group, accumulation ≥ 1, in_flight ≥ 1 and sharpness > 0.
IterationParts step_parts(const StepSetup& setup);

}  // namespace stint
