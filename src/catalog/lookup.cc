#include "catalog/lookup.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "base/text.h"

namespace stint {
namespace {

constexpr std::size_t kSuggestions = 3;

/// Names are compared without case, and without the prefix of all Azure sizes.
std::string plain_name(std::string_view name) {
  constexpr std::string_view kAzurePrefix = "standard_";
  std::string lower = to_lower(name);
  return lower.starts_with(kAzurePrefix) ? lower.substr(kAzurePrefix.size()) : lower;
}

bool same_name(std::string_view a, std::string_view b) { return to_lower(a) == to_lower(b); }

bool offered_in(const VmType& type, std::string_view region) {
  return std::any_of(type.offers.begin(), type.offers.end(),
                     [&](const Offer& offer) { return same_name(offer.region, region); });
}

bool contains(const std::vector<std::string>& list, std::string_view item) {
  return std::any_of(list.begin(), list.end(),
                     [&](const std::string& one) { return same_name(one, item); });
}

std::vector<std::string> sorted(const std::set<std::string>& names) {
  return {names.begin(), names.end()};
}

std::vector<std::string> provider_names(const Catalog& catalog) {
  std::set<std::string> names;
  for (const VmType& type : catalog.types) names.insert(type.provider);
  return sorted(names);
}

std::vector<std::string> region_names(const Catalog& catalog) {
  std::set<std::string> names;
  for (const VmType& type : catalog.types) {
    for (const Offer& offer : type.offers) names.insert(offer.region);
  }
  return sorted(names);
}

Error unknown_name(std::string_view what, std::string_view wrong,
                   const std::vector<std::string>& names) {
  auto nearest = nearest_names(wrong, names, kSuggestions);
  std::string help = did_you_mean(nearest);
  if (help.empty() && names.size() <= 10) help = fmt::format(" It has {}.", join(names, ", "));
  if (help.empty()) help = " See 'stint catalog list'.";
  return bad_usage(fmt::format("the catalogue has no {} '{}'.{}", what, printable(wrong), help));
}

/// The part of a region's name that says the continent: "eu" of "eu-west-1".
std::string_view continent(std::string_view region) { return region.substr(0, region.find('-')); }

/// How a provider builds the names of its regions.
enum class RegionShape { kPlain, kNumberAttached, kNumberApart, kWords };

/// "westeurope" (Azure), "europe-west4" (Google), "eu-west-1" (AWS), "Bulgaria-BG-EU" (others).
RegionShape shape_of(std::string_view region) {
  const std::size_t dash = region.rfind('-');
  if (dash == std::string_view::npos) return RegionShape::kPlain;
  const std::string_view last = region.substr(dash + 1);
  if (last.empty() || !is_digit(last.back())) return RegionShape::kWords;
  return is_digit(last.front()) ? RegionShape::kNumberApart : RegionShape::kNumberAttached;
}

/// "Bulgaria" begins "Bulgaria-BG-EU", which a table calls "Bulgaria, BG, EU".
bool begins(std::string_view wrong, std::string_view region) {
  return to_lower(region).starts_with(to_lower(wrong) + "-");
}

/// The regions of each provider whose names are built as that of `wrong`, or begin with it.
std::map<std::string, std::set<std::string>> regions_built_as(std::string_view wrong,
                                                              const Catalog& catalog) {
  std::map<std::string, std::set<std::string>> regions;
  for (const VmType& type : catalog.types) {
    if (type.provider == kLocalProvider) continue;
    for (const Offer& offer : type.offers) {
      const bool alike = shape_of(offer.region) == shape_of(wrong) || begins(wrong, offer.region);
      if (alike) regions[type.provider].insert(offer.region);
    }
  }
  return regions;
}

/// Only names that the same provider would give are near, and none of another continent:
/// 'eu-west-1' does not mean 'us-west1'. A provider with one region is said to have no other.
Error unknown_region(std::string_view wrong, const Catalog& catalog) {
  std::vector<std::string> near;
  std::string single;
  const auto built_alike = regions_built_as(wrong, catalog);
  for (const auto& [provider, regions] : built_alike) {
    if (regions.size() == 1 && built_alike.size() == 1) {
      single = fmt::format(
          " Of {0} it has {1} only; add others with: stint catalog import FILE --provider {0}",
          provider, *regions.begin());
    }
    for (const std::string& name : regions) {
      const bool says = shape_of(wrong) != RegionShape::kPlain;
      if (!says || same_name(continent(name), continent(wrong))) near.push_back(name);
    }
  }
  std::string help = single;
  if (help.empty()) help = did_you_mean(nearest_names(wrong, near, kSuggestions));
  if (help.empty()) help = " 'stint catalog import FILE' adds prices of other regions.";
  return bad_usage(fmt::format("the catalogue has no region '{}'.{}", printable(wrong), help));
}

Status check_regions(const std::vector<std::string>& wanted, const Catalog& catalog) {
  const std::vector<std::string> known = region_names(catalog);
  for (const std::string& name : wanted) {
    if (!contains(known, name)) return unknown_region(name, catalog);
  }
  return {};
}

Status check_known(std::string_view what, const std::vector<std::string>& wanted,
                   const std::vector<std::string>& known) {
  for (const std::string& name : wanted) {
    if (!contains(known, name)) return unknown_name(what, name, known);
  }
  return {};
}

bool wants_no_gpu(const Filter& filter) { return contains(filter.machines.gpus, "none"); }

bool passes(const Catalog& catalog, const VmType& type, const Filter& filter,
            const MachineChoice& choice) {
  if (!means_provider(filter.providers, type.provider)) return false;
  if (type.accelerator.has_value() == wants_no_gpu(filter)) return false;
  if (!choice.reason_against(type).empty()) return false;
  if (!filter.gpu_memory_min) return true;
  const auto memory = accelerator_memory(catalog, type);
  return memory && *memory >= *filter.gpu_memory_min;
}

bool passes(const Offer& offer, const Filter& filter) {
  if (!filter.regions.empty() && !contains(filter.regions, offer.region)) return false;
  const auto price = lowest_price(offer, filter.markets);
  if (!filter.markets.empty() && !price) return false;
  return !filter.price_max || (price && *price <= *filter.price_max);
}

/// The best figure of a type for sorting; smaller first, unknown last.
double rank(const Catalog& catalog, const VmType& type, const Filter& filter, SortKey key) {
  constexpr double kLast = std::numeric_limits<double>::infinity();
  if (key == SortKey::kGpuMemory) {
    const auto memory = accelerator_memory(catalog, type);
    return memory ? -memory->in(kGiB) : kLast;
  }
  if (key == SortKey::kNetwork) {
    const auto network = network_rate(type);
    return network ? -network->in(kGbit / kSecond) : kLast;
  }
  if (key == SortKey::kName) return 0;
  double lowest = kLast;
  for (const Offer& offer : type.offers) {
    const auto price = lowest_price(offer, filter.markets);
    if (price) lowest = std::min(lowest, price->in(kDollar / kHour));
  }
  const int shared = key == SortKey::kPricePerGpu && type.accelerator ? type.accelerator->count : 1;
  return lowest / shared;
}

void sort_types(Catalog& catalog, const Filter& filter, SortKey key) {
  std::vector<std::tuple<double, std::string, std::size_t>> order;
  for (std::size_t i = 0; i < catalog.types.size(); ++i) {
    const VmType& type = catalog.types[i];
    order.emplace_back(rank(catalog, type, filter, key), type.name + "/" + type.provider, i);
  }
  std::sort(order.begin(), order.end());
  std::vector<VmType> types;
  types.reserve(order.size());
  for (const auto& [value, name, index] : order) types.push_back(std::move(catalog.types[index]));
  catalog.types = std::move(types);
}

}  // namespace

std::span<const EnumName<SortKey>> names_of(SortKey /*type*/) {
  static constexpr EnumName<SortKey> kNames[] = {{SortKey::kPricePerGpu, "price-per-gpu"},
                                                 {SortKey::kPrice, "price"},
                                                 {SortKey::kGpuMemory, "gpu-memory"},
                                                 {SortKey::kNetwork, "network"},
                                                 {SortKey::kName, "name"}};
  return kNames;
}

Result<VmName> parse_vm_name(std::string_view text) {
  const std::vector<std::string> parts = split(text, '/');
  const bool empty = std::any_of(parts.begin(), parts.end(), std::mem_fn(&std::string::empty));
  if (empty || parts.size() > 3) {
    return bad_usage(
        fmt::format("'{}' is not a VM type: write NAME, PROVIDER/NAME or PROVIDER/REGION/NAME, for "
                    "example 'aws/us-east-1/g4dn.xlarge'",
                    printable(text)));
  }
  VmName name{.name = parts.back()};
  if (parts.size() > 1) name.provider = to_lower(parts[0]);
  if (parts.size() > 2) name.region = parts[1];
  return name;
}

std::string to_text(const VmName& name) {
  std::string text = name.provider ? *name.provider + "/" : "";
  if (name.region) text += *name.region + "/";
  return text + name.name;
}

Result<const VmType*> find_type(const Catalog& catalog, const VmName& name) {
  if (name.provider) {
    const Status known = check_known("provider", {*name.provider}, provider_names(catalog));
    if (!known.ok()) return known.error();
  }
  const std::string wanted = plain_name(name.name);
  std::vector<const VmType*> found;
  std::vector<std::string> others;
  for (const VmType& type : catalog.types) {
    if (name.provider && !same_name(*name.provider, type.provider)) continue;
    if (plain_name(type.name) == wanted) {
      found.push_back(&type);
    } else {
      others.push_back(type.name);
    }
  }
  if (found.empty()) return unknown_name("VM type", name.name, others);
  if (found.size() > 1) {
    std::vector<std::string> choices;
    for (const VmType* type : found) choices.push_back(type->provider + "/" + type->name);
    return bad_usage(fmt::format("'{}' is ambiguous: choose one of {}", printable(name.name),
                                 join(choices, ", ")));
  }
  if (name.region && !offered_in(*found[0], *name.region)) {
    std::vector<std::string> regions;
    for (const Offer& offer : found[0]->offers) regions.push_back(offer.region);
    return bad_usage(fmt::format("{} is not offered in '{}', only in {}", found[0]->name,
                                 printable(*name.region), join(regions, ", ")));
  }
  return found[0];
}

bool means_provider(const std::vector<std::string>& providers, std::string_view provider) {
  return providers.empty() ? provider != kLocalProvider : contains(providers, provider);
}

bool has_gpu(const VmType& type, std::string_view wanted) {
  if (!type.accelerator) return false;
  if (names_family(type.accelerator->name, wanted)) return true;
  return type.accelerator->gpu && names_family(*type.accelerator->gpu, wanted);
}

std::optional<DollarsPerSecond> lowest_price(const Offer& offer,
                                             const std::vector<Market>& markets) {
  const auto wanted = [&](Market market) {
    return markets.empty() || std::find(markets.begin(), markets.end(), market) != markets.end();
  };
  std::optional<DollarsPerSecond> lowest;
  if (wanted(Market::kOnDemand) && offer.on_demand) lowest = offer.on_demand->rate;
  if (wanted(Market::kSpot) && offer.spot && (!lowest || offer.spot->rate < *lowest)) {
    lowest = offer.spot->rate;
  }
  return lowest;
}

std::vector<std::pair<std::string, std::string>> single_regions(const Catalog& catalog) {
  std::map<std::string, std::set<std::string>> regions;
  for (const VmType& type : catalog.types) {
    for (const Offer& offer : type.offers) regions[type.provider].insert(offer.region);
  }
  std::vector<std::pair<std::string, std::string>> single;
  for (const auto& [provider, names] : regions) {
    if (names.size() == 1 && provider != kLocalProvider) {
      single.emplace_back(provider, *names.begin());
    }
  }
  return single;
}

void drop_unused(Catalog& catalog) {
  std::set<std::string> sources;
  std::set<std::string> gpus;
  for (const VmType& type : catalog.types) {
    for_each_source(type, [&](const std::string& id) { sources.insert(id); });
    const Gpu* gpu = gpu_of(catalog, type);
    if (gpu != nullptr) gpus.insert(gpu->name);
    if (gpu != nullptr || !type.accelerator) continue;
    for (const Gpu* maybe : gpu_candidates(catalog, *type.accelerator)) gpus.insert(maybe->name);
  }
  std::erase_if(catalog.gpus, [&](const Gpu& gpu) { return !gpus.contains(gpu.name); });
  std::erase_if(catalog.sources, [&](const Source& it) { return !sources.contains(it.id); });
}

Result<Catalog> select(const Catalog& catalog, const Filter& filter, SortKey key) {
  Status known = check_known("provider", filter.providers, provider_names(catalog));
  if (known.ok()) known = check_regions(filter.regions, catalog);
  if (!known.ok()) return known.error();
  if (wants_no_gpu(filter) && filter.gpu_memory_min) {
    return bad_usage(
        "machines without an accelerator have no accelerator memory: leave out one of the two "
        "filters");
  }
  MachineFilter machines = filter.machines;
  machines.unusual = true;
  if (wants_no_gpu(filter)) {
    if (machines.gpus.size() > 1) {
      return bad_usage("'none' names machines without an accelerator: leave out the other names");
    }
    machines.gpus.clear();
  }
  known = check_filter(catalog, machines, filter.providers);
  if (!known.ok()) return known.error();
  const MachineChoice choice(catalog, machines);
  Catalog kept{.sources = catalog.sources, .gpus = catalog.gpus};
  for (const VmType& type : catalog.types) {
    if (!passes(catalog, type, filter, choice)) continue;
    VmType copy = type;
    std::erase_if(copy.offers, [&](const Offer& offer) { return !passes(offer, filter); });
    const bool by_offer =
        !filter.regions.empty() || !filter.markets.empty() || filter.price_max.has_value();
    if (!copy.offers.empty() || !by_offer) kept.types.push_back(std::move(copy));
  }
  sort_types(kept, filter, key);
  drop_unused(kept);
  return kept;
}

}  // namespace stint
