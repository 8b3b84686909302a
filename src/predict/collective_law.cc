#include "predict/collective_law.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "base/check.h"
#include "base/text.h"

namespace stint {
namespace {

/// The bytes over the rate of the slowest link, and the latencies of all steps.
struct Algorithm {
  Seconds moving;
  Seconds latency;
};

/// A collective in terms of its steps: how often the payload goes round, and whether trees exist.
struct Shape {
  double rounds = 1;
  bool whole = false;  // Each member sends the whole payload, not its part of it.
  bool tree = false;
};

Shape shape_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return {.rounds = 2, .tree = true};
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllToAll:
      return {};
    case CollectiveKind::kBroadcast:
      return {.whole = true, .tree = true};
    case CollectiveKind::kPointToPoint:
      return {.whole = true};
  }
  CHECK(false);
}

/// What one member of `count` sends, in payloads.
double sent(const Shape& shape, int count) {
  if (count == 1) return 0;
  return shape.whole ? 1 : shape.rounds * (count - 1) / count;
}

double ring_steps(const Shape& shape, int count) { return shape.rounds * (count - 1); }

double tree_steps(const Shape& shape, int count) { return shape.rounds * std::log2(count); }

/// (L^p + M^p)^(1/p).
Seconds blended(const Algorithm& it, double p) {
  const double sum = std::pow(it.latency.in(kSecond), p) + std::pow(it.moving.in(kSecond), p);
  return std::pow(sum, 1 / p) * kSecond;
}

const Algorithm& better(const Algorithm& a, const Algorithm& b, double blend) {
  return blended(b, blend) < blended(a, blend) ? b : a;
}

/// Two members exchange a message, however many there are.
int members(CollectiveKind kind, int count) {
  return kind == CollectiveKind::kPointToPoint ? std::min(count, 2) : count;
}

Seconds moving_inside(CollectiveKind kind, Bytes payload, const Fabric& fabric,
                      const CollectiveLaw& law) {
  const int workers = members(kind, fabric.workers_per_vm);
  if (workers == 1) return {};
  CHECK(fabric.inside_rate > BytesPerSecond{});
  BytesPerSecond rate = fabric.inside_rate * inside_law(law, fabric.inside).efficiency;
  if (fabric.inside == InsideTopology::kMesh && fabric.accelerators_per_vm > workers) {
    rate = rate * std::pow((workers - 1.0) / (fabric.accelerators_per_vm - 1), law.mesh_exponent);
  }
  if (fabric.inside == InsideTopology::kMesh && kind == CollectiveKind::kAllToAll) {
    const double all = std::max(1, fabric.accelerators_per_vm - 2);
    rate = rate * std::pow(law.mesh_all_to_all, (workers - 2) / all);
  }
  return sent(shape_of(kind), workers) * payload / rate;
}

/// Of `payloads` payloads through the NIC of a VM.
Seconds moving_between(double payloads, Bytes payload, const Fabric& fabric,
                       const CollectiveLaw& law) {
  CHECK(nominal_rate(fabric) > BytesPerSecond{});
  const double kept = std::pow(1 - law.loss_per_doubling, std::log2(fabric.vms / 2.0));
  const LinkLaw& link = between_law(law, fabric.transport);
  const BytesPerSecond rate = nominal_rate(fabric) * (link.efficiency * kept);
  const double host_seconds = 1e-9 * link.host * payload.in(kByte);
  return payloads * (payload / rate + host_seconds * kSecond);
}

/// The best algorithm inside one VM, which has several workers.
Algorithm inside_algorithm(CollectiveKind kind, Bytes payload, const Fabric& fabric,
                           const CollectiveLaw& law) {
  const Shape shape = shape_of(kind);
  const int workers = members(kind, fabric.workers_per_vm);
  const LinkLaw& link = inside_law(law, fabric.inside);
  const Seconds moving = moving_inside(kind, payload, fabric, law);
  const Algorithm ring{moving, law.launch + ring_steps(shape, workers) * link.latency};
  if (!shape.tree) return ring;
  const Algorithm tree{moving / law.tree_efficiency,
                       law.launch + tree_steps(shape, workers) * link.latency};
  return better(ring, tree, link.blend);
}

/// The best algorithm over several VMs.
Algorithm between_algorithm(CollectiveKind kind, Bytes payload, const Fabric& fabric,
                            const CollectiveLaw& law) {
  const Shape shape = shape_of(kind);
  const LinkLaw& link = between_law(law, fabric.transport);
  const Seconds hop = inside_law(law, fabric.inside).latency;
  const int vms = members(kind, fabric.vms);
  // A message between VMs does not pass other workers of its VM.
  const int workers = kind == CollectiveKind::kPointToPoint ? 1 : fabric.workers_per_vm;
  const Seconds inside = workers == 1 ? Seconds{} : moving_inside(kind, payload, fabric, law);
  const auto over_nic = [&](double payloads) {
    return std::max(inside, moving_between(payloads, payload, fabric, law));
  };
  const Seconds across = law.launch + ring_steps(shape, vms) * link.latency;
  const double in_vm = ring_steps(shape, workers);
  const Algorithm hierarchical{over_nic(sent(shape, vms)), across + in_vm * hop};
  const Algorithm ring{over_nic(sent(shape, vms * workers)), across + vms * in_vm * hop};
  const Algorithm best = better(hierarchical, ring, link.blend);
  if (!shape.tree) return best;
  const Algorithm tree{
      hierarchical.moving / law.tree_efficiency,
      law.launch + tree_steps(shape, vms) * link.latency + tree_steps(shape, workers) * hop};
  return better(best, tree, link.blend);
}

/// NVSwitch came with the second generation of NVLink, but VMs have it from the third on.
bool has_switch(std::string_view link) {
  constexpr std::string_view kNvlink = "NVLink ";
  if (!link.starts_with(kNvlink)) return false;
  return parse_int(link.substr(kNvlink.size())).value_or(0) >= 3;
}

/// "4.0 x16": lanes of 0.985 GB/s in the third generation, twice that in each later one.
std::optional<BytesPerSecond> pcie_rate(std::string_view text) {
  const std::size_t dot = text.find('.');
  const std::size_t times = text.find('x');
  if (dot == std::string_view::npos || times == std::string_view::npos) return std::nullopt;
  const auto generation = parse_int(text.substr(0, dot));
  const auto lanes = parse_int(text.substr(times + 1));
  if (!generation || !lanes || *generation < 1 || *lanes < 1) return std::nullopt;
  constexpr BytesPerSecond kThirdGenerationLane = 0.985 * kGB / kSecond;
  return *lanes * std::exp2(*generation - 3) * kThirdGenerationLane;
}

}  // namespace

std::span<const EnumName<InsideTopology>> names_of(InsideTopology /*type*/) {
  static constexpr EnumName<InsideTopology> kNames[] = {{InsideTopology::kSwitched, "switched"},
                                                        {InsideTopology::kMesh, "mesh"},
                                                        {InsideTopology::kPcie, "pcie"}};
  return kNames;
}

std::span<const EnumName<CollectiveKind>> names_of(CollectiveKind /*type*/) {
  static constexpr EnumName<CollectiveKind> kNames[] = {
      {CollectiveKind::kAllReduce, "all_reduce"},
      {CollectiveKind::kAllGather, "all_gather"},
      {CollectiveKind::kReduceScatter, "reduce_scatter"},
      {CollectiveKind::kAllToAll, "all_to_all"},
      {CollectiveKind::kBroadcast, "broadcast"},
      {CollectiveKind::kPointToPoint, "point_to_point"}};
  return kNames;
}

bool set_inside(Fabric& fabric, const Gpu& gpu) {
  if (gpu.link_bandwidth) {
    fabric.inside =
        has_switch(gpu.link.value_or("")) ? InsideTopology::kSwitched : InsideTopology::kMesh;
    fabric.inside_rate = *gpu.link_bandwidth / 2;  // The data sheet adds both directions.
    return true;
  }
  const auto rate = gpu.pcie ? pcie_rate(*gpu.pcie) : std::nullopt;
  if (!rate) return false;
  fabric.inside = InsideTopology::kPcie;
  fabric.inside_rate = *rate;
  return true;
}

Result<CollectiveLaw> collective_law(const Calibration& calibration) {
  CollectiveLaw law;
  std::string missing;
  const auto value_of = [&](const std::string& scope, const std::string& name) {
    for (const Constant& constant : calibration.constants) {
      if (constant.scope == scope && constant.name == name) return constant.value;
    }
    if (name == "host_cost") return 0.0;  // Older calibrations have none.
    missing = fmt::format("{} of {}", name, scope);
    return 1.0;
  };
  for_each_constant(law, [&](const char* scope, const char* name, auto& member) {
    const double value = value_of(scope, name);
    if constexpr (std::is_same_v<decltype(member), Seconds&>) {
      member = value * kSecond;
    } else {
      member = value;
    }
    if (!(value >= 0 && value < std::numeric_limits<double>::infinity())) {
      missing = fmt::format("{} of {} in its range", name, scope);
    }
  });
  if (missing.empty()) return law;
  return bad_input(fmt::format("calibration {}: no {}", calibration.name, missing));
}

const LinkLaw& inside_law(const CollectiveLaw& law, InsideTopology link) {
  switch (link) {
    case InsideTopology::kSwitched:
      return law.switched;
    case InsideTopology::kMesh:
      return law.mesh;
    case InsideTopology::kPcie:
      return law.pcie;
  }
  CHECK(false);
}

const LinkLaw& between_law(const CollectiveLaw& law, TransportFamily transport) {
  return transport == TransportFamily::kTcp ? law.tcp : law.rdma;
}

BytesPerSecond nominal_rate(const Fabric& fabric) {
  if (fabric.transport == TransportFamily::kRdma || !fabric.flow_cap) return fabric.line_rate;
  return std::min(fabric.line_rate, fabric.flows * *fabric.flow_cap);
}

Seconds collective_time(CollectiveKind kind, Bytes payload, const Fabric& fabric,
                        const CollectiveLaw& law) {
  CHECK(fabric.vms >= 1);
  CHECK(fabric.workers_per_vm >= 1);
  const bool several = fabric.workers_per_vm > 1;
  const bool crosses = fabric.vms > 1;
  Seconds time;
  if (several && !(crosses && kind == CollectiveKind::kPointToPoint)) {
    time =
        blended(inside_algorithm(kind, payload, fabric, law), inside_law(law, fabric.inside).blend);
  }
  if (!crosses) return time;
  return std::max(time, blended(between_algorithm(kind, payload, fabric, law),
                                between_law(law, fabric.transport).blend));
}

ExpectedLink expected_link(const Fabric& fabric, Bytes payload, const CollectiveLaw& law) {
  CHECK(fabric.vms * fabric.workers_per_vm >= 2);
  constexpr CollectiveKind kKind = CollectiveKind::kAllReduce;
  const bool crosses = fabric.vms > 1;
  const int count = crosses ? fabric.vms : fabric.workers_per_vm;
  const LinkLaw& link =
      crosses ? between_law(law, fabric.transport) : inside_law(law, fabric.inside);
  const Algorithm best = crosses ? between_algorithm(kKind, payload, fabric, law)
                                 : inside_algorithm(kKind, payload, fabric, law);
  const Seconds moving = collective_time(kKind, payload, fabric, law) - best.latency;
  return {.bandwidth = sent(shape_of(kKind), count) * payload / moving,
          .latency = best.latency / ring_steps(shape_of(kKind), count),
          .bandwidth_deviation = link.efficiency_deviation,
          .latency_deviation = link.latency_deviation};
}

}  // namespace stint
