#include "cloud/cluster_spec.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/csv.h"
#include "base/text.h"
#include "catalog/lookup.h"

namespace stint {
namespace {

Result<PoolChange> change_at(const Csv& table, std::size_t row) {
  PoolChange change;
  const auto at = parse_double(table.cell(row, "at_s"));
  if (!at || *at < 0) {
    return table.error_at(row, "at_s", "must be a number of seconds of 0 or more");
  }
  const std::string late = range_problem(Range::kNotNegative, *at,
                                         printable(table.cell(row, "at_s")), limits_in(kSecond));
  if (!late.empty()) return table.error_at(row, "at_s", late);
  change.at = *at * kSecond;
  const auto spot = parse_int(table.cell(row, "spot"));
  if (!spot || *spot < 0 || *spot > kVmsMax) {
    return table.error_at(row, "spot",
                          fmt::format("must be a whole number of VMs from 0 to {}", kVmsMax));
  }
  change.spot = *spot;
  if (const std::string_view cell = table.cell(row, "price_factor"); !cell.empty()) {
    change.price_factor = parse_double(cell);
    if (!change.price_factor || *change.price_factor <= 0) {
      return table.error_at(row, "price_factor", "must be a number above zero, such as 1.5");
    }
    const std::string wrong =
        range_problem(Range::kPositive, *change.price_factor, printable(cell), kPriceFactors);
    if (!wrong.empty()) return table.error_at(row, "price_factor", wrong);
  }
  const std::string_view unannounced = table.cell(row, "unannounced");
  change.unannounced = unannounced == "true";
  if (!change.unannounced && unannounced != "false" && !unannounced.empty()) {
    return table.error_at(row, "unannounced", "must be true or false");
  }
  return change;
}

constexpr std::size_t kNameMax = 32;

Result<VmSpec> vm_spec(const VmGroup& group, const Catalog& catalog) {
  const auto found = find_type(catalog, group.vm);
  if (!found.ok()) return found.error();
  const VmType& type = **found;
  if (type.provider != kLocalProvider) {
    return bad_usage(
        fmt::format("{} is a machine of {}; the emulated cloud has the types of 'stint catalog "
                    "list --providers local', for example local.small",
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
  return bad_usage(fmt::format("'{}' is not a valid name of a {}: use up to {} letters, digits{}",
                               printable(name), whose, kNameMax,
                               underscore ? ", '-' and '_'" : " and '-'"));
}

}  // namespace

std::optional<int> spot_capacity(std::span<const PoolChange> pool, Seconds now) {
  std::optional<int> capacity;
  for (const PoolChange& change : pool) {
    if (change.at <= now) capacity = change.spot;
  }
  return capacity;
}

double spot_price_factor(std::span<const PoolChange> pool, Seconds now) {
  double factor = 1;
  for (const PoolChange& change : pool) {
    if (change.at <= now) factor = change.price_factor.value_or(factor);
  }
  return factor;
}

Seconds priced_time(std::span<const PoolChange> pool, Seconds from, Seconds to) {
  Seconds sum;
  double factor = 1;
  Seconds begin = from;
  for (const PoolChange& change : pool) {
    const Seconds end = std::clamp(change.at, begin, std::max(begin, to));
    sum += factor * (end - begin);
    begin = end;
    factor = change.price_factor.value_or(factor);
  }
  return sum + factor * std::max(Seconds{}, to - begin);
}

std::vector<PoolChange> pool_from(std::span<const PoolChange> pool, Seconds later) {
  std::vector<PoolChange> rest;
  for (PoolChange change : pool) {
    const bool past = change.at <= later;
    if (past) change.price_factor = spot_price_factor(pool, later);
    if (past && !rest.empty()) rest.clear();  // The last past change is the state at the start.
    change.at = past ? Seconds{} : change.at - later;
    rest.push_back(change);
  }
  return rest;
}

Result<std::vector<PoolChange>> read_pool(std::string_view text, const std::string& source) {
  const auto table = Csv::parse(text, source);
  if (!table.ok()) return table.error();
  const Status complete = table->require_columns({"at_s", "spot"});
  if (!complete.ok()) return complete.error();
  std::vector<PoolChange> pool;
  for (std::size_t row = 0; row < table->rows(); ++row) {
    const auto change = change_at(*table, row);
    if (!change.ok()) return change.error();
    if (!pool.empty() && change->at <= pool.back().at) {
      return table->error_at(row, "at_s", "must be later than in the row above");
    }
    pool.push_back(*change);
  }
  return pool;
}

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
            fmt::format("one computer emulates up to {} VMs; use fewer", kVmsOfClusterMax));
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
      "the NICs of {} add up to {:g} Gbit/s; one computer emulates up to {:g} accurately",
      counted(spec.vms.size(), "VM"), in_gbit(traffic), in_gbit(kHonestTraffic));
  if (traffic > kTrafficMax) {
    return bad_usage(fmt::format("{}; use fewer or slower VMs, up to {:g} Gbit/s in total", excess,
                                 in_gbit(kTrafficMax)));
  }
  return excess + "; measurements may show the limits of the computer instead of the network";
}

}  // namespace stint
