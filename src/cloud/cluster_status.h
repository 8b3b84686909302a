#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/codec.h"
#include "base/units.h"
#include "cloud/cluster_spec.h"

namespace stint {

/// Where a VM of the emulated cloud stands.
enum class VmPhase { kRunning, kNoticed, kTaken };

std::span<const EnumName<VmPhase>> names_of(VmPhase type);

/// One VM from its birth on. Times are since the birth of its cluster.
struct VmRecord {
  VmSpec spec;
  std::string address;  // Inside the cluster.
  Seconds born;
  std::optional<Seconds> takes_at = {};  // When it is taken back, once that is known.
  Seconds notice = {};                   // So long before it is told.
  std::optional<Seconds> ended = {};     // When it was gone, whatever the reason.
  bool released = false;                 // Because it was given back.
};

/// The record of a VM that is born now.
VmRecord born_vm(const VmSpec& spec, std::string address, Seconds notice, Seconds now);

/// Takes the VM back after `notice`, unless that happens earlier anyway.
void preempt(VmRecord& vm, Seconds notice, Seconds now);

VmPhase phase_of(const VmRecord& vm, Seconds now);

/// The next moment at which something happens to the VM by itself; absent: nothing will.
std::optional<Seconds> next_event(const VmRecord& vm, Seconds now);

/// What a second of the VM costs now; nothing once it is gone.
DollarsPerSecond price_of(const VmRecord& vm, std::span<const PoolChange> pool, Seconds now);

/// What the VM has cost: its price of each moment from birth until it ended, or until now. Every
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
  Seconds born = {};            // Since the birth of the cluster.
  Seconds age = {};             // Until it ended.
  DollarsPerSecond price = {};  // At present; nothing once it is gone.
  Dollars cost = {};
  std::optional<std::string> takes_at = {};  // UTC, once it is told.
  std::optional<Seconds> takes_in = {};      // The same as the time that is left.
  std::optional<bool> released = {};         // Taken means given back.
  std::optional<std::string> cgroup = {};    // Whose processes it holds, under a quota.
  Json::Object unknown = {};
};

/// A running cluster and its bill. Nobody pays it: the prices are the catalogue's.
struct ClusterStatus {
  std::string name;
  std::string since;  // UTC.
  Seconds age = {};
  bool user_namespace = false;
  std::vector<VmStatus> vms = {};         // Those that are gone stay, for the bill.
  std::optional<int> spot_capacity = {};  // How many spot VMs there are; absent: no limit.
  Dollars cost_on_demand;
  Dollars cost_spot;
  Json::Object unknown = {};
};

/// The status of these VMs of a cluster, `now` after its `birth`, a time since 1970.
ClusterStatus status_of(const ClusterSpec& spec, Seconds birth, std::span<const VmRecord> vms,
                        Seconds now);

/// The VM called `name`, gone or not, or a usage error that lists those there are.
Result<const VmStatus*> find_vm(const ClusterStatus& status, const std::string& name);

Json cluster_schema();

// For the codec.
template <class Walk>
void describe(Walk& walk, Like<Walk, VmStatus>& it) {
  walk.field("name", it.name, "What it is called.");
  walk.field("type", it.type, "Its VM type.");
  walk.field("market", it.market, "How it is paid.");
  walk.field("address", it.address, "Inside the cluster.");
  walk.number("network_bytes_per_s", it.network, kByte / kSecond, "What its NIC is shaped to.",
              Range::kPositive);
  walk.field("phase", it.phase, "Whether it runs, was told, or was taken.");
  walk.number("born_s", it.born, kSecond, "Since the birth of the cluster.", Range::kNotNegative);
  walk.number("age_s", it.age, kSecond, "Since its birth, until it ended.", Range::kNotNegative);
  walk.number("price_usd_per_s", it.price, kDollar / kSecond, "At present; 0 once it is gone.",
              Range::kNotNegative);
  walk.number("cost_usd", it.cost, kDollar, "Since its birth.", Range::kNotNegative);
  walk.field("takes_at", it.takes_at, "When it is taken back.");
  walk.number("takes_in_s", it.takes_in, kSecond, "Until it is taken back.", Range::kNotNegative);
  walk.field("released", it.released, "Whether it was taken because it was given back.");
  walk.field("cgroup", it.cgroup, "The folder of its cgroup, under a quota.");
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, ClusterStatus>& it) {
  walk.field("name", it.name, "What it is called.");
  walk.field("since", it.since, "When it was made.");
  walk.number("age_s", it.age, kSecond, "Since then.", Range::kNotNegative);
  walk.field("user_namespace", it.user_namespace, "Whether it was made without root.");
  walk.field("vms", it.vms, "In the order of their births, those that are gone too.");
  walk.field("spot_capacity", it.spot_capacity, "How many spot VMs there are; absent: no limit.",
             {.range = Range::kNotNegative});
  walk.number("cost_on_demand_usd", it.cost_on_demand, kDollar, "Of the VMs on demand.",
              Range::kNotNegative);
  walk.number("cost_spot_usd", it.cost_spot, kDollar, "Of the spot VMs.", Range::kNotNegative);
  walk.rest(it.unknown);
}

}  // namespace stint
