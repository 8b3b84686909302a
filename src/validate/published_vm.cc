#include "validate/published_vm.h"

#include "base/check.h"
#include "catalog/lookup.h"
#include "load/catalog_cases.h"

namespace stint {

DollarsPerSecond published_vm_price() {
  const auto catalog = load_catalog(Environment{});
  CHECK(catalog.ok());
  const auto type = find_type(catalog->noun, {.name = "g4dn.12xlarge"});
  CHECK(type.ok());
  std::optional<DollarsPerSecond> lowest;
  for (const Offer& offer : (*type)->offers) {
    const auto price = lowest_price(offer, {Market::kOnDemand});
    if (price && (!lowest || *price < *lowest)) lowest = price;
  }
  CHECK(lowest.has_value());
  return *lowest;
}

}  // namespace stint
