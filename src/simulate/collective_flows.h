#pragma once

#include <span>
#include <vector>

#include "base/units.h"
#include "predict/step.h"
#include "simulate/flow_network.h"

namespace stint {

/// What a simulation keeps apart. The VMs of a group do the same at the same time, so one can stand
/// for all, as long as no other job meets some of them.
enum class Detail { kEachVm, kEachGroup };

/// Where the VMs of a job, and its parameter servers, meet the network.
struct ClusterLinks {
  struct Vm {
    FlowNetwork::ResourceId out = 0;
    FlowNetwork::ResourceId in = 0;
    FlowNetwork::ResourceId inside = 0;
    const StepGroup* group = nullptr;  // Of the setup that the links were made for.
    int count = 1;                     // Equal ones that it stands for.
    // What a byte of this job takes of a link over what a byte of the slowest job takes.
    double network_share = 1;
    double inside_share = 1;
  };
  std::vector<Vm> vms;
  std::vector<Vm> servers;  // Empty unless several VMs reduce through parameter servers.
};

/// Adds NICs and inside links for the VMs of `setup`, which must outlive the result. An inverse
/// bandwidth of zero is a link without bound. Server p has the network of VM p, counted round: they
/// are rented like the workers' VMs.
ClusterLinks add_links(FlowNetwork& network, const StepSetup& setup, Detail detail);

/// The same for jobs on the same VMs, whose links they share: one ClusterLinks for each of `jobs`,
/// which must outlive them. A byte may take jobs unequally long on the same link (see JobLaw). One
/// VM stands for its group. Parameter servers are each job's own. Requires groups of equal VMs and
/// workers in all jobs.
std::vector<ClusterLinks> add_shared_links(FlowNetwork& network, std::span<const StepSetup> jobs);

/// One flow of a collective.
struct Send {
  double size = 1;  // In bytes per byte of the bucket.
  Seconds latency;
  FlowNetwork::RouteId route = 0;
};

/// Flows that run side by side; the next stage starts when all have ended.
using Stage = std::vector<Send>;

/// Stages one after the other.
using Chain = std::vector<Stage>;

/// The flows of one bucket: chains that run side by side.
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
