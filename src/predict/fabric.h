#pragma once

#include <map>
#include <optional>

#include "base/result.h"
#include "base/units.h"
#include "plan/calibration.h"
#include "predict/collective_law.h"
#include "predict/law.h"

namespace stint {

/// A number and its standard deviation.
struct Believed {
  double mean = 0;
  double deviation = 0;
};

/// What physics and published clusters say of a network of one transport before anything is
/// measured on it. Costs are those of a byte through the NIC of a VM while a step computes:
///
///   β = 1/(efficiency · line rate) + host
///   efficiency = e · step_share,  host = h / step_share + step_cost
///
/// where e and h are those of large collectives alone, which predict/collective_law.h has: over TCP
/// a processor copies every byte after the wire delivered it, which limits fast NICs; by RDMA
/// hardly anything comes after the wire. Likewise a doubling of the workers adds the latency
/// 2 α · latency_share to a bucket, α that of one step of a collective; a tree takes two.
struct TransportLaw {
  Believed efficiency;  // Of the line rate; the deviation is that of ln β.
  double host = 0;      // ns per byte.
  Believed step_share;  // Rate inside a step over that of a large collective alone.
  double latency_share = 1;
  Believed by_vms;      // As cost_by_vms of FabricLaw.
  Believed by_workers;  // As cost_by_workers and two_vm_workers.
  Believed depth;       // ln of depth_cost over β.
  Believed latency;     // As latency of FabricLaw.
  double server = 0;    // ns per byte that a parameter server adds to β.
};

/// What is known of a link inside a VM: efficiency = e · step_share, as above.
struct InsideLaw {
  Believed efficiency;  // Of the rate one way; the deviation is that of the cost's logarithm.
  double rate = 0;      // GB/s one way, where nothing else is known.
};

/// How fast what was learned on one network fades on another: each figure is subtracted from ln of
/// the weight.
struct FabricDistance {
  double rate = 0;       // Per doubling or halving of the line rate.
  double workers = 0;    // Per doubling of the workers of a VM beyond the largest number.
  double transport = 0;  // Another transport.
  double inside = 0;     // Another link inside the VM, hence other hosts.
  double cluster = 0;    // Another cluster, whatever its facts.
};

/// The law of collectives with the constants of data/calibration/fabrics.json.
struct FabricPhysics {
  std::map<TransportFamily, TransportLaw> transports;
  std::map<InsideLinkKind, InsideLaw> insides;
  FabricDistance distance;
};

/// The physics of networks inside steps: rates and latencies of `law`, the one source of them, and
/// what steps make of them by `calibration`. Bad input that names the constant when one is missing.
Result<FabricPhysics> fabric_physics(const Calibration& calibration, const CollectiveLaw& law);

/// The prior of a FabricLaw: its constants and their deviations.
struct FabricPrior {
  FabricLaw mean;
  FabricLaw deviation;
};

/// What is known of networks that a calibration was not fitted on.
struct NetworkKnowledge {
  FabricPhysics physics;
  FabricPrior unknown;  // Of any network.
};

/// The prior of a network. Where the transport is unknown it is the mixture of all; where the rate
/// is unknown the costs are those of `unknown`, which is the prior of any network. Constants that
/// are not the network's (contention for the host, overlap) are those of `unknown` too.
FabricPrior fabric_prior(const NetworkKnowledge& knowledge, const FabricFacts& facts);

/// What a law that was fitted on one network says of another. A network's deviation from its prior
/// is correlated between networks with a weight w that falls with their distance, so
///
///   θ' = prior' + w (θ − prior)
///
/// for each constant of the network, and √(1 − w²) of the prior's deviation of the cost is left.
struct FabricTransfer {
  double weight = 1;         // Of constants between VMs.
  double inside_weight = 1;  // Of the link inside.
  FabricLaw offset;          // prior' − w prior; zero for constants that are not the network's.
  double deviation = 0;      // Of ln of the cost between VMs, beyond the calibration's own.
  BytesPerSecond rate;       // Line rate of the other network.
};

/// From the network of a calibration to another one. Facts of `from` that are unknown count as
/// equal; a `to` without a transport has that of `from`, and one without either TCP. `further` is
/// added to the distance between VMs.
FabricTransfer fabric_transfer(const NetworkKnowledge& knowledge, const FabricFacts& from,
                               const FabricFacts& to, double further = 0);

/// The weight of one constant; nothing for those that are not the network's.
std::optional<double> weight_of(const FabricTransfer& transfer, double FabricLaw::*constant);

/// θ' of the above.
FabricLaw transferred(const FabricLaw& fabric, const FabricTransfer& transfer);

}  // namespace stint
