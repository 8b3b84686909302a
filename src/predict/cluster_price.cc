#include "predict/cluster_price.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "base/text.h"

namespace stint {
namespace {

/// The cheapest price of `type` in `region`; several zones may offer it.
const Price* price_in(const VmType& type, Market market, const std::string& region) {
  const Price* best = nullptr;
  for (const Offer& offer : type.offers) {
    if (to_lower(offer.region) != region) continue;
    const auto& price = market == Market::kSpot ? offer.spot : offer.on_demand;
    if (price && (best == nullptr || price->rate < best->rate)) best = &*price;
  }
  return best;
}

std::optional<ClusterPrice> price_in(const Cluster& cluster, std::span<const VmType> types,
                                     const std::string& region) {
  ClusterPrice whole{.region = region};
  for (std::size_t i = 0; i < types.size(); ++i) {
    const VmGroup& group = cluster.groups[i];
    if (group.vm.region && to_lower(*group.vm.region) != region) return std::nullopt;
    const Price* price = price_in(types[i], group.market, region);
    if (price == nullptr) return std::nullopt;
    whole.rate += group.count * price->rate;
    whole.date = i == 0 ? price->date : std::min(whole.date, price->date);
    whole.derived = whole.derived || price->derived.has_value();
  }
  return whole;
}

}  // namespace

std::optional<ClusterPrice> cluster_price(const Cluster& cluster, std::span<const VmType> types) {
  CHECK(cluster.groups.size() == types.size());
  if (types.empty()) return std::nullopt;
  std::set<std::string> regions;
  for (const Offer& offer : types[0].offers) regions.insert(to_lower(offer.region));
  std::optional<ClusterPrice> best;
  for (const std::string& region : regions) {
    const auto price = price_in(cluster, types, region);
    if (price && (!best || price->rate < best->rate)) best = price;
  }
  return best;
}

}  // namespace stint
