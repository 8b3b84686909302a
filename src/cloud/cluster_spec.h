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

/// The spot market of the emulated cloud from a moment on.
struct PoolChange {
  Seconds at;                               // Since the cluster's creation.
  int spot = 0;                             // Number of spot VMs that can be had.
  std::optional<double> price_factor = {};  // Factor on the specs' spot prices; absent: unchanged.
  bool unannounced = false;  // VMs beyond the capacity are interrupted without notice.
};

inline constexpr NumberLimits kPriceFactors{.min = 1e-6, .max = 1e6};

/// In the following functions `pool` is sorted by time, and times are since the cluster's creation.

/// The number of spot VMs that can be had; absent before the first change: no limit.
std::optional<int> spot_capacity(std::span<const PoolChange> pool, Seconds now);

/// The factor on spot prices.
double spot_price_factor(std::span<const PoolChange> pool, Seconds now);

/// The time from `from` to `to` with each piece weighted by its factor, so that a spec's price
/// times this is the cost of a spot VM:
///
///   integral of factor(t) dt = sum over the pieces between changes of length x factor
Seconds priced_time(std::span<const PoolChange> pool, Seconds from, Seconds to);

/// The same pool for a cluster that is created this much later.
std::vector<PoolChange> pool_from(std::span<const PoolChange> pool, Seconds later);

/// Reads a table at_s,spot[,price_factor][,unannounced]. Bad input: a row that is not later than
/// the one before, a count that is not a whole number from 0 on, a factor that is not above zero.
Result<std::vector<PoolChange>> read_pool(std::string_view text, const std::string& source);

/// One requested machine of the emulated cloud.
struct VmSpec {
  std::string name = {};  // "vm1".
  std::string type = {};  // "local.small".
  Market market = Market::kOnDemand;
  BytesPerSecond network = {};       // Rate to which its NIC is shaped, in each direction.
  DollarsPerSecond price = {};       // Before the pool's factor.
  std::optional<Seconds> life = {};  // From launch to the spot interruption; absent: until the end.
};

/// A requested cluster of the emulated cloud.
struct ClusterSpec {
  std::string name = "local";
  std::vector<VmSpec> vms;                // VMs at the start; see LocalCluster for later ones.
  Seconds notice = 120 * kSecond;         // Spot interruption notice; the default is that of EC2.
  std::optional<double> processors = {};  // Processors that each VM may use; absent: all.
  bool ends_with_maker = false;           // The cluster ends with the process that made it.
  std::vector<PoolChange> pool = {};      // Changes of the spot market, sorted by time.
};

/// The VMs of `cluster`, named vm1, vm2, … in its order. Usage errors: a type that the catalogue
/// does not have, that another provider rents, or that has no network or price.
Result<ClusterSpec> cluster_spec(const Cluster& cluster, const Catalog& catalog, std::string name);

/// A usage error unless `name` can be a folder and a part of the names of the cluster's parts.
Status check_cluster_name(std::string_view name);

/// The same for a VM; here '_' is not allowed.
Status check_vm_name(std::string_view name);

/// VMs × rate up to which the network of a computer with two cores reaches the shaped rates,
/// measured.
inline constexpr BytesPerSecond kHonestTraffic = 4 * kGbit / kSecond;

/// Beyond this limit the rates measure the computer only, so that the cluster is refused.
inline constexpr BytesPerSecond kTrafficMax = 4 * kHonestTraffic;

inline constexpr std::size_t kVmsOfClusterMax = 64;  // At the same time.
inline constexpr std::size_t kVmsOfLifeMax = 10000;  // Over the life of the cluster.

/// The total rate of all NICs of the cluster, in one direction.
BytesPerSecond traffic_of(const ClusterSpec& spec);

/// An error when the cluster is far beyond the measured limit, else a warning, or nothing.
Result<std::string> traffic_warning(const ClusterSpec& spec);

inline constexpr const char* kVmSpecSchema = "stint.vm_spec/1";

// For the codec: the request for a VM that a keeper receives.
template <class Walk>
void describe(Walk& walk, Like<Walk, VmSpec>& it) {
  walk.field("name", it.name, "Name of the VM.");
  walk.field("type", it.type, "VM type.");
  walk.field("market", it.market, "Market of the VM.");
  walk.number("network_bytes_per_s", it.network, kByte / kSecond,
              "Rate to which the NIC is shaped.", Range::kPositive);
  walk.number("price_usd_per_s", it.price, kDollar / kSecond, "Price per second.",
              Range::kNotNegative);
  walk.number("life_s", it.life, kSecond, "Time from launch to the spot interruption.",
              Range::kNotNegative);
}

}  // namespace stint
