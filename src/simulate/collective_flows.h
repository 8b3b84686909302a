#pragma once

#include <span>
#include <vector>

#include "base/units.h"
#include "predict/step.h"
#include "simulate/flow_network.h"

namespace stint {

/// The resolution of a simulation. The VMs of a group do the same at the same time, so that one can
/// represent all, as long as no other job uses only some of them.
enum class Detail { kEachVm, kEachGroup };

/// The network links of the VMs of a job, and of its parameter servers.
struct ClusterLinks {
  struct Vm {
    FlowNetwork::ResourceId out = 0;
    FlowNetwork::ResourceId in = 0;
    FlowNetwork::ResourceId inside = 0;
    const StepGroup* group = nullptr;  // In the setup of the links.
    int count = 1;                     // Number of equal VMs that it represents.
    // Time of a byte of this job on a link relative to the slowest job's.
    double network_share = 1;
    double inside_share = 1;
  };
  std::vector<Vm> vms;
  std::vector<Vm> servers;  // Empty unless several VMs reduce through parameter servers.
};

/// Adds NICs and inside links for the VMs of `setup`, which must outlive the result. An inverse
/// bandwidth of zero is an unlimited link. Server p has the network of VM p, modulo the number of
/// VMs: servers are rented like the workers' VMs.
ClusterLinks add_links(FlowNetwork& network, const StepSetup& setup, Detail detail);

/// The same for jobs on the same VMs, whose links they share: one ClusterLinks for each of `jobs`,
/// which must outlive them. A byte may take different times for different jobs on the same link
/// (see JobLaw). One VM represents its group. Each job has its own parameter servers. Requires
/// groups of equal VMs and workers in all jobs.
std::vector<ClusterLinks> add_shared_links(FlowNetwork& network, std::span<const StepSetup> jobs);

/// One flow of a collective.
struct Send {
  double size = 1;  // Bytes per byte of the bucket.
  Seconds latency;
  FlowNetwork::RouteId route = 0;
};

/// Parallel flows; the next stage starts when all have ended.
using Stage = std::vector<Send>;

/// Sequential stages.
using Chain = std::vector<Stage>;

/// The flows of one bucket: parallel chains.
///
///   ring            one flow of 2 (N − 1)/N through every NIC, after 2 (N − 1) latencies
///   hierarchical    reduce-scatter of (g − 1)/g inside each VM, the ring, all-gather inside
///   server          per server a chain: 1/P of g gradients from each VM, then back to each
///   top-k           one flow of (n − 1) ρ (1 + index/value) through every NIC, after the selection
///                   and n − 1 latencies
///
/// One VM uses the link inside it in place of NICs. One worker sends nothing: no chains. Adds the
/// routes to `network`, whose `links` are those of `setup`.
std::vector<Chain> collective_flows(FlowNetwork& network, const StepSetup& setup,
                                    const ClusterLinks& links);

}  // namespace stint
