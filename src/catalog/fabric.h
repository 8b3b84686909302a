#pragma once

#include <optional>

#include "catalog/catalog.h"

namespace stint {

/// The fastest transport between VMs of `type`; absent when no source names it.
std::optional<Transport> transport_of(const VmType& type);

/// The rate that training traffic between VMs gets by that transport, one direction: the RDMA links
/// where they have a rate of their own, else network_rate.
std::optional<BytesPerSecond> fabric_rate(const VmType& type);

/// The limits of one TCP flow between two VMs.
struct FlowLimit {
  BytesPerSecond apart;   // Anywhere in the region.
  BytesPerSecond placed;  // In one placement group.
};

/// The limits of one TCP flow of `type`; absent when its provider states none.
std::optional<FlowLimit> flow_limit(const VmType& type);

/// What connects the accelerators of one VM.
enum class InsideLinkKind { kPcie, kNvlink, kOther };

std::span<const EnumName<InsideLinkKind>> names_of(InsideLinkKind type);

struct InsideLink {
  InsideLinkKind kind = InsideLinkKind::kPcie;
  BytesPerSecond one_way;  // Of one accelerator to all others, one direction.
};

/// The link of `gpu` to others of its VM, by its data sheet: half of link_bandwidth, which adds
/// both directions, else PCIe of its generation and width. Absent when the sheet has neither.
std::optional<InsideLink> inside_link(const Gpu& gpu);

/// The same for the accelerators of `type`.
std::optional<InsideLink> inside_link(const Catalog& catalog, const VmType& type);

/// The rate of the link of `gpu` to its host, one direction, by PCIe of its generation and width.
/// Absent when its data sheet does not say.
std::optional<BytesPerSecond> host_link_rate(const Gpu& gpu);

}  // namespace stint
