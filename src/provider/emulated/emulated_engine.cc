#include "provider/emulated/emulated_engine.h"

#include <algorithm>

namespace stint {
namespace {

MachinePhase phase_of(const VmStatus& vm) {
  switch (vm.phase) {
    case VmPhase::kRunning:
      return MachinePhase::kUp;
    case VmPhase::kNoticed:
      return MachinePhase::kNoticed;
    case VmPhase::kTaken:
      break;
  }
  return MachinePhase::kGone;
}

bool has(const ClusterStatus& status, const std::string& name) {
  return std::any_of(status.vms.begin(), status.vms.end(),
                     [&](const VmStatus& vm) { return vm.name == name; });
}

}  // namespace

VmSpec vm_spec(const MachineOrder& order) {
  return {.name = order.name,
          .type = order.type,
          .market = order.market,
          .network = order.network,
          .price = order.price,
          .life = order.life};
}

MachineList machines_of(const ClusterStatus& status) {
  MachineList list{.spot_capacity = status.spot_capacity};
  for (const VmStatus& vm : status.vms) {
    list.machines.push_back({.name = vm.name,
                             .type = vm.type,
                             .market = vm.market,
                             .phase = phase_of(vm),
                             .address = vm.address,
                             .takes_in = vm.takes_in,
                             .released = vm.released.value_or(false),
                             .paid = vm.age,
                             .price = vm.price,
                             .cost = vm.cost});
  }
  return list;
}

Result<std::optional<MachineRefusal>> refusal_of(const Error& error, const MachineOrder& order) {
  if (error.kind == ErrorKind::kFailed) return error;
  return std::optional(MachineRefusal{
      .name = order.name, .reason = error.message, .again = error.kind != ErrorKind::kUsage});
}

Result<std::optional<MachineRefusal>> EmulatedEngine::request(const MachineOrder& order) const {
  const auto before = cluster_.status();
  if (!before.ok()) return before.error();
  if (has(*before, order.name)) return std::optional<MachineRefusal>();
  const auto added = cluster_.add(vm_spec(order));
  if (!added.ok()) return refusal_of(added.error(), order);
  return std::optional<MachineRefusal>();
}

Status EmulatedEngine::release(const std::string& name) const {
  const auto before = cluster_.status();
  if (!before.ok()) return before.error();
  if (!has(*before, name)) return {};
  const auto released = cluster_.release(name);
  return released.ok() ? Status() : Status(released.error());
}

Result<MachineList> EmulatedEngine::look() const {
  const auto status = cluster_.status();
  if (!status.ok()) return status.error();
  return machines_of(*status);
}

}  // namespace stint
