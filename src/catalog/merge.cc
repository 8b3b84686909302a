#include "catalog/merge.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <utility>

namespace stint {
namespace {

bool same_source(const Source& a, const Source& b) {
  return a.name == b.name && a.url == b.url && a.commit == b.commit && a.date == b.date;
}

void rename_sources(Catalog& catalog, const std::map<std::string, std::string>& renamed) {
  const auto rename = [&](std::string& id) {
    const auto found = renamed.find(id);
    if (found != renamed.end()) id = found->second;
  };
  for (VmType& type : catalog.types) {
    if (type.source) rename(*type.source);
    for (Offer& offer : type.offers) {
      if (offer.on_demand) rename(offer.on_demand->source);
      if (offer.spot) rename(offer.spot->source);
      if (offer.interruption) rename(offer.interruption->source);
    }
  }
}

/// Adds the sources of `over` to `base`; an id that means something else gets a number.
void merge_sources(Catalog& base, Catalog& over) {
  std::map<std::string, std::string> renamed;
  for (Source& source : over.sources) {
    const std::string id = source.id;
    for (int number = 2;; ++number) {
      const auto taken = std::find_if(base.sources.begin(), base.sources.end(),
                                      [&](const Source& it) { return it.id == source.id; });
      if (taken == base.sources.end()) {
        base.sources.push_back(source);
        break;
      }
      if (same_source(*taken, source)) break;
      source.id = fmt::format("{}-{}", id, number);
    }
    if (source.id != id) renamed[id] = source.id;
  }
  rename_sources(over, renamed);
}

template <class T>
void take(std::optional<T>& old, std::optional<T>& fresh) {
  if (fresh) old = std::move(fresh);
}

void merge_offer(VmType& type, Offer offer) {
  const auto found = std::find_if(type.offers.begin(), type.offers.end(), [&](const Offer& it) {
    return it.region == offer.region && it.zone == offer.zone;
  });
  if (found == type.offers.end()) {
    type.offers.push_back(std::move(offer));
    return;
  }
  take(found->on_demand, offer.on_demand);
  take(found->spot, offer.spot);
  take(found->interruption, offer.interruption);
}

void merge_type(VmType& old, VmType fresh) {
  // An import that knows no figures for the accelerator does not take away the ones we have.
  const bool same_accelerator = old.accelerator && fresh.accelerator &&
                                old.accelerator->name == fresh.accelerator->name &&
                                old.accelerator->count == fresh.accelerator->count;
  if (same_accelerator) {
    if (!fresh.accelerator->gpu) fresh.accelerator->gpu = old.accelerator->gpu;
    if (!fresh.accelerator->memory) fresh.accelerator->memory = old.accelerator->memory;
  }
  take(old.accelerator, fresh.accelerator);
  take(old.vcpus, fresh.vcpus);
  take(old.memory, fresh.memory);
  take(old.network, fresh.network);
  take(old.disk_bandwidth, fresh.disk_bandwidth);
  take(old.local_disk, fresh.local_disk);
  take(old.efa_interfaces, fresh.efa_interfaces);
  take(old.architecture, fresh.architecture);
  take(old.quota_class, fresh.quota_class);
  take(old.source, fresh.source);
  for (Offer& offer : fresh.offers) merge_offer(old, std::move(offer));
}

using Facts = std::vector<std::pair<std::string, std::string>>;

std::string price_text(const Price& price) {
  return fmt::format("{} ({})", to_text(price.rate, "USD/h"), to_text(price.date));
}

std::string band_text(const Interruption& it) {
  if (!it.monthly_max) return fmt::format("over {:g} % a month", it.monthly_min * 100);
  return fmt::format("{:g}-{:g} % a month", it.monthly_min * 100, *it.monthly_max * 100);
}

void add_figures(Facts& facts, const VmType& type) {
  const std::string name = type.provider + "/" + type.name;
  const auto add = [&](const char* what, const std::string& value) {
    facts.emplace_back(fmt::format("{} {}", name, what), value);
  };
  if (type.accelerator) {
    add("accelerator", fmt::format("{}x {}", type.accelerator->count, type.accelerator->name));
    if (type.accelerator->memory) add("accelerator memory", to_text(*type.accelerator->memory));
    if (type.accelerator->gpu) add("gpu figures", *type.accelerator->gpu);
  }
  if (type.vcpus) add("vCPUs", fmt::format("{}", *type.vcpus));
  if (type.memory) add("memory", to_text(*type.memory, "GiB"));
  const auto network = network_rate(type);
  if (network) add("network", to_text(*network, "Gbit/s"));
  if (type.disk_bandwidth) add("disk bandwidth", to_text(*type.disk_bandwidth, "Gbit/s"));
  if (type.local_disk) add("local disk", to_text(*type.local_disk));
  if (type.quota_class) add("quota class", *type.quota_class);
}

/// Everything the catalogue says that a user would notice, as texts.
Facts facts_of(const Catalog& catalog) {
  Facts facts;
  for (const VmType& type : catalog.types) {
    facts.emplace_back(type.provider + "/" + type.name, "listed");
    add_figures(facts, type);
    for (const Offer& offer : type.offers) {
      const std::string place = offer.zone ? offer.region + "/" + *offer.zone : offer.region;
      const std::string name = fmt::format("{}/{}/{}", type.provider, place, type.name);
      facts.emplace_back(name, "offered");
      if (offer.on_demand) facts.emplace_back(name + " on-demand", price_text(*offer.on_demand));
      if (offer.spot) facts.emplace_back(name + " spot", price_text(*offer.spot));
      if (offer.interruption) {
        facts.emplace_back(name + " interruption", band_text(*offer.interruption));
      }
    }
  }
  return facts;
}

}  // namespace

Catalog merge(Catalog base, Catalog over) {
  merge_sources(base, over);
  for (Gpu& gpu : over.gpus) {
    const auto found = std::find_if(base.gpus.begin(), base.gpus.end(),
                                    [&](const Gpu& it) { return it.name == gpu.name; });
    if (found == base.gpus.end()) {
      base.gpus.push_back(std::move(gpu));
    } else {
      *found = std::move(gpu);
    }
  }
  std::map<std::pair<std::string, std::string>, std::size_t> index;
  for (std::size_t i = 0; i < base.types.size(); ++i) {
    index[{base.types[i].provider, base.types[i].name}] = i;
  }
  for (VmType& type : over.types) {
    const auto found = index.find({type.provider, type.name});
    if (found == index.end()) {
      base.types.push_back(std::move(type));
    } else {
      merge_type(base.types[found->second], std::move(type));
    }
  }
  return base;
}

std::vector<Difference> diff(const Catalog& before, const Catalog& after) {
  const Facts old_facts = facts_of(before);
  const Facts new_facts = facts_of(after);
  const std::map<std::string, std::string> old_map(old_facts.begin(), old_facts.end());
  const std::map<std::string, std::string> new_map(new_facts.begin(), new_facts.end());
  std::vector<Difference> differences;
  for (const auto& [what, value] : old_facts) {
    const auto found = new_map.find(what);
    if (found == new_map.end()) {
      differences.push_back({Difference::Kind::kRemoved, what, value, ""});
    } else if (found->second != value) {
      differences.push_back({Difference::Kind::kChanged, what, value, found->second});
    }
  }
  for (const auto& [what, value] : new_facts) {
    if (!old_map.contains(what)) {
      differences.push_back({Difference::Kind::kAdded, what, "", value});
    }
  }
  return differences;
}

}  // namespace stint
