#include "load/price_check.h"

#include <fmt/format.h>
#include <map>
#include <optional>

#include "base/text.h"

namespace stint {
namespace {

/// The bundled price of a machine in a region, else the lowest of all regions.
std::optional<Price> bundled_price(const VmType& type, const std::string& region,
                                   std::optional<Price> Offer::*market) {
  std::optional<Price> lowest;
  for (const Offer& offer : type.offers) {
    const std::optional<Price>& price = offer.*market;
    if (price && offer.region == region) return price;
    if (price && (!lowest || price->rate < lowest->rate)) lowest = price;
  }
  return lowest;
}

/// A price that is too low to be true, and the bundled one that says so.
struct LowPrice {
  std::string what;
  DollarsPerSecond price;
  DollarsPerSecond bundled;
};

std::optional<LowPrice> low_price(const VmType& bundled, const Offer& offer) {
  constexpr double kThird = 1.0 / 3;
  constexpr double kTwentieth = 0.05;  // No provider lists a spot price this far below on-demand.
  const auto on_demand = bundled_price(bundled, offer.region, &Offer::on_demand);
  const auto spot = bundled_price(bundled, offer.region, &Offer::spot);
  const auto under = [](const std::optional<Price>& price, const std::optional<Price>& known,
                        double share) {
    return price && known && price->rate < share * known->rate;
  };
  const std::string place = offer.zone.value_or(offer.region);
  if (under(offer.on_demand, on_demand, kThird)) {
    return LowPrice{place + " on demand", offer.on_demand->rate, on_demand->rate};
  }
  if (under(offer.spot, on_demand, kTwentieth)) {
    return LowPrice{place + " on the spot market", offer.spot->rate, on_demand->rate};
  }
  if (spot && !spot->derived && under(offer.spot, spot, kThird)) {
    return LowPrice{place + " on the spot market", offer.spot->rate, spot->rate};
  }
  return std::nullopt;
}

}  // namespace

Status check_prices(const Catalog& fresh, const Catalog& bundled, const std::string& file) {
  std::map<std::string, const VmType*> known;
  for (const VmType& type : bundled.types) known[to_lower(type.provider + "/" + type.name)] = &type;
  std::size_t count = 0;
  std::string first;
  for (const VmType& type : fresh.types) {
    const auto found = known.find(to_lower(type.provider + "/" + type.name));
    if (found == known.end()) continue;
    for (const Offer& offer : type.offers) {
      const auto low = low_price(*found->second, offer);
      if (low && count++ == 0) {
        first = fmt::format("{} in {} costs {}, the bundled price is {}", printable(type.name),
                            printable(low->what), to_text(low->price, "USD/h"),
                            to_text(low->bundled, "USD/h"));
      }
    }
  }
  if (count == 0) return {};
  const std::string more = count > 1 ? fmt::format(" ({} such prices)", count) : "";
  return bad_input(
      fmt::format("{}: {}{}: check that prices are of whole machines per hour, or add "
                  "--force",
                  file, first, more));
}

}  // namespace stint
