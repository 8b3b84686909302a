#pragma once

#include "base/units.h"

namespace stint {

/// A job on a cluster, as far as the law of scaling looks at it.
struct ScalingSetup {
  double samples = 1;      // Of one step, per worker; below 1 when workers share a sample.
  double micro_steps = 1;  // Passes over the model in one step.
  int workers = 1;
  int vms = 1;
  Seconds wire;  // Of what one step exchanges between VMs, at line rate; see wire_time.
};

/// The bytes that one step exchanges between VMs.
struct ScalingTraffic {
  Bytes synchronised;  // Both directions of the gradients of the whole model.
  Bytes per_sample;    // Both directions of activations that cross workers, of one sample.
};

/// The cluster that the bytes pass through.
struct ScalingWires {
  int workers_per_vm = 1;
  double degree = 1;       // Workers that hold one copy of the model.
  BytesPerSecond network;  // Of one VM, one direction. Above zero.
};

/// The time that the network of one VM is busy in one step at line rate, with b samples per worker,
/// g workers per VM and m workers to a copy of the model:
///
///   W = (synchronised min(1, g/m) + per_sample b g) / network
///
/// Workers of a VM reduce among themselves first, so that a VM sends the shards that it holds once.
Seconds wire_time(const ScalingTraffic& traffic, double samples, const ScalingWires& wires);

/// The constants of one job on one kind of cluster. None is negative.
struct ScalingLaw {
  Seconds per_sample;      // Of one worker.
  double floor = 0;        // Cost of a micro-step without samples, in samples.
  double crossing = 0;     // Slow-down of compute as soon as there are several VMs,
  double growth = 0;       // and with each doubling of them.
  double exposed = 0;      // Visible time of the exchange over its time at line rate,
  double wire_growth = 0;  // and its growth with each doubling of the VMs.
};

/// Time of a step with b samples per worker in a micro-steps, on n workers of N VMs:
///
///   T = per_sample (b + floor a) (1 + [N > 1] crossing + growth log2 N)
///       + [N > 1] exposed W (1 − 1/n) (1 + wire_growth log2 N)
///
/// A ring over n workers moves 2 (1 − 1/n) of the payload over each link whatever N is. The step is
/// never shorter with more samples, micro-steps or VMs.
Seconds scaled_step_time(const ScalingLaw& law, const ScalingSetup& setup);

}  // namespace stint
