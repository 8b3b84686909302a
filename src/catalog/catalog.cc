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
  walk.field("id", it.id, "What figures refer to this source by.", kName);
  walk.field("name", it.name, "What it is.", kName);
  walk.field("url", it.url, "Where it can be found.");
  walk.field("commit", it.commit, "The version that was read.");
  walk.field("licence", it.licence, "Under which terms it is published.");
  walk.field("date", it.date, "The day or month the figures are of.");
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, Gpu>& it) {
  walk.field("name", it.name, "Unique; accelerators of VM types refer to it.", kName);
  walk.field("architecture", it.architecture, "Its maker's name for the generation.");
  walk.field("memory", it.memory, "Its own memory.", kPositive);
  walk.field("memory_bandwidth", it.memory_bandwidth, "To its own memory.", kBytesPerSecond);
  walk.field("fp32", it.fp32, "Peak speed in 32-bit arithmetic.", kPositive);
  walk.field("tf32", it.tf32, "Peak dense speed in TF32.", kPositive);
  walk.field("fp16", it.fp16, "Peak dense speed in 16-bit arithmetic.", kPositive);
  walk.field("link", it.link, "How accelerators of a VM reach each other; absent for PCIe.");
  walk.field("link_bandwidth", it.link_bandwidth, "Of that link, both directions added.",
             kBytesPerSecond);
  walk.field("pcie", it.pcie, "Generation and width of the host link.");
  walk.field("evidence", it.evidence, "What was read for these figures.");
  walk.field("unverified", it.unverified, "Fields that no page that was read bears out.");
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, Accelerator>& it) {
  walk.field("name", it.name, "As the provider calls it.", kName);
  walk.field("count", it.count, "How many the VM has.", kCount);
  walk.field("memory", it.memory, "Of one, as the provider states it.", kPositive);
  walk.field("gpu", it.gpu, "Name of the entry in gpus with its figures.", kName);
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, Network>& it) {
  walk.field("baseline", it.baseline, "The rate that is sustained.", kBits);
  walk.field("peak", it.peak, "The highest rate.", kBits);
  walk.field("note", it.note, "What the provider says of it.");
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, Price>& it) {
  walk.field("price", it.rate, "Of one VM.", kHourly);
  walk.field("low", it.low, "The price is lower 10 % of the time.", kHourly);
  walk.field("high", it.high, "The price is higher 10 % of the time.", kHourly);
  walk.field("date", it.date, "The day or month the price is of.");
  walk.field("source", it.source, "Id of the entry in sources.", kName);
  walk.field("derived", it.derived, "How it was computed; absent when it was listed.");
  walk.rest(it.unknown);
}

std::string problem(const Price& it) {
  if (it.low && *it.low > it.rate) return "low must not be more than price";
  if (it.high && *it.high < it.rate) return "high must not be less than price";
  return "";
}

template <class Walk>
void describe(Walk& walk, Like<Walk, Interruption>& it) {
  walk.field("monthly_min", it.monthly_min, "At least this share is taken back in a month.",
             kFrequency);
  walk.field("monthly_max", it.monthly_max, "At most this share; absent when not bounded.",
             kFrequency);
  walk.field("date", it.date, "The day or month the figure is of.");
  walk.field("source", it.source, "Id of the entry in sources.", kName);
  walk.rest(it.unknown);
}

std::string problem(const Interruption& it) {
  const bool turned = it.monthly_max && *it.monthly_max < it.monthly_min;
  return turned ? "monthly_max must not be less than monthly_min" : "";
}

template <class Walk>
void describe(Walk& walk, Like<Walk, Offer>& it) {
  walk.field("region", it.region, "The provider's region.", kName);
  walk.field("zone", it.zone, "The zone, when the prices are of one zone only.");
  walk.field("on_demand", it.on_demand, "The price on demand.");
  walk.field("spot", it.spot, "The price on the spot market.");
  walk.field("interruption", it.interruption, "How often spot VMs are taken back.");
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, DeepVmFigures>& it) {
  walk.field("a", it.a, "n workers are c/(1 + exp(-a (n - b))) times as fast as one.", kPositive);
  walk.field("b", it.b, "See a.");
  walk.field("c", it.c, "See a.", kPositive);
  walk.field("flops", it.flops, "Speed of one, in the same unit for all types.", kPositive);
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, VmType>& it) {
  walk.field("provider", it.provider, "Who rents it out: aws, gcp, azure …", kName);
  walk.field("name", it.name, "As the provider calls it.", kName);
  walk.field("accelerator", it.accelerator, "Absent for a VM without one.");
  walk.field("vcpus", it.vcpus, "Virtual processors.", kCount);
  walk.field("memory", it.memory, "Of the VM.", {.range = Range::kPositive, .unit = "GiB"});
  walk.field("network", it.network, "To other VMs.");
  walk.field("disk_bandwidth", it.disk_bandwidth, "To network disks.", kBits);
  walk.field("local_disk", it.local_disk, "Fast disks inside the VM.", kPositive);
  walk.field("efa_interfaces", it.efa_interfaces, "Elastic Fabric Adapters.", kCount);
  walk.field("architecture", it.architecture, "Of the processor: amd64 or arm64.");
  walk.field("quota_class", it.quota_class, "Which of the provider's quotas it counts against.");
  walk.field("deepvm", it.deepvm, "Measured figures that the policy deepvm goes by.");
  walk.field("source", it.source, "Id of the entry in sources for these figures.", kName);
  walk.field("offers", it.offers, "Where it can be rented, and for how much.");
  walk.rest(it.unknown);
}

namespace {

/// Names stand in cluster texts, tables and paths ("aws/us-east-1/g4dn.xlarge:spot").
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
  walk.field("sources", it.sources, "Where the figures come from.");
  walk.field("gpus", it.gpus, "What accelerators can do.");
  walk.field("types", it.types, "The machines that can be rented.", {.always = true});
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
  // Providers mix GB and GiB in what they state (24 GB cards stand as 22.35), data sheets do not.
  const Gpu* gpu = gpu_of(catalog, type);
  if (gpu != nullptr && gpu->memory) return gpu->memory;
  return type.accelerator ? type.accelerator->memory : std::nullopt;
}

std::optional<BytesPerSecond> network_rate(const VmType& type) {
  if (!type.network) return std::nullopt;
  return type.network->baseline ? type.network->baseline : type.network->peak;
}

}  // namespace stint
