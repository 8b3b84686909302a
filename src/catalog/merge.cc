#include "catalog/merge.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <utility>

#include "base/text.h"

namespace stint {
namespace {

bool same_source(const Source& a, const Source& b) {
  return a.name == b.name && a.url == b.url && a.commit == b.commit && a.date == b.date;
}

void rename_sources(Catalog& catalog, const std::map<std::string, std::string>& renamed) {
  for (VmType& type : catalog.types) {
    for_each_source(type, [&](std::string& id) {
      const auto found = renamed.find(id);
      if (found != renamed.end()) id = found->second;
    });
  }
}

/// Adds the sources of `over` to `base`; a conflicting id gets a number.
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

void take(Json::Object& old, Json::Object& fresh) {
  for (Json::Member& member : fresh) {
    const auto found = std::find_if(
        old.begin(), old.end(), [&](const Json::Member& it) { return it.first == member.first; });
    if (found == old.end()) {
      old.push_back(std::move(member));
    } else {
      found->second = std::move(member.second);
    }
  }
}

void merge_parts(Offer& old, Offer fresh) {
  take(old.on_demand, fresh.on_demand);
  take(old.spot, fresh.spot);
  take(old.interruption, fresh.interruption);
  take(old.unknown, fresh.unknown);
}

/// Prices of single zones replace the price of their region, and inherit the values that they lack.
void merge_offers(VmType& type, std::vector<Offer> fresh) {
  const std::vector<Offer> before = type.offers;
  for (Offer& offer : fresh) {
    const auto same = std::find_if(type.offers.begin(), type.offers.end(), [&](const Offer& it) {
      return it.region == offer.region && it.zone == offer.zone;
    });
    if (same != type.offers.end()) {
      merge_parts(*same, std::move(offer));
      continue;
    }
    const auto whole = std::find_if(before.begin(), before.end(), [&](const Offer& it) {
      return offer.zone && it.region == offer.region && !it.zone;
    });
    if (whole == before.end()) {
      type.offers.push_back(std::move(offer));
      continue;
    }
    std::erase_if(type.offers,
                  [&](const Offer& it) { return it.region == offer.region && !it.zone; });
    Offer lent = *whole;
    lent.zone = offer.zone;
    merge_parts(lent, std::move(offer));
    type.offers.push_back(std::move(lent));
  }
}

void merge_accelerator(std::optional<Accelerator>& old, std::optional<Accelerator>& fresh) {
  // Other sources name the same card A100 or A100-80GB; our figures and our name are kept.
  const bool same = old && fresh && old->count == fresh->count &&
                    (names_family(old->name, fresh->name) || names_family(fresh->name, old->name));
  if (!same) return take(old, fresh);
  take(old->memory, fresh->memory);
  take(old->gpu, fresh->gpu);
  take(old->unknown, fresh->unknown);
}

void merge_network(std::optional<Network>& old, std::optional<Network>& fresh) {
  if (!old || !fresh) return take(old, fresh);
  take(old->baseline, fresh->baseline);
  take(old->peak, fresh->peak);
  if (fresh->transport && fresh->transport != old->transport) {
    // Links and access to GPU memory are those of the transport.
    old->rdma.reset();
    old->gpu_direct.reset();
  }
  take(old->transport, fresh->transport);
  take(old->rdma, fresh->rdma);
  take(old->gpu_direct, fresh->gpu_direct);
  take(old->flow, fresh->flow);
  take(old->flow_placed, fresh->flow_placed);
  take(old->note, fresh->note);
  take(old->source, fresh->source);
  take(old->unknown, fresh->unknown);
}

void merge_type(VmType& old, VmType fresh) {
  merge_accelerator(old.accelerator, fresh.accelerator);
  merge_network(old.network, fresh.network);
  take(old.vcpus, fresh.vcpus);
  take(old.memory, fresh.memory);
  take(old.disk_bandwidth, fresh.disk_bandwidth);
  take(old.local_disk, fresh.local_disk);
  take(old.efa_interfaces, fresh.efa_interfaces);
  take(old.architecture, fresh.architecture);
  take(old.quota_class, fresh.quota_class);
  take(old.deepvm, fresh.deepvm);
  take(old.source, fresh.source);
  take(old.unknown, fresh.unknown);
  merge_offers(old, std::move(fresh.offers));
}

void merge_gpu(Gpu& old, Gpu fresh) {
  take(old.architecture, fresh.architecture);
  take(old.memory, fresh.memory);
  take(old.memory_bandwidth, fresh.memory_bandwidth);
  take(old.fp32, fresh.fp32);
  take(old.tf32, fresh.tf32);
  take(old.fp16, fresh.fp16);
  take(old.link, fresh.link);
  take(old.link_bandwidth, fresh.link_bandwidth);
  take(old.pcie, fresh.pcie);
  take(old.multiprocessors, fresh.multiprocessors);
  take(old.lanes_per_scheduler, fresh.lanes_per_scheduler);
  take(old.board_power_watts, fresh.board_power_watts);
  take(old.evidence, fresh.evidence);
  if (!fresh.unverified.empty()) old.unverified = std::move(fresh.unverified);
  take(old.unknown, fresh.unknown);
}

/// Types are the same when only the case of their names differs.
std::pair<std::string, std::string> key_of(const VmType& type) {
  return {to_lower(type.provider), to_lower(type.name)};
}

using Facts = std::vector<std::pair<std::string, std::string>>;

std::string price_text(const Price& price) {
  std::string text = to_text(price.rate, "USD/h");
  if (price.low) text += fmt::format(", low {}", to_text(*price.low, "USD/h"));
  if (price.high) text += fmt::format(", high {}", to_text(*price.high, "USD/h"));
  return fmt::format("{}{} ({})", text, price.derived ? ", computed" : "", to_text(price.date));
}

/// Adds a fact for each known figure.
class FactList {
 public:
  FactList(Facts& facts, std::string subject) : facts_(facts), subject_(std::move(subject)) {}

  void add(const char* what, const std::optional<std::string>& value) {
    if (value) facts_.emplace_back(fmt::format("{} {}", subject_, what), *value);
  }
  void add(const char* what, const std::optional<int>& value) {
    if (value) add(what, std::optional(std::to_string(*value)));
  }
  template <AQuantity Q>
  void add(const char* what, const std::optional<Q>& value, const char* unit) {
    if (value) add(what, std::optional(to_text(*value, unit)));
  }

 private:
  Facts& facts_;
  std::string subject_;
};

void add_network(FactList& list, const Network& network) {
  list.add("network baseline", network.baseline, "Gbit/s");
  list.add("network peak", network.peak, "Gbit/s");
  if (network.transport) {
    list.add("network transport", std::optional<std::string>(name_of(*network.transport)));
  }
  list.add("network rdma", network.rdma, "Gbit/s");
  if (network.gpu_direct) {
    list.add("network gpu_direct", std::optional<std::string>(*network.gpu_direct ? "yes" : "no"));
  }
  list.add("network flow", network.flow, "Gbit/s");
  list.add("network flow placed", network.flow_placed, "Gbit/s");
  list.add("network note", network.note);
}

void add_figures(Facts& facts, const VmType& type) {
  FactList list(facts, type.provider + "/" + type.name);
  if (type.accelerator) {
    list.add("accelerator",
             std::optional(fmt::format("{}x {}", type.accelerator->count, type.accelerator->name)));
    list.add("accelerator memory", type.accelerator->memory, "GB");
    list.add("gpu figures", type.accelerator->gpu);
  }
  list.add("vCPUs", type.vcpus);
  list.add("memory", type.memory, "GiB");
  if (type.network) add_network(list, *type.network);
  list.add("disk bandwidth", type.disk_bandwidth, "Gbit/s");
  list.add("local disk", type.local_disk, "GB");
  list.add("EFA interfaces", type.efa_interfaces);
  list.add("processor", type.architecture);
  list.add("quota class", type.quota_class);
  if (type.deepvm) {
    const DeepVmFigures& it = *type.deepvm;
    list.add("deepvm figures",
             std::optional(fmt::format("a {}, b {}, c {}, flops {}", it.a, it.b, it.c, it.flops)));
  }
}

void add_gpu(Facts& facts, const Gpu& gpu) {
  FactList list(facts, "gpu " + gpu.name);
  list.add("architecture", gpu.architecture);
  list.add("memory", gpu.memory, "GB");
  list.add("memory bandwidth", gpu.memory_bandwidth, "GB/s");
  list.add("fp32", gpu.fp32, "TFLOP/s");
  list.add("tf32", gpu.tf32, "TFLOP/s");
  list.add("fp16", gpu.fp16, "TFLOP/s");
  list.add("link", gpu.link);
  list.add("link bandwidth", gpu.link_bandwidth, "GB/s");
  list.add("PCIe", gpu.pcie);
  list.add("multiprocessors", gpu.multiprocessors);
  list.add("lanes per scheduler", gpu.lanes_per_scheduler);
  list.add("board power in watts", gpu.board_power_watts);
  list.add("evidence", gpu.evidence);
  if (!gpu.unverified.empty()) list.add("unverified", std::optional(join(gpu.unverified, ", ")));
}

/// All facts of the catalogue that a user can see, as texts.
Facts facts_of(const Catalog& catalog) {
  Facts facts;
  for (const Gpu& gpu : catalog.gpus) add_gpu(facts, gpu);
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
        facts.emplace_back(name + " interruption", to_text(*offer.interruption));
      }
    }
  }
  return facts;
}

}  // namespace

std::span<const EnumName<Difference::Kind>> names_of(Difference::Kind /*type*/) {
  static constexpr EnumName<Difference::Kind> kNames[] = {{Difference::Kind::kAdded, "added"},
                                                          {Difference::Kind::kRemoved, "removed"},
                                                          {Difference::Kind::kChanged, "changed"}};
  return kNames;
}

Catalog merge(Catalog base, Catalog over) {
  merge_sources(base, over);
  for (Gpu& gpu : over.gpus) {
    const auto found = std::find_if(base.gpus.begin(), base.gpus.end(),
                                    [&](const Gpu& it) { return it.name == gpu.name; });
    if (found == base.gpus.end()) {
      base.gpus.push_back(std::move(gpu));
    } else {
      merge_gpu(*found, std::move(gpu));
    }
  }
  std::map<std::pair<std::string, std::string>, std::size_t> index;
  for (std::size_t i = 0; i < base.types.size(); ++i) {
    index[key_of(base.types[i])] = i;
  }
  for (VmType& type : over.types) {
    const auto found = index.find(key_of(type));
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
