#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/date.h"
#include "base/units.h"
#include "catalog/catalog.h"
#include "plan/layout.h"

namespace stint {

/// What a whole cluster costs in one region.
struct ClusterPrice {
  DollarsPerSecond rate;
  std::string region;
  Date date;             // The oldest of the prices in it.
  bool derived = false;  // Some price was computed, not listed.
};

/// The price of `cluster`, whose groups are of `types`, in the cheapest region where every group
/// has a price on its market: all VMs stand in one region. A region that a group names must be it.
/// Nothing when there is no such region. Requires one type per group.
std::optional<ClusterPrice> cluster_price(const Cluster& cluster, std::span<const VmType> types);

}  // namespace stint
