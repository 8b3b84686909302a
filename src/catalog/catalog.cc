#include "catalog/catalog.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

#include "base/text.h"

namespace stint {

namespace {
constexpr FieldRules kName{.range = Range::kAtLeastOne};
constexpr FieldRules kPositive{.range = Range::kPositive};
constexpr FieldRules kBits{.range = Range::kPositive, .unit = "Gbit/s"};
constexpr FieldRules kBytesPerSecond{.range = Range::kPositive, .unit = "GB/s"};
constexpr FieldRules kCount{.range = Range::kAtLeastOne};
constexpr FieldRules kFrequency{.range = Range::kFraction};
constexpr FieldRules kHourly{.range = Range::kPositive, .unit = "USD/h"};
}  // namespace

template <class Walk>
void describe(Walk& walk, Like<Walk, Source>& it) {
  walk.field("id", it.id, "Identifier that figures refer to.", kName);
  walk.field("name", it.name, "Title of the source.", kName);
  walk.field("url", it.url, "Address of the source.");
  walk.field("commit", it.commit, "Version that was read.");
  walk.field("licence", it.licence, "Licence of the source.");
  walk.field("date", it.date, "Day or month of the figures.");
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, Gpu>& it) {
  walk.field("name", it.name, "Unique name that the accelerators of VM types refer to.", kName);
  walk.field("architecture", it.architecture, "Manufacturer's name of the generation.");
  walk.field("memory", it.memory, "Device memory.", kPositive);
  walk.field("memory_bandwidth", it.memory_bandwidth, "Bandwidth of the device memory.",
             kBytesPerSecond);
  walk.field("fp32", it.fp32, "Peak speed in 32-bit arithmetic.", kPositive);
  walk.field("tf32", it.tf32, "Peak dense speed in TF32.", kPositive);
  walk.field("fp16", it.fp16, "Peak dense speed in 16-bit arithmetic.", kPositive);
  walk.field("link", it.link, "Link between the accelerators of a VM; absent for PCIe.");
  walk.field("link_bandwidth", it.link_bandwidth, "Bandwidth of that link, sum of both directions.",
             kBytesPerSecond);
  walk.field("pcie", it.pcie, "Generation and width of the host link.");
  walk.field("multiprocessors", it.multiprocessors,
             "Number of streaming multiprocessors or compute units.", kCount);
  walk.field("lanes_per_scheduler", it.lanes_per_scheduler,
             "Number of FP32 lanes that one warp scheduler feeds.", kCount);
  walk.field("board_power_watts", it.board_power_watts, "Power limit of the board in watts.",
             kCount);
  walk.field("evidence", it.evidence, "Pages from which the figures were read.");
  walk.field("unverified", it.unverified, "Fields that none of those pages confirms.");
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, Accelerator>& it) {
  walk.field("name", it.name, "Provider's name of the accelerator.", kName);
  walk.field("count", it.count, "Number of accelerators in the VM.",
             {.range = Range::kAtLeastOne, .max = kWorkersPerVmMax});
  walk.field("memory", it.memory, "Memory of one accelerator, as the provider states it.",
             kPositive);
  walk.field("gpu", it.gpu, "Name of the entry in gpus with the figures of this accelerator.",
             kName);
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, Network>& it) {
  walk.field("baseline", it.baseline, "Sustained rate.", kBits);
  walk.field("peak", it.peak, "Highest rate.", kBits);
  walk.field("transport", it.transport, "Fastest transport between VMs; absent: unknown.");
  walk.field("rdma", it.rdma, "Rate of RDMA links beside the NIC, all together.", kBits);
  walk.field("gpu_direct", it.gpu_direct, "Whether the NIC reads and writes GPU memory itself.");
  walk.field("flow", it.flow, "Limit of one TCP flow.", kBits);
  walk.field("flow_placed", it.flow_placed, "Limit of one TCP flow within a placement group.",
             kBits);
  walk.field("note", it.note, "Provider's remark.");
  walk.field("source", it.source, "Id of the entry in sources for the transport.", kName);
  walk.rest(it.unknown);
}

std::string problem(const Network& it) {
  const bool rdma = it.transport && family_of(*it.transport) == TransportFamily::kRdma;
  if (it.rdma && !rdma) return "rdma needs a transport other than tcp";
  if (it.flow_placed && !it.flow) return "flow_placed needs flow";
  if (it.flow_placed && *it.flow_placed < *it.flow) return "flow_placed must not be below flow";
  return "";
}

template <class Walk>
void describe(Walk& walk, Like<Walk, Price>& it) {
  walk.field("price", it.rate, "Price of one VM.", kHourly);
  walk.field("low", it.low, "The price is lower 10 % of the time.", kHourly);
  walk.field("high", it.high, "The price is higher 10 % of the time.", kHourly);
  walk.field("date", it.date, "Day or month of the price.");
  walk.field("source", it.source, "Id of the entry in sources.", kName);
  walk.field("derived", it.derived, "Derivation of a computed price; absent for a listed price.");
  walk.rest(it.unknown);
}

std::string problem(const Price& it) {
  if (it.low && *it.low > it.rate) return "low must not be more than price";
  if (it.high && *it.high < it.rate) return "high must not be less than price";
  return "";
}

template <class Walk>
void describe(Walk& walk, Like<Walk, Interruption>& it) {
  walk.field("monthly_min", it.monthly_min, "Smallest share of VMs interrupted in a month.",
             kFrequency);
  walk.field("monthly_max", it.monthly_max,
             "Largest share of VMs interrupted in a month; absent: no bound.", kFrequency);
  walk.field("date", it.date, "Day or month of the figure.");
  walk.field("source", it.source, "Id of the entry in sources.", kName);
  walk.rest(it.unknown);
}

std::string problem(const Interruption& it) {
  const bool turned = it.monthly_max && *it.monthly_max < it.monthly_min;
  return turned ? "monthly_max must not be less than monthly_min" : "";
}

template <class Walk>
void describe(Walk& walk, Like<Walk, Offer>& it) {
  walk.field("region", it.region, "Provider's region.", kName);
  walk.field("zone", it.zone, "Zone, where the prices hold in one zone only.");
  walk.field("on_demand", it.on_demand, "On-demand price.");
  walk.field("spot", it.spot, "Spot price.");
  walk.field("interruption", it.interruption, "Frequency of spot interruptions.");
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, DeepVmFigures>& it) {
  walk.field("a", it.a, "n workers are c/(1 + exp(-a (n - b))) times as fast as one.", kPositive);
  walk.field("b", it.b, "Number of workers at half of the largest speedup c; see a.");
  walk.field("c", it.c, "Largest speedup; see a.", kPositive);
  walk.field("flops", it.flops, "Speed of one VM, in a unit common to all types.", kPositive);
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, VmType>& it) {
  walk.field("provider", it.provider, "Provider: aws, gcp, azure …", kName);
  walk.field("name", it.name, "Provider's name of the VM type.", kName);
  walk.field("accelerator", it.accelerator, "Accelerators; absent for a VM without any.");
  walk.field("vcpus", it.vcpus, "Virtual processors.", kCount);
  walk.field("memory", it.memory, "Memory of the VM.", {.range = Range::kPositive, .unit = "GiB"});
  walk.field("network", it.network, "Network bandwidth to other VMs.");
  walk.field("disk_bandwidth", it.disk_bandwidth, "Bandwidth to network disks.", kBits);
  walk.field("local_disk", it.local_disk, "Size of the local disks.", kPositive);
  walk.field("efa_interfaces", it.efa_interfaces, "Number of Elastic Fabric Adapters.", kCount);
  walk.field("architecture", it.architecture, "Architecture of the processor: amd64 or arm64.");
  walk.field("quota_class", it.quota_class, "Quota of the provider that the VM counts against.");
  walk.field("deepvm", it.deepvm, "Measured figures that the policy deepvm uses.");
  walk.field("source", it.source, "Id of the entry in sources for these figures.", kName);
  walk.field("offers", it.offers, "Regions that offer the VM, with prices.");
  walk.rest(it.unknown);
}

namespace {

/// Names occur in cluster texts, tables and paths ("aws/us-east-1/g4dn.xlarge:spot").
std::string name_problem(std::string_view what, std::string_view name) {
  const bool bad = name.find_first_of("/:, ") != std::string_view::npos ||
                   without_controls(name) != name || name.starts_with('+') || name.ends_with('+');
  if (!bad) return "";
  return fmt::format(
      "the {} '{}' must not contain '/', ':', ',', spaces or control characters, nor start or end "
      "with '+'",
      what, printable(name));
}

}  // namespace

std::string problem(const Offer& it) {
  const std::string wrong = name_problem("region", it.region);
  return wrong.empty() && it.zone ? name_problem("zone", *it.zone) : wrong;
}

std::string problem(const VmType& it) {
  std::string wrong = name_problem("provider", it.provider);
  if (wrong.empty()) wrong = name_problem("name", it.name);
  if (!wrong.empty()) return wrong;
  std::set<std::pair<std::string, std::string>> places;
  for (const Offer& offer : it.offers) {
    if (!places.emplace(offer.region, offer.zone.value_or("")).second) {
      return fmt::format("{} is offered twice in {}; keep one", it.name, offer.region);
    }
  }
  return "";
}

template <class Walk>
void describe(Walk& walk, Like<Walk, Catalog>& it) {
  walk.field("sources", it.sources, "Sources of the figures.");
  walk.field("gpus", it.gpus, "Figures of accelerators.");
  walk.field("types", it.types, "VM types that can be rented.", {.always = true});
  walk.rest(it.unknown);
}

std::optional<Problem> problem_inside(const Catalog& it) {
  const auto at = [](const char* list, std::size_t index, std::string message) {
    return Problem{{list, std::to_string(index)}, std::move(message)};
  };
  std::set<std::string> ids;
  for (std::size_t i = 0; i < it.sources.size(); ++i) {
    const std::string& id = it.sources[i].id;
    if (!ids.insert(id).second) {
      return at("sources", i, fmt::format("the source '{}' appears twice; rename one", id));
    }
  }
  std::set<std::string> gpus;
  for (std::size_t i = 0; i < it.gpus.size(); ++i) {
    const std::string& name = it.gpus[i].name;
    if (!gpus.insert(name).second) {
      return at("gpus", i, fmt::format("the gpu '{}' appears twice; keep one", name));
    }
  }
  std::set<std::pair<std::string, std::string>> names;
  for (std::size_t i = 0; i < it.types.size(); ++i) {
    const VmType& type = it.types[i];
    if (!names.emplace(to_lower(type.provider), to_lower(type.name)).second) {
      return at("types", i,
                fmt::format("the type {}/{} appears twice; put all its offers into one",
                            type.provider, type.name));
    }
    std::string missing;
    for_each_source(type, [&](const std::string& id) {
      if (!ids.contains(id)) missing = id;
    });
    if (!missing.empty()) {
      return at("types", i,
                fmt::format("{} refers to the source '{}', which is not in sources; add "
                            "it there",
                            type.name, missing));
    }
  }
  return std::nullopt;
}

std::string to_text(const Interruption& it) {
  if (!it.monthly_max) return fmt::format("over {:g} % a month", it.monthly_min * 100);
  return fmt::format("{:g}-{:g} % a month", it.monthly_min * 100, *it.monthly_max * 100);
}

Result<Loaded<Catalog>> read_catalog(std::string_view text, const std::string& source) {
  return read_document<Catalog>(text, kCatalogSchema, source);
}

std::string write_catalog(const Catalog& catalog) {
  return write_document(catalog, kCatalogSchema);
}

Status validate(const Catalog& catalog) { return check_fields(catalog, "catalogue"); }

Json catalog_schema() {
  return schema_document(kCatalogSchema, "A catalogue of machines that can be rented",
                         SchemaWalk::schema_of<Catalog>());
}

bool names_family(std::string_view name, std::string_view family) {
  const std::string whole = to_lower(name);
  const std::string prefix = to_lower(family);
  return whole == prefix || whole.starts_with(prefix + "-");
}

std::vector<const Gpu*> gpu_candidates(const Catalog& catalog, const Accelerator& accelerator) {
  constexpr double kSameMemory = 0.08;  // A provider's GB may be GiB: 7.4 % apart.
  std::vector<const Gpu*> fitting;
  for (const Gpu& gpu : catalog.gpus) {
    if (!names_family(gpu.name, accelerator.name)) continue;
    const bool known = gpu.memory && accelerator.memory;
    if (known && std::abs(*gpu.memory / *accelerator.memory - 1) > kSameMemory) continue;
    fitting.push_back(&gpu);
  }
  return fitting;
}

const Gpu* gpu_of(const Catalog& catalog, const VmType& type) {
  if (!type.accelerator) return nullptr;
  const std::string name = type.accelerator->gpu.value_or(type.accelerator->name);
  for (const Gpu& gpu : catalog.gpus) {
    if (gpu.name == name) return &gpu;
  }
  if (type.accelerator->gpu) return nullptr;
  const auto fitting = gpu_candidates(catalog, *type.accelerator);
  return fitting.size() == 1 ? fitting[0] : nullptr;
}

std::optional<Bytes> accelerator_memory(const Catalog& catalog, const VmType& type) {
  // Providers mix GB and GiB (24 GB cards are listed as 22.35), data sheets do not.
  const Gpu* gpu = gpu_of(catalog, type);
  if (gpu != nullptr && gpu->memory) return gpu->memory;
  return type.accelerator ? type.accelerator->memory : std::nullopt;
}

std::optional<BytesPerSecond> network_rate(const VmType& type) {
  if (!type.network) return std::nullopt;
  return type.network->baseline ? type.network->baseline : type.network->peak;
}

}  // namespace stint
