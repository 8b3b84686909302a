#pragma once

#include "base/units.h"

namespace stint {

/// What it costs to send through a link: one message takes latency + bytes · inverse bandwidth.
struct Link {
  SecondsPerByte inverse_bandwidth;
  Seconds latency;
};

/// Time of one ring all-reduce of `payload` over `workers` whose slowest hop is `link`.
///
///   T = 2 (n − 1)/n · S · β + 2 (n − 1) · α
///
/// Reduce-scatter then all-gather, each n − 1 steps of a 1/n chunk (Patarasu and Yuan, 2009). A
/// ring ordered by VM sends 2 (N − 1)/N · S once through each NIC however many workers the VM
/// holds, so for a cluster n is the number of VMs. One worker costs nothing.
/// Requires workers ≥ 1.
Seconds ring_allreduce_time(Bytes payload, int workers, const Link& link);

/// A cluster of equal VMs with workers inside.
struct Hierarchy {
  int vms = 1;
  int workers_per_vm = 1;
  Link inside;   // Between the workers of a VM.
  Link between;  // Between VMs, shared by the workers of one.
};

/// Time of a hierarchical all-reduce: reduce-scatter inside each VM, all-reduce of the shards
/// between VMs, all-gather inside.
///
///   T = 2 [(g − 1)/g · S · β_in + (g − 1) · α_in] + 2 (N − 1)/N · S · β + 2 (N − 1) · α
///
/// The g shards of S/g leave a VM through one NIC, hence the whole S between VMs.
/// Requires vms ≥ 1 and workers_per_vm ≥ 1.
Seconds hierarchical_allreduce_time(Bytes payload, const Hierarchy& cluster);

/// Time for `workers` to push gradients to `servers` and to pull parameters back.
///
///   T = 2 · max(S · β, S · K · β / P) + 2 · α
///
/// Each server takes S/P from each of K workers through its one NIC; with many servers the worker's
/// own NIC decides. Servers have the workers' NIC. Requires workers ≥ 1 and servers ≥ 1.
Seconds parameter_server_time(Bytes payload, int workers, int servers, const Link& link);

/// What top-k sparsification sends.
struct Sparsification {
  double density = 0.01;             // Share of the gradient that is sent, in (0, 1].
  double index_bytes_per_value = 1;  // Bytes of an index over bytes of a value.
  Seconds selection;                 // Time to find the largest entries.
};

/// Time of a top-k exchange, an all-gather because the chosen entries differ between workers.
///
///   T = (n − 1) · ρ · S · (1 + index/value) · β + (n − 1) · α + selection
///
/// It grows with n, so it pays only at small n · ρ. One worker exchanges nothing.
/// Requires workers ≥ 1 and 0 < density ≤ 1.
Seconds top_k_time(Bytes payload, int workers, const Link& link, const Sparsification& sparse);

}  // namespace stint
