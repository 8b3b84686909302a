#include "catalog/fabric.h"

#include <cmath>

#include "base/text.h"

namespace stint {
namespace {

// PCIe 3.0 carries 8 Gbit/s by lane and direction, and each generation doubles the one before (PCI
// Express Base Specification; 128b/130b coding, 1.5 %, is left to the measured efficiency).
constexpr BytesPerSecond kPcie3Lane = 8 * kGbit / kSecond;
constexpr int kPcieLanesMax = 32;

/// One direction of "4.0 x16".
std::optional<BytesPerSecond> pcie_rate(std::string_view text) {
  const auto parts = split(text, ' ');
  if (parts.size() != 2 || parts[0].size() != 3 || !parts[0].ends_with(".0")) return std::nullopt;
  if (!parts[1].starts_with("x")) return std::nullopt;
  const int generation = parse_int(parts[0].substr(0, 1)).value_or(0);
  const int lanes = parse_int(parts[1].substr(1)).value_or(0);
  if (generation < 1 || lanes < 1 || lanes > kPcieLanesMax) return std::nullopt;
  return std::pow(2.0, generation - 3) * lanes * kPcie3Lane;
}

}  // namespace

std::optional<Transport> transport_of(const VmType& type) {
  return type.network ? type.network->transport : std::nullopt;
}

std::optional<BytesPerSecond> fabric_rate(const VmType& type) {
  if (type.network && type.network->rdma) return type.network->rdma;
  return network_rate(type);
}

std::optional<FlowLimit> flow_limit(const VmType& type) {
  if (!type.network || !type.network->flow) return std::nullopt;
  return FlowLimit{.apart = *type.network->flow,
                   .placed = type.network->flow_placed.value_or(*type.network->flow)};
}

std::span<const EnumName<InsideLinkKind>> names_of(InsideLinkKind /*type*/) {
  static constexpr EnumName<InsideLinkKind> kNames[] = {{InsideLinkKind::kPcie, "pcie"},
                                                        {InsideLinkKind::kNvlink, "nvlink"},
                                                        {InsideLinkKind::kOther, "other"}};
  return kNames;
}

std::optional<InsideLink> inside_link(const Gpu& gpu) {
  if (gpu.link_bandwidth) {
    const bool nvlink = gpu.link && gpu.link->starts_with("NVLink");
    return InsideLink{.kind = nvlink ? InsideLinkKind::kNvlink : InsideLinkKind::kOther,
                      .one_way = *gpu.link_bandwidth / 2};
  }
  if (gpu.link || !gpu.pcie) return std::nullopt;  // A link without a figure is not PCIe.
  const auto rate = pcie_rate(*gpu.pcie);
  if (!rate) return std::nullopt;
  return InsideLink{.kind = InsideLinkKind::kPcie, .one_way = *rate};
}

std::optional<InsideLink> inside_link(const Catalog& catalog, const VmType& type) {
  const Gpu* gpu = gpu_of(catalog, type);
  return gpu == nullptr ? std::nullopt : inside_link(*gpu);
}

std::optional<BytesPerSecond> host_link_rate(const Gpu& gpu) {
  return gpu.pcie ? pcie_rate(*gpu.pcie) : std::nullopt;
}

}  // namespace stint
