#pragma once

#include <optional>
#include <span>

#include "base/codec.h"
#include "base/result.h"
#include "base/units.h"
#include "catalog/catalog.h"
#include "catalog/transport.h"
#include "plan/calibration.h"
#include "predict/collective.h"

namespace stint {

/// How the accelerators of one VM reach each other.
enum class InsideTopology {
  kSwitched,  // NVSwitch: any two at the full rate of the link.
  kMesh,      // NVLink or Infinity Fabric without a switch: a part of the lanes to each other one.
  kPcie,
};

enum class CollectiveKind {
  kAllReduce,
  kAllGather,      // The payload is what a worker has in the end.
  kReduceScatter,  // The payload is what a worker has at the start.
  kAllToAll,       // The payload is what a worker has, of which it keeps 1/n.
  kBroadcast,
  kPointToPoint,
};

std::span<const EnumName<InsideTopology>> names_of(InsideTopology type);
std::span<const EnumName<CollectiveKind>> names_of(CollectiveKind type);

/// The links between the workers of a cluster of equal VMs, by their nominal figures.
struct Fabric {
  InsideTopology inside = InsideTopology::kSwitched;
  BytesPerSecond inside_rate;  // Of one accelerator, one direction.
  int accelerators_per_vm = 8;
  int workers_per_vm = 8;
  int vms = 1;
  TransportFamily transport = TransportFamily::kRdma;
  BytesPerSecond line_rate;                // Of one VM, one direction, all its NICs.
  std::optional<BytesPerSecond> flow_cap;  // Of one TCP flow.
  int flows = 1;                           // TCP flows between two VMs.
};

/// Sets the link inside the VM by the figures of its accelerator: NVLink from the third generation
/// on is switched, older ones and other links between accelerators are meshes, and without such a
/// link the accelerators meet on PCIe. False, and nothing changes, when the figures are missing.
bool set_inside(Fabric& fabric, const Gpu& gpu);

/// What is known of one kind of link.
struct LinkLaw {
  Seconds latency;        // One step of a collective.
  double efficiency = 1;  // Largest share of the nominal rate.
  double blend = 1;       // p of collective_time; 1: a step begins when the one before has ended.
  // Nanoseconds for each byte after the wire delivered it: over TCP a processor copies them all.
  double host = 0;
  // Spread of the logarithms between fabrics of this kind.
  double latency_deviation = 0;
  double efficiency_deviation = 0;
};

/// The constants of collective_time.
struct CollectiveLaw {
  Seconds launch;  // Before the first step.
  LinkLaw switched;
  LinkLaw mesh;
  LinkLaw pcie;
  LinkLaw tcp;
  LinkLaw rdma;
  double mesh_exponent = 1;      // Lanes in use: ((w - 1)/(accelerators - 1))^mesh_exponent.
  double mesh_all_to_all = 1;    // Share of those that an all-to-all of all accelerators uses.
  double tree_efficiency = 1;    // Rate of trees over that of rings.
  double loss_per_doubling = 0;  // Share of the rate lost with each doubling of VMs beyond two.
};

/// Calls `visit(scope, name, member)` for each constant of `law`, a Seconds or a ratio; the scope
/// is "collectives", or that and the kind of link as in "collectives: rdma".
template <class Law, class Visit>
void for_each_constant(Law& law, Visit visit) {
  visit("collectives", "launch", law.launch);
  visit("collectives", "mesh_exponent", law.mesh_exponent);
  visit("collectives", "mesh_all_to_all", law.mesh_all_to_all);
  visit("collectives", "tree_efficiency", law.tree_efficiency);
  visit("collectives", "loss_per_doubling", law.loss_per_doubling);
  const auto link = [&](const char* scope, auto& it) {
    visit(scope, "latency", it.latency);
    visit(scope, "efficiency", it.efficiency);
    visit(scope, "blend", it.blend);
    visit(scope, "host_cost", it.host);
    visit(scope, "latency_deviation", it.latency_deviation);
    visit(scope, "efficiency_deviation", it.efficiency_deviation);
  };
  link("collectives: switched", law.switched);
  link("collectives: mesh", law.mesh);
  link("collectives: pcie", law.pcie);
  link("collectives: tcp", law.tcp);
  link("collectives: rdma", law.rdma);
}

/// The law whose constants `calibration` has (data/calibration/collectives.json); bad input when
/// one is missing or out of range.
Result<CollectiveLaw> collective_law(const Calibration& calibration);

const LinkLaw& inside_law(const CollectiveLaw& law, InsideTopology link);
const LinkLaw& between_law(const CollectiveLaw& law, TransportFamily transport);

/// The nominal rate between VMs: the line rate, for TCP at most flows · flow_cap.
BytesPerSecond nominal_rate(const Fabric& fabric);

/// Time of a collective of `payload` (as nccl-tests counts bytes) over all workers of `fabric`.
///
///   T = (L^p + M^p)^(1/p)
///
/// L are the latencies of the steps, M the bytes through the slowest link over its rate, and p the
/// blend: steps one after the other add (p = 1), the best pipeline has p = 1/2 (Johnsson and Ho
/// 1989). Inside a VM of w workers, and between N VMs through the NIC of one:
///
///   M_in = k (w − 1)/w · S / (inside rate · lanes · e_in)
///   M    = k (N − 1)/N · S (1 / (nominal rate · e · (1 − loss)^log₂(N/2)) + host)
///
/// with k = 2 for an all-reduce and 1 for others; a broadcast and a message carry S. An all-reduce
/// takes the best of
///
///   ring over all workers: k (n − 1)/n bytes, L = k ((N − 1) α + N (w − 1) α_in)
///   hierarchical:          M,                 L = k ((N − 1) α + (w − 1) α_in)
///   tree:                  M / e_tree,        L = k (log₂ N · α + log₂ w · α_in)
///
/// as NCCL does by size; other collectives have no tree, except the broadcast. It never takes less
/// than inside one VM. One worker costs nothing. Requires counts ≥ 1 and rates above zero for the
/// links in use.
Seconds collective_time(CollectiveKind kind, Bytes payload, const Fabric& fabric,
                        const CollectiveLaw& law);

/// What is expected of the slowest link of a fabric before anything is measured on it.
struct ExpectedLink {
  // So that Link{1/bandwidth, latency} in ring_allreduce_time over the VMs (inside one VM: its
  // workers) gives the law's time of the message.
  BytesPerSecond bandwidth;
  Seconds latency;  // One step.
  // Spread of the logarithms between fabrics that share these figures.
  double bandwidth_deviation = 0;
  double latency_deviation = 0;

  Link link() const { return {.inverse_bandwidth = 1 / bandwidth, .latency = latency}; }
};

/// The expectation for all-reduces of messages of `payload`. Requires two workers or more.
ExpectedLink expected_link(const Fabric& fabric, Bytes payload, const CollectiveLaw& law);

}  // namespace stint
