#include "cloud/cluster_status.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"
#include "cloud/metadata.h"

namespace stint {

std::span<const EnumName<VmPhase>> names_of(VmPhase /*type*/) {
  static constexpr EnumName<VmPhase> kNames[] = {
      {VmPhase::kRunning, "running"}, {VmPhase::kNoticed, "noticed"}, {VmPhase::kTaken, "taken"}};
  return kNames;
}

VmRecord born_vm(const VmSpec& spec, std::string address, Seconds notice, Seconds now) {
  VmRecord vm{.spec = spec, .address = std::move(address), .born = now, .notice = notice};
  if (spec.life) vm.takes_at = now + *spec.life;
  return vm;
}

void preempt(VmRecord& vm, Seconds notice, Seconds now) {
  if (vm.takes_at && *vm.takes_at <= now + notice) return;
  vm.takes_at = now + notice;
  vm.notice = notice;
}

VmPhase phase_of(const VmRecord& vm, Seconds now) {
  if (vm.ended) return VmPhase::kTaken;
  if (!vm.takes_at || now < *vm.takes_at - vm.notice) return VmPhase::kRunning;
  return now < *vm.takes_at ? VmPhase::kNoticed : VmPhase::kTaken;
}

std::optional<Seconds> next_event(const VmRecord& vm, Seconds now) {
  switch (phase_of(vm, now)) {
    case VmPhase::kRunning:
      if (!vm.takes_at) return std::nullopt;
      return *vm.takes_at - vm.notice;
    case VmPhase::kNoticed:
      return vm.takes_at;
    case VmPhase::kTaken:
      return std::nullopt;
  }
  CHECK(false);
  return std::nullopt;
}

DollarsPerSecond price_of(const VmRecord& vm, std::span<const PoolChange> pool, Seconds now) {
  if (phase_of(vm, now) == VmPhase::kTaken) return {};
  return vm.spec.price * (vm.spec.market == Market::kSpot ? spot_price_factor(pool, now) : 1.0);
}

Dollars cost_of(const VmRecord& vm, std::span<const PoolChange> pool, Seconds now) {
  // On-demand prices are constant.
  if (vm.spec.market != Market::kSpot) pool = {};
  return vm.spec.price * priced_time(pool, vm.born, vm.ended.value_or(now));
}

ClusterStatus status_of(const ClusterSpec& spec, Seconds birth, std::span<const VmRecord> vms,
                        Seconds now) {
  ClusterStatus status{.name = spec.name,
                       .since = utc_text(birth),
                       .age = now,
                       .spot_capacity = spot_capacity(spec.pool, now)};
  for (const VmRecord& vm : vms) {
    const Dollars cost = cost_of(vm, spec.pool, now);
    VmStatus one{.name = vm.spec.name,
                 .type = vm.spec.type,
                 .market = vm.spec.market,
                 .address = vm.address,
                 .network = vm.spec.network,
                 .phase = phase_of(vm, now),
                 .born = vm.born,
                 .age = std::max(Seconds{}, vm.ended.value_or(now) - vm.born),
                 .price = price_of(vm, spec.pool, now),
                 .cost = cost};
    if (one.phase == VmPhase::kNoticed) {
      one.takes_at = utc_text(birth + *vm.takes_at);
      one.takes_in = *vm.takes_at - now;
    }
    if (vm.released) one.released = true;
    (vm.spec.market == Market::kSpot ? status.cost_spot : status.cost_on_demand) += cost;
    status.vms.push_back(std::move(one));
  }
  return status;
}

Result<const VmStatus*> find_vm(const ClusterStatus& status, const std::string& name) {
  std::vector<std::string> names;
  for (const VmStatus& vm : status.vms) {
    if (vm.name == name) return &vm;
    if (vm.phase != VmPhase::kTaken) names.push_back(vm.name);
  }
  return bad_usage(fmt::format("the cluster {} has no VM '{}'{}", status.name, printable(name),
                               names.empty() ? "" : ", only " + join(names, ", ")));
}

Json cluster_schema() {
  return schema_document(kClusterSchema, "A cluster of the emulated cloud and its bill",
                         SchemaWalk::schema_of<ClusterStatus>());
}

}  // namespace stint
