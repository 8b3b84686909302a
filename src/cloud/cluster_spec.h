#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/codec_fields.h"
#include "base/result.h"
#include "base/units.h"
#include "catalog/catalog.h"
#include "catalog/market.h"
#include "plan/layout.h"

namespace stint {

/// What the spot market of the emulated cloud is like from a moment on.
struct PoolChange {
  Seconds at;                               // Since the cluster's birth.
  int spot = 0;                             // How many spot VMs there are.
  std::optional<double> price_factor = {};  // Of the specs' spot prices; absent: as before.
  bool unannounced = false;                 // VMs that are too many go without a notice.
};

/// In these, `pool` is sorted by time, and times are since the cluster's birth.

/// How many spot VMs there are; absent before the first change: no limit.
std::optional<int> spot_capacity(std::span<const PoolChange> pool, Seconds now);

/// What spot prices are multiplied by.
double spot_price_factor(std::span<const PoolChange> pool, Seconds now);

/// The time from `from` to `to` with each piece weighted by its factor, so that a spec's price
/// times this is what a spot VM costs:
///
///   integral of factor(t) dt = sum over the pieces between changes of length x factor
Seconds priced_time(std::span<const PoolChange> pool, Seconds from, Seconds to);

/// The same pool for a cluster that is born so much later.
std::vector<PoolChange> pool_from(std::span<const PoolChange> pool, Seconds later);

/// Reads a table at_s,spot[,price_factor][,unannounced]. Bad input: a row that is not later than
/// the one before, a count that is no whole number from 0 on, a factor that is not above zero.
Result<std::vector<PoolChange>> read_pool(std::string_view text, const std::string& source);

/// One machine of the emulated cloud, as it is asked for.
struct VmSpec {
  std::string name = {};  // "vm1".
  std::string type = {};  // "local.small".
  Market market = Market::kOnDemand;
  BytesPerSecond network = {};       // What its NIC is shaped to, each direction.
  DollarsPerSecond price = {};       // Before the pool's factor.
  std::optional<Seconds> life = {};  // From birth until it is taken back; absent: until the end.
};

/// A cluster of the emulated cloud, as it is asked for.
struct ClusterSpec {
  std::string name = "local";
  std::vector<VmSpec> vms;                // More may come and go; see LocalCluster.
  Seconds notice = 120 * kSecond;         // Before a VM is taken back, as EC2 gives it.
  std::optional<double> processors = {};  // How many each VM may use; absent: all there are.
  bool ends_with_maker = false;           // Everything goes when the process that made it is gone.
  std::vector<PoolChange> pool = {};      // Of the spot market, sorted by time.
};

/// The VMs of `cluster`, called vm1, vm2, … in its order. Usage errors: a type that the catalogue
/// does not know, that another provider rents, or that has no network or price.
Result<ClusterSpec> cluster_spec(const Cluster& cluster, const Catalog& catalog, std::string name);

/// A usage error unless `name` may be a folder and a part of the names of what is made for it.
Status check_cluster_name(std::string_view name);

/// The same for a VM; here '_' is not allowed.
Status check_vm_name(std::string_view name);

/// VMs × rate up to which the network of one computer with two cores keeps its promise, measured.
inline constexpr BytesPerSecond kHonestTraffic = 4 * kGbit / kSecond;

/// Beyond this one measures the computer only, so that it is refused.
inline constexpr BytesPerSecond kTrafficMax = 4 * kHonestTraffic;

inline constexpr std::size_t kVmsOfClusterMax = 64;  // At once.
inline constexpr std::size_t kVmsOfLifeMax = 10000;  // One after the other.

/// What all NICs of the cluster carry at once, one direction.
BytesPerSecond traffic_of(const ClusterSpec& spec);

/// An error when the cluster is far outside the honest limit, else a warning, or nothing.
Result<std::string> traffic_warning(const ClusterSpec& spec);

inline constexpr const char* kVmSpecSchema = "stint.vm_spec/1";

// For the codec: so a VM is asked for from a keeper.
template <class Walk>
void describe(Walk& walk, Like<Walk, VmSpec>& it) {
  walk.field("name", it.name, "Name of the VM.");
  walk.field("type", it.type, "VM type.");
  walk.field("market", it.market, "Market of the VM.");
  walk.number("network_bytes_per_s", it.network, kByte / kSecond,
              "Rate to which the NIC is shaped.", Range::kPositive);
  walk.number("price_usd_per_s", it.price, kDollar / kSecond, "Price per second.",
              Range::kNotNegative);
  walk.number("life_s", it.life, kSecond, "Time until the spot interruption.", Range::kNotNegative);
}

}  // namespace stint
