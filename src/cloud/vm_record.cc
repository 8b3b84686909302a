#include "cloud/vm_record.h"

#include <algorithm>

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
  // Prices on demand stay as they are.
  if (vm.spec.market != Market::kSpot) pool = {};
  return vm.spec.price * priced_time(pool, vm.born, vm.ended.value_or(now));
}

}  // namespace stint
