#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/codec.h"
#include "base/units.h"
#include "cloud/cluster_spec.h"

namespace stint {

/// The phase of a VM of the emulated cloud.
enum class VmPhase { kRunning, kNoticed, kTaken };

std::span<const EnumName<VmPhase>> names_of(VmPhase type);

/// One VM from its launch on. Times are since the creation of its cluster.
struct VmRecord {
  VmSpec spec;
  std::string address;  // Inside the cluster.
  Seconds born;
  std::optional<Seconds> takes_at = {};  // Time of the spot interruption, once it is known.
  Seconds notice = {};                   // Interruption notice before that time.
  std::optional<Seconds> ended = {};     // End of the VM, for any reason.
  bool released = false;                 // The VM was released.
};

/// The record of a VM that is launched now.
VmRecord born_vm(const VmSpec& spec, std::string address, Seconds notice, Seconds now);

/// Preempts the VM after `notice`, unless it is preempted earlier anyway.
void preempt(VmRecord& vm, Seconds notice, Seconds now);

VmPhase phase_of(const VmRecord& vm, Seconds now);

/// The time of the next event of the VM by itself; absent: there is none.
std::optional<Seconds> next_event(const VmRecord& vm, Seconds now);

/// The price of the VM per second; zero after its end.
DollarsPerSecond price_of(const VmRecord& vm, std::span<const PoolChange> pool, Seconds now);

/// The cost of the VM: its price of each moment from its launch until its end, or until now. Every
/// second counts, from the first on.
Dollars cost_of(const VmRecord& vm, std::span<const PoolChange> pool, Seconds now);

inline constexpr const char* kClusterSchema = "stint.cluster/1";

/// One VM of a running cluster.
struct VmStatus {
  std::string name;
  std::string type;
  Market market = Market::kOnDemand;
  std::string address;
  BytesPerSecond network;
  VmPhase phase = VmPhase::kRunning;
  Seconds born = {};            // Since the creation of the cluster.
  Seconds age = {};             // Time since the launch, until the end.
  DollarsPerSecond price = {};  // Present price; zero after its end.
  Dollars cost = {};
  std::optional<std::string> takes_at = {};  // UTC, once there is a notice.
  std::optional<Seconds> takes_in = {};      // The same as the time that is left.
  std::optional<bool> released = {};         // The VM ended because it was released.
  std::optional<std::string> cgroup = {};    // Cgroup of its processes, under a quota.
  Json::Object unknown = {};
};

/// A running cluster and its bill, in prices of the catalogue; no real money is spent.
struct ClusterStatus {
  std::string name;
  std::string since;  // UTC.
  Seconds age = {};
  bool user_namespace = false;
  std::vector<VmStatus> vms = {};         // Including VMs that ended, for the bill.
  std::optional<int> spot_capacity = {};  // Spot VMs that can be had; absent: no limit.
  Dollars cost_on_demand;
  Dollars cost_spot;
  Json::Object unknown = {};
};

/// The status of these VMs of a cluster, `now` after its creation at `birth`, a time since 1970.
ClusterStatus status_of(const ClusterSpec& spec, Seconds birth, std::span<const VmRecord> vms,
                        Seconds now);

/// The VM called `name`, up or ended, or a usage error that lists the VMs.
Result<const VmStatus*> find_vm(const ClusterStatus& status, const std::string& name);

Json cluster_schema();

// For the codec.
template <class Walk>
void describe(Walk& walk, Like<Walk, VmStatus>& it) {
  walk.field("name", it.name, "Name of the VM.");
  walk.field("type", it.type, "VM type.");
  walk.field("market", it.market, "Market of the VM.");
  walk.field("address", it.address, "Address inside the cluster.");
  walk.number("network_bytes_per_s", it.network, kByte / kSecond,
              "Rate to which the NIC is shaped.", Range::kPositive);
  walk.field("phase", it.phase, "Whether the VM runs, has an interruption notice, or ended.");
  walk.number("born_s", it.born, kSecond, "Time of the launch, since the creation of the cluster.",
              Range::kNotNegative);
  walk.number("age_s", it.age, kSecond, "Time since the launch of the VM, until its end.",
              Range::kNotNegative);
  walk.number("price_usd_per_s", it.price, kDollar / kSecond,
              "Present price per second; 0 after the end of the VM.", Range::kNotNegative);
  walk.number("cost_usd", it.cost, kDollar, "Cost since the launch of the VM.",
              Range::kNotNegative);
  walk.field("takes_at", it.takes_at, "Time of the spot interruption, UTC.");
  walk.number("takes_in_s", it.takes_in, kSecond, "Time left until the spot interruption.",
              Range::kNotNegative);
  walk.field("released", it.released, "Whether the VM ended because it was released.");
  walk.field("cgroup", it.cgroup,
             "Folder of the cgroup that holds the VM's processes, under a quota.");
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, ClusterStatus>& it) {
  walk.field("name", it.name, "Name of the cluster.");
  walk.field("since", it.since, "Time of creation, UTC.");
  walk.number("age_s", it.age, kSecond, "Time since the creation of the cluster.",
              Range::kNotNegative);
  walk.field("user_namespace", it.user_namespace, "Whether the cluster was created without root.");
  walk.field("vms", it.vms, "VMs in the order of their launches, including those that ended.");
  walk.field("spot_capacity", it.spot_capacity,
             "Number of spot VMs that can be had; absent: no limit.",
             {.range = Range::kNotNegative});
  walk.number("cost_on_demand_usd", it.cost_on_demand, kDollar, "Cost of the on-demand VMs.",
              Range::kNotNegative);
  walk.number("cost_spot_usd", it.cost_spot, kDollar, "Cost of the spot VMs.", Range::kNotNegative);
  walk.rest(it.unknown);
}

}  // namespace stint
