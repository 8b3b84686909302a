#include "plan/layout.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"

namespace stint {
namespace {

Error group_error(std::string_view text, std::string_view why) {
  return bad_usage(
      fmt::format("'{}' is not a group of VMs: {}; write for example "
                  "'4x g4dn.12xlarge' or '2x p3.2xlarge:spot + 1x p3.2xlarge'",
                  printable(text), why));
}

/// The texts between plus signs that have a space on either side; names may hold a plus.
std::vector<std::string_view> split_groups(std::string_view text) {
  std::vector<std::string_view> groups;
  std::size_t start = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool before = i > 0 && is_space(text[i - 1]);
    const bool after = i + 1 < text.size() && is_space(text[i + 1]);
    if (text[i] != '+' || !(before || after)) continue;
    groups.push_back(trim(text.substr(start, i - start)));
    start = i + 1;
  }
  groups.push_back(trim(text.substr(start)));
  return groups;
}

/// Removes "4x " or "4 x " from the front of `rest`; 1 when there is no count. A digit without a
/// following x is part of the name.
std::optional<int> take_count(std::string_view& rest) {
  std::size_t digits = 0;
  while (digits < rest.size() && is_digit(rest[digits])) ++digits;
  if (digits == 0) return 1;
  std::string_view after = trim_left(rest.substr(digits));
  const bool times = !after.empty() && (after[0] == 'x' || after[0] == 'X');
  if (!times) return 1;
  const auto count = parse_int(rest.substr(0, digits));
  if (!count || *count < 1 || *count > kVmsMax) return std::nullopt;
  rest = trim_left(after.substr(1));
  return count;
}

std::optional<Market> take_market(std::string_view& rest) {
  const std::size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos) return Market::kOnDemand;
  const std::string name = to_lower(trim(rest.substr(colon + 1)));
  rest = trim(rest.substr(0, colon));
  for (const auto& [market, market_name] : names_of(Market{})) {
    if (name == market_name) return market;
  }
  return std::nullopt;
}

bool is_plain(std::string_view name) {
  if (name.starts_with('+') || name.ends_with('+')) return false;
  return std::none_of(name.begin(), name.end(), [](char c) {
    return is_space(c) || c == ':' || c == ',' || static_cast<unsigned char>(c) < 0x20;
  });
}

Result<VmGroup> parse_group(std::string_view text) {
  std::string_view rest = text;
  if (rest.empty()) return group_error(text, "it is empty");
  const auto count = take_count(rest);
  if (!count) return group_error(text, fmt::format("the count must be 1 to {}", kVmsMax));
  const auto market = take_market(rest);
  if (!market) return group_error(text, "the market after ':' must be spot or on-demand");
  if (!is_plain(rest))
    return group_error(text, "a VM name has no space, comma or colon and no '+' at its ends");
  auto name = parse_vm_name(rest);
  if (!name.ok()) return name.error();
  return VmGroup{.vm = std::move(*name), .market = *market, .count = *count};
}

}  // namespace

Result<Cluster> parse_cluster(std::string_view text) {
  Cluster cluster;
  std::int64_t vms = 0;
  for (const std::string_view part : split_groups(text)) {
    auto group = parse_group(part);
    if (!group.ok()) return group.error();
    vms += group->count;
    cluster.groups.push_back(std::move(*group));
  }
  if (vms > kVmsMax) {
    return bad_usage(fmt::format("a cluster has at most {} VMs, not {}", kVmsMax, vms));
  }
  return cluster;
}

std::string to_text(const Cluster& cluster) {
  std::vector<std::string> parts;
  for (const VmGroup& group : cluster.groups) {
    parts.push_back(fmt::format("{}x {}{}", group.count, to_text(group.vm),
                                group.market == Market::kSpot ? ":spot" : ""));
  }
  return join(parts, " + ");
}

std::span<const EnumName<Collective>> names_of(Collective /*type*/) {
  static constexpr EnumName<Collective> kNames[] = {
      {Collective::kRing, "ring"},
      {Collective::kHierarchical, "hierarchical"},
      {Collective::kParameterServer, "parameter-server"},
      {Collective::kTopK, "top-k"}};
  return kNames;
}

std::span<const EnumName<CheckpointPlace>> names_of(CheckpointPlace /*type*/) {
  static constexpr EnumName<CheckpointPlace> kNames[] = {
      {CheckpointPlace::kObjectStore, "object-store"},
      {CheckpointPlace::kAnchor, "anchor"},
      {CheckpointPlace::kTier, "tier"}};
  return kNames;
}

std::int64_t global_batch(const Layout& layout) {
  CHECK(layout.setups.size() == layout.cluster.groups.size());
  std::int64_t samples = 0;
  for (std::size_t i = 0; i < layout.setups.size(); ++i) {
    const GroupSetup& setup = layout.setups[i];
    samples += std::int64_t{layout.cluster.groups[i].count} * setup.workers_per_vm *
               setup.batch_per_worker;
  }
  return samples * layout.accumulation;
}

std::string problem(const Layout& layout) {
  if (layout.setups.size() != layout.cluster.groups.size()) {
    return fmt::format("the cluster has {} groups but the layout has {}",
                       layout.cluster.groups.size(), layout.setups.size());
  }
  double samples = 0;
  for (std::size_t i = 0; i < layout.setups.size(); ++i) {
    const GroupSetup& setup = layout.setups[i];
    samples += static_cast<double>(layout.cluster.groups[i].count) * setup.workers_per_vm *
               setup.batch_per_worker * layout.accumulation;
  }
  if (samples <= kBatchMax) return "";
  return fmt::format("the global batch is {} samples; the maximum is {}", samples, kBatchMax);
}

Status validate(const Layout& layout) { return check_fields(layout, "layout"); }

Json to_json(const Layout& layout) { return WriteWalk::write_noun(layout); }

}  // namespace stint
