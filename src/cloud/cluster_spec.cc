#include "cloud/cluster_spec.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"
#include "catalog/lookup.h"

namespace stint {
namespace {

constexpr std::size_t kNameMax = 32;

Result<VmSpec> vm_spec(const VmGroup& group, const Catalog& catalog) {
  const auto found = find_type(catalog, group.vm);
  if (!found.ok()) return found.error();
  const VmType& type = **found;
  if (type.provider != kLocalProvider) {
    return bad_usage(fmt::format(
        "{} is a machine of {}; the emulated cloud has those of 'stint catalog list --providers "
        "local', for example local.small",
        type.name, type.provider));
  }
  const auto network = network_rate(type);
  std::optional<Price> price;
  for (const Offer& offer : type.offers) {
    if (!price) price = group.market == Market::kSpot ? offer.spot : offer.on_demand;
  }
  if (!network || *network <= BytesPerSecond{} || !price) {
    return bad_usage(fmt::format("{} has no {} in the catalogue, so it cannot be emulated",
                                 type.name, price ? "network speed" : "price on that market"));
  }
  return VmSpec{.name = {},
                .type = type.name,
                .market = group.market,
                .network = *network,
                .price = price->rate};
}

double in_gbit(BytesPerSecond rate) { return rate.in(kGbit / kSecond); }

Status check_name(std::string_view name, std::string_view whose, bool underscore) {
  const auto fits = [&](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           (underscore && c == '_');
  };
  const bool good = !name.empty() && name.size() <= kNameMax && name[0] != '-' &&
                    std::all_of(name.begin(), name.end(), fits);
  if (good) return {};
  return bad_usage(
      fmt::format("'{}' cannot be the name of a {}: give one of up to {} letters, digits{}",
                  printable(name), whose, kNameMax, underscore ? ", '-' and '_'" : " and '-'"));
}

}  // namespace

Status check_cluster_name(std::string_view name) { return check_name(name, "cluster", true); }

Status check_vm_name(std::string_view name) { return check_name(name, "VM", false); }

Result<ClusterSpec> cluster_spec(const Cluster& cluster, const Catalog& catalog, std::string name) {
  const Status named = check_cluster_name(name);
  if (!named.ok()) return named.error();
  ClusterSpec spec{.name = std::move(name), .vms = {}};
  for (const VmGroup& group : cluster.groups) {
    const auto vm = vm_spec(group, catalog);
    if (!vm.ok()) return vm.error();
    for (int i = 0; i < group.count; ++i) {
      if (spec.vms.size() == kVmsOfClusterMax) {
        return bad_usage(
            fmt::format("one computer emulates up to {} VMs; ask for fewer", kVmsOfClusterMax));
      }
      spec.vms.push_back(*vm);
      spec.vms.back().name = fmt::format("vm{}", spec.vms.size());
    }
  }
  return spec;
}

BytesPerSecond traffic_of(const ClusterSpec& spec) {
  BytesPerSecond sum;
  for (const VmSpec& vm : spec.vms) sum += vm.network;
  return sum;
}

Result<std::string> traffic_warning(const ClusterSpec& spec) {
  const BytesPerSecond traffic = traffic_of(spec);
  if (traffic <= kHonestTraffic) return std::string();
  const std::string excess = fmt::format(
      "the NICs of {} add up to {:g} Gbit/s, and one computer emulates up to {:g} honestly",
      counted(spec.vms.size(), "VM"), in_gbit(traffic), in_gbit(kHonestTraffic));
  if (traffic > kTrafficMax) {
    return bad_usage(fmt::format("{}; ask for fewer or slower VMs, up to {:g} Gbit/s in all",
                                 excess, in_gbit(kTrafficMax)));
  }
  return excess + "; what is measured here may be the computer, not the network";
}

}  // namespace stint
