#include "calibrate/collectives/collective_cases.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"
#include "base/unit_text.h"
#include "catalog/lookup.h"
#include "predict/device_scaling.h"

namespace stint {
namespace {

// Between 400 and 3200 Gbit/s, which clusters of eight accelerators per VM have.
constexpr BytesPerSecond kMiddleLineRate = 1130 * kGbit / kSecond;

// Of NVLink's third and fourth generation, for a GPU that is not stated.
constexpr BytesPerSecond kMiddleInsideRate = 375 * kGB / kSecond;

// Fractions of a line rate do not depend on the rate but through the latencies, which are learned.
constexpr BytesPerSecond kSimaiInside = 400 * kGB / kSecond;
constexpr BytesPerSecond kSimaiLine = 100 * kGB / kSecond;

/// Share of the payload that nccl-tests' bus bandwidth counts (its PERFORMANCE.md).
double bus_factor(CollectiveKind kind, int workers) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return 2.0 * (workers - 1) / workers;
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllToAll:
      return (workers - 1.0) / workers;
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kPointToPoint:
      return 1;
  }
  CHECK(false);
}

std::optional<CollectiveKind> kind_of(const std::string& name) {
  // A ring of the fractions is one round; a table may say alltoall as nccl-tests does.
  if (name == "ring") return CollectiveKind::kAllGather;
  if (name == "alltoall") return CollectiveKind::kAllToAll;
  if (name == "sendrecv") return CollectiveKind::kPointToPoint;
  for (const auto& [kind, text] : names_of(CollectiveKind{})) {
    if (name == text) return kind;
  }
  return std::nullopt;
}

/// The first rate in a text such as "EFA, 3200 Gbit/s" or "8x400Gbps InfiniBand".
std::optional<BytesPerSecond> rate_in(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] < '0' || text[i] > '9') continue;
    std::size_t end = i;
    while (end < text.size() && ((text[end] >= '0' && text[end] <= '9') || text[end] == '.')) ++end;
    const std::string rest = to_lower(trim(text.substr(end)));
    const auto number = parse_double(text.substr(i, end - i));
    const bool tera = rest.starts_with("tb");
    if (number && *number > 0 && (tera || rest.starts_with("gb"))) {
      // A count before the rate, "8x400Gbps".
      double count = 1;
      if (i >= 2 && text[i - 1] == 'x' && text[i - 2] >= '1' && text[i - 2] <= '9') {
        count = text[i - 2] - '0';
      }
      return count * *number * (tera ? kTbit : kGbit) / kSecond;
    }
    i = end;
  }
  return std::nullopt;
}

/// The fastest network of VM types with that GPU and number of them; of AWS's for EFA.
std::optional<BytesPerSecond> network_of_gpu(const Catalog& catalog, const Gpu& gpu, int count,
                                             const std::string& network) {
  std::optional<BytesPerSecond> fastest;
  for (const VmType& type : catalog.types) {
    if (!type.accelerator || type.accelerator->count < count) continue;
    if (gpu_of(catalog, type) != &gpu) continue;
    if (network.find("EFA") != std::string::npos && type.provider != "aws") continue;
    const auto rate = network_rate(type);
    if (rate && (!fastest || *rate > *fastest)) fastest = rate;
  }
  return fastest;
}

const VmType* type_of(const Catalog& catalog, const std::string& name) {
  const auto parsed = parse_vm_name(name);
  if (!parsed.ok()) return nullptr;
  const auto found = find_type(catalog, *parsed);
  return found.ok() ? *found : nullptr;
}

/// The links of the case's fabric by the catalogue.
void set_links(CollectiveCase& it, const CollectiveMeasurement& row, const Catalog& catalog) {
  Fabric& fabric = it.fabric;
  if (row.format == CollectiveFormat::kSimai) {
    fabric.inside_rate = kSimaiInside;
    fabric.line_rate = kSimaiLine;
    return;
  }
  const VmType* type = row.vm_type.empty() ? nullptr : type_of(catalog, row.vm_type);
  const Gpu* gpu = type != nullptr ? gpu_of(catalog, *type) : nullptr;
  if (gpu == nullptr && !row.gpu.empty()) gpu = find_gpu(catalog, row.gpu);
  const bool inside = gpu != nullptr && set_inside(fabric, *gpu);
  if (!inside) fabric.inside_rate = kMiddleInsideRate;
  if (fabric.vms == 1) {
    it.rate_unknown = !inside;
    return;
  }
  std::optional<BytesPerSecond> rate = type != nullptr ? network_rate(*type) : std::nullopt;
  if (!rate) rate = rate_in(row.network);
  if (!rate && gpu != nullptr && !row.network.empty()) {
    rate = network_of_gpu(catalog, *gpu, fabric.workers_per_vm, row.network);
  }
  it.rate_unknown = !rate;
  fabric.line_rate = rate.value_or(kMiddleLineRate);
}

void set_value(CollectiveCase& it, const CollectiveMeasurement& row) {
  const int workers = it.fabric.vms * it.fabric.workers_per_vm;
  it.value = row.value;
  it.inverse = row.quantity != CollectiveQuantity::kSeconds &&
               row.quantity != CollectiveQuantity::kMicroseconds;
  switch (row.quantity) {
    case CollectiveQuantity::kSeconds:
      it.factor = 1;
      return;
    case CollectiveQuantity::kMicroseconds:
      it.factor = kSecond / kMicrosecond;
      return;
    case CollectiveQuantity::kBusRate:
      it.factor = bus_factor(it.kind, workers) * it.payload.in(kGB);
      return;
    case CollectiveQuantity::kLineShare:
      it.factor = line_rate_time(it).in(kSecond);
      return;
    case CollectiveQuantity::kRate:
      it.factor = it.payload.in(kGB);
      return;
  }
}

const char* format_name(CollectiveFormat format) {
  for (const auto& [value, name] : names_of(CollectiveFormat{})) {
    if (value == format) return name;
  }
  CHECK(false);
}

}  // namespace

double value_of(const CollectiveCase& it, Seconds time) {
  return it.inverse ? it.factor / time.in(kSecond) : it.factor * time.in(kSecond);
}

std::optional<Seconds> measured_time(const CollectiveCase& it) {
  if (!it.value) return std::nullopt;
  return (it.inverse ? it.factor / *it.value : *it.value / it.factor) * kSecond;
}

bool same_curve(const CollectiveCase& a, const CollectiveCase& b) {
  return a.system == b.system && a.collective == b.collective && a.fabric.vms == b.fabric.vms &&
         a.fabric.workers_per_vm == b.fabric.workers_per_vm;
}

Seconds line_rate_time(const CollectiveCase& it) {
  const CollectiveLaw nominal;  // Efficiencies of one and no latency.
  return collective_time(it.kind, it.payload, it.fabric, nominal);
}

CollectiveCase collective_case(const CollectiveMeasurement& row, const Catalog& catalog) {
  CollectiveCase it{.system = fmt::format("{}: {}", format_name(row.format), row.system),
                    .collective = row.collective,
                    .fabric = {.accelerators_per_vm = row.accelerators_per_vm,
                               .workers_per_vm = row.workers_per_vm,
                               .vms = row.vms},
                    .many_jobs = row.format == CollectiveFormat::kAceso,
                    .payload = row.payload,
                    .stated = row.stated};
  const auto kind = kind_of(row.collective);
  if (!kind) {
    it.note = fmt::format("the collective '{}' is not modelled", printable(row.collective));
    return it;
  }
  if (row.vms * row.workers_per_vm < 2) {
    it.note = "one worker exchanges nothing";
    return it;
  }
  it.kind = *kind;
  set_links(it, row, catalog);
  set_value(it, row);
  return it;
}

}  // namespace stint
