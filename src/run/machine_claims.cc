#include "run/machine_claims.h"

#include <algorithm>

namespace stint {
namespace {

struct Span {
  Seconds from;
  Seconds to;
};

const VmStatus* vm_called(const ClusterStatus& status, const std::string& name) {
  const auto found = std::find_if(status.vms.begin(), status.vms.end(),
                                  [&](const VmStatus& it) { return it.name == name; });
  return found == status.vms.end() ? nullptr : &*found;
}

/// From when until when the claim counts in the life of its machine.
Span paid_span(const MachineClaims& claims, const MachineClaim& claim, const VmStatus& vm) {
  const Seconds end = vm.born + vm.age;
  bool first = true;
  bool last = true;
  for (const MachineClaim& other : claims.claims) {
    if (other.vm != claim.vm || other.member == claim.member) continue;
    if (other.since < claim.since) first = false;
    if (claim.until && (!other.until || *other.until > *claim.until)) last = false;
  }
  return {.from = first ? vm.born : std::min(claim.since, end),
          .to = last ? end : std::min(claim.until.value_or(end), end)};
}

}  // namespace

Result<MachineClaims> read_machine_claims(std::string_view text, const std::string& source) {
  auto read = read_document<MachineClaims>(text, kMachineClaimsSchema, source);
  if (!read.ok()) return read.error();
  return std::move(read->noun);
}

std::string write_machine_claims(const MachineClaims& claims) {
  return write_document(claims, kMachineClaimsSchema);
}

const MachineClaim* find_claim(const MachineClaims& claims, int member, const std::string& name) {
  const auto found =
      std::find_if(claims.claims.begin(), claims.claims.end(),
                   [&](const MachineClaim& it) { return it.member == member && it.name == name; });
  return found == claims.claims.end() ? nullptr : &*found;
}

bool others_train(const MachineClaims& claims, int member, const std::string& vm) {
  return std::any_of(claims.claims.begin(), claims.claims.end(), [&](const MachineClaim& it) {
    return it.vm == vm && it.member != member && !it.until;
  });
}

const VmStatus* machine_to_join(const MachineClaims& claims, const ClusterStatus& status,
                                int member, const VmSpec& wanted) {
  for (const VmStatus& vm : status.vms) {
    if (vm.phase != VmPhase::kRunning || vm.type != wanted.type || vm.market != wanted.market) {
      continue;
    }
    const bool had = std::any_of(
        claims.claims.begin(), claims.claims.end(),
        [&](const MachineClaim& it) { return it.vm == vm.name && it.member == member; });
    if (!had) return &vm;
  }
  return nullptr;
}

Seconds paid_time(const MachineClaims& claims, const MachineClaim& claim, const VmStatus& vm) {
  const Span own = paid_span(claims, claim, vm);
  Seconds paid = std::max(Seconds{}, own.to - own.from);
  for (const MachineClaim& other : claims.claims) {
    if (other.vm != claim.vm || other.member == claim.member) continue;
    const Span its = paid_span(claims, other, vm);
    const Seconds both = std::min(own.to, its.to) - std::max(own.from, its.from);
    paid = paid - std::max(Seconds{}, both) / 2;
  }
  return paid;
}

ClusterStatus view_of(const MachineClaims& claims, const ClusterStatus& status, int member) {
  ClusterStatus view = status;
  view.vms.clear();
  view.cost_on_demand = Dollars{};
  view.cost_spot = Dollars{};
  for (const MachineClaim& claim : claims.claims) {
    if (claim.member != member) continue;
    const VmStatus* real = vm_called(status, claim.vm);
    if (real == nullptr) continue;
    VmStatus vm = *real;
    vm.name = claim.name;
    vm.age = paid_time(claims, claim, *real);
    vm.cost = real->age > Seconds{} ? real->cost * (vm.age / real->age) : Dollars{};
    if (others_train(claims, member, claim.vm)) vm.price = vm.price / 2;
    if (claim.until && real->phase != VmPhase::kTaken) {
      vm.phase = VmPhase::kTaken;
      vm.released = true;
      vm.takes_at.reset();
      vm.takes_in.reset();
      vm.price = DollarsPerSecond{};
    }
    (vm.market == Market::kSpot ? view.cost_spot : view.cost_on_demand) += vm.cost;
    view.vms.push_back(std::move(vm));
  }
  return view;
}

}  // namespace stint
