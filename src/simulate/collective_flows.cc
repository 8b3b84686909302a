#include "simulate/collective_flows.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"

namespace stint {
namespace {

using Vm = ClusterLinks::Vm;
using Path = std::vector<FlowNetwork::Crossing>;

BytesPerSecond capacity(const Link& link) {
  if (link.inverse_bandwidth > SecondsPerByte{}) return 1.0 / link.inverse_bandwidth;
  return std::numeric_limits<double>::infinity() * (kByte / kSecond);
}

/// Adds `count` VMs of the group, each alone or one for all.
void add_vms(FlowNetwork& network, const StepGroup& group, int count, Detail detail,
             std::vector<Vm>& vms) {
  const int each = detail == Detail::kEachVm ? 1 : count;
  for (int added = 0; added < count; added += each) {
    vms.push_back({.out = network.add_resource(capacity(group.network)),
                   .in = network.add_resource(capacity(group.network)),
                   .inside = network.add_resource(capacity(group.inside)),
                   .group = &group,
                   .count = each});
  }
}

/// Adds a link to the route, unless its bytes take no time.
void cross(Path& path, FlowNetwork::ResourceId resource, double share) {
  if (share > 0) path.push_back({.resource = resource, .share = share});
}

Path inside_path(const Vm& vm) {
  Path path;
  cross(path, vm.inside, vm.inside_share);
  return path;
}

int count_of(const std::vector<Vm>& vms) {
  int count = 0;
  for (const Vm& vm : vms) count += vm.count;
  return count;
}

/// The number of servers that have the network of each group's VMs.
std::vector<int> servers_by_group(const StepSetup& setup) {
  std::vector<int> counts;
  const int rounds = setup.servers / vms(setup);
  int rest = setup.servers % vms(setup);
  for (const StepGroup& group : setup.groups) {
    const int more = std::min(rest, group.vms);
    counts.push_back(rounds * group.vms + more);
    rest -= more;
  }
  return counts;
}

void add_servers(FlowNetwork& network, const StepSetup& setup, Detail detail,
                 std::vector<Vm>& servers) {
  CHECK(setup.servers >= 1);
  if (setup.collective != Collective::kParameterServer || vms(setup) == 1) return;
  const std::vector<int> counts = servers_by_group(setup);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    add_vms(network, setup.groups[i], counts[i], detail, servers);
  }
}

/// The slowest link of a kind that any job has in a group.
Link slowest_link(std::span<const StepSetup> jobs, std::size_t group, Link StepGroup::*kind) {
  Link slowest;
  for (const StepSetup& job : jobs) {
    const Link& link = job.groups[group].*kind;
    slowest.inverse_bandwidth = std::max(slowest.inverse_bandwidth, link.inverse_bandwidth);
  }
  return slowest;
}

/// The time of a byte over `link` relative to the slowest job's.
double share_of(const Link& link, SecondsPerByte slowest) {
  return slowest > SecondsPerByte{} ? link.inverse_bandwidth / slowest : 1;
}

/// A flow through all VMs, as fast as the slowest lets it. Each step waits for the slowest link.
Send send_through_all(FlowNetwork& network, const ClusterLinks& links, double size, double steps) {
  Path path;
  Seconds latency;
  if (count_of(links.vms) == 1) {
    const Vm& vm = links.vms.front();
    latency = vm.group->inside.latency;
    path = inside_path(vm);
  } else {
    for (const Vm& vm : links.vms) {
      latency = std::max(latency, vm.group->network.latency);
      cross(path, vm.out, vm.network_share);
      cross(path, vm.in, vm.network_share);
    }
  }
  return {.size = size, .latency = steps * latency, .route = network.add_route(path)};
}

Send ring(FlowNetwork& network, const ClusterLinks& links, int members) {
  const double steps = 2.0 * (members - 1);
  return send_through_all(network, links, steps / members, steps);
}

/// A reduce-scatter or an all-gather inside each VM that holds several workers.
Stage inside_stage(FlowNetwork& network, const ClusterLinks& links) {
  Stage stage;
  for (const Vm& vm : links.vms) {
    const int workers = vm.group->workers_per_vm;
    if (workers == 1) continue;
    const double steps = workers - 1;
    stage.push_back({.size = steps / workers,
                     .latency = steps * vm.group->inside.latency,
                     .route = network.add_route(inside_path(vm))});
  }
  return stage;
}

Chain hierarchical(FlowNetwork& network, const ClusterLinks& links) {
  Chain chain{inside_stage(network, links)};
  const int vms = count_of(links.vms);
  if (vms > 1) chain.push_back({ring(network, links, vms)});
  chain.push_back(inside_stage(network, links));
  std::erase_if(chain, [](const Stage& stage) { return stage.empty(); });
  return chain;
}

/// Inside the only VM each server receives and sends its part over the shared link.
Chain server_inside(FlowNetwork& network, const Vm& vm, int servers) {
  const Stage stage{{.size = static_cast<double>(vm.group->workers_per_vm) / servers,
                     .latency = vm.group->inside.latency,
                     .route = network.add_route(inside_path(vm))}};
  return {stage, stage};
}

/// Every VM pushes its part to the server; once the server has them all, every VM pulls.
Chain server_between(FlowNetwork& network, const ClusterLinks& links, const Vm& server) {
  const double servers = count_of(links.servers);
  Stage push;
  Stage pull;
  for (const Vm& vm : links.vms) {
    const double size = vm.group->workers_per_vm / servers;
    const Seconds latency = std::max(vm.group->network.latency, server.group->network.latency);
    // A NIC carries the flows to or from each VM that the other end represents.
    const double through_vm = server.count * vm.network_share;
    const double through_server = vm.count;
    Path up;
    cross(up, vm.out, through_vm);
    cross(up, server.in, through_server);
    Path down;
    cross(down, server.out, through_server);
    cross(down, vm.in, through_vm);
    push.push_back({.size = size, .latency = latency, .route = network.add_route(up)});
    pull.push_back({.size = size, .latency = latency, .route = network.add_route(down)});
  }
  Chain chain;
  chain.push_back(std::move(push));
  chain.push_back(std::move(pull));
  return chain;
}

std::vector<Chain> server_chains(FlowNetwork& network, const ClusterLinks& links, int servers) {
  std::vector<Chain> chains;
  if (count_of(links.vms) == 1) {
    chains.assign(static_cast<std::size_t>(servers),
                  server_inside(network, links.vms.front(), servers));
  }
  for (const Vm& server : links.servers) chains.push_back(server_between(network, links, server));
  return chains;
}

Send top_k(FlowNetwork& network, const StepSetup& setup, const ClusterLinks& links) {
  const Sparsification& sparse = setup.sparsification;
  const double others = workers(setup) - 1;
  const double size = others * sparse.density * (1 + sparse.index_bytes_per_value);
  Send send = send_through_all(network, links, size, others);
  send.latency += sparse.selection;
  return send;
}

}  // namespace

ClusterLinks add_links(FlowNetwork& network, const StepSetup& setup, Detail detail) {
  ClusterLinks links;
  for (const StepGroup& group : setup.groups) {
    add_vms(network, group, group.vms, detail, links.vms);
  }
  add_servers(network, setup, detail, links.servers);
  return links;
}

std::vector<ClusterLinks> add_shared_links(FlowNetwork& network, std::span<const StepSetup> jobs) {
  CHECK(!jobs.empty());
  const std::vector<StepGroup>& groups = jobs.front().groups;
  for (const StepSetup& job : jobs) CHECK(job.groups.size() == groups.size());
  std::vector<ClusterLinks> links(jobs.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Link between = slowest_link(jobs, g, &StepGroup::network);
    const Link inside = slowest_link(jobs, g, &StepGroup::inside);
    const Vm shared{.out = network.add_resource(capacity(between)),
                    .in = network.add_resource(capacity(between)),
                    .inside = network.add_resource(capacity(inside))};
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const StepGroup& group = jobs[i].groups[g];
      CHECK(group.vms == groups[g].vms);
      CHECK(group.workers_per_vm == groups[g].workers_per_vm);
      Vm vm = shared;
      vm.group = &group;
      vm.count = group.vms;
      vm.network_share = share_of(group.network, between.inverse_bandwidth);
      vm.inside_share = share_of(group.inside, inside.inverse_bandwidth);
      links[i].vms.push_back(vm);
    }
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    add_servers(network, jobs[i], Detail::kEachGroup, links[i].servers);
  }
  return links;
}

std::vector<Chain> collective_flows(FlowNetwork& network, const StepSetup& setup,
                                    const ClusterLinks& links) {
  const int members = workers(setup);
  if (members == 1) return {};
  const int vms = count_of(links.vms);
  switch (setup.collective) {
    case Collective::kRing:
      return {{{ring(network, links, vms == 1 ? members : vms)}}};
    case Collective::kHierarchical:
      return {hierarchical(network, links)};
    case Collective::kParameterServer:
      return server_chains(network, links, setup.servers);
    case Collective::kTopK:
      return {{{top_k(network, setup, links)}}};
  }
  CHECK(false);
}

}  // namespace stint
