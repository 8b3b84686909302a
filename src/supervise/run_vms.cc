#include "supervise/run_vms.h"

#include <algorithm>

#include "base/check.h"

namespace stint {
namespace {

/// The total cost of a machine that was lost or released.
Dollars final_cost(const RunVm& vm) { return vm.billed.value_or(vm.charged); }

}  // namespace

int RunVms::ask(const RunSlot& slot, int number, Market market, Seconds now) {
  all_.push_back({.slot = number,
                  .type = slot.type,
                  .trains = slot.trains,
                  .market = market,
                  .price = market == Market::kSpot ? slot.spot : slot.on_demand,
                  .asked = now,
                  .since = now});
  present_.push_back(static_cast<int>(all_.size()) - 1);
  return present_.back();
}

void RunVms::come(int vm, Seconds now) {
  it(vm).phase = RunVmPhase::kUp;
  it(vm).since = now;
}

void RunVms::announce(int vm, Seconds goes) {
  it(vm).phase = RunVmPhase::kNoticed;
  it(vm).goes = goes;
}

void RunVms::end(int vm, Seconds now) {
  CHECK(at(vm).phase != RunVmPhase::kGone);
  if (is_there(at(vm))) it(vm).charged += at(vm).price * (now - at(vm).since);
  it(vm).phase = RunVmPhase::kGone;
  past_ += final_cost(at(vm));
  present_.erase(std::find(present_.begin(), present_.end(), vm));
}

void RunVms::bill(int vm, Dollars cost) {
  const bool gone = at(vm).phase == RunVmPhase::kGone;
  if (gone) past_ -= final_cost(at(vm));
  it(vm).billed = cost;
  if (gone) past_ += final_cost(at(vm));
}

void RunVms::excuse(Seconds time, Seconds now) {
  for (const int vm : present_) {
    if (at(vm).phase == RunVmPhase::kAsked) it(vm).asked = std::min(now, at(vm).asked + time);
  }
}

void RunVms::change_price(const std::optional<std::string>& type, DollarsPerSecond spot,
                          Seconds now) {
  for (const int vm : present_) {
    if (at(vm).market != Market::kSpot || (type && at(vm).type != *type)) continue;
    if (is_there(at(vm))) it(vm).charged += at(vm).price * (now - at(vm).since);
    it(vm).since = now;
    it(vm).price = spot;
  }
}

void RunVms::move_to(const std::vector<RunSlot>& slots) {
  std::vector<int> order = present_;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return (at(a).phase == RunVmPhase::kUp) > (at(b).phase == RunVmPhase::kUp);
  });
  for (const int vm : order) it(vm).leaving = true;
  std::vector<bool> taken(slots.size());
  for (const bool same_market : {true, false}) {
    for (const int vm : order) {
      if (!at(vm).leaving) continue;
      for (std::size_t i = 0; i < slots.size() && at(vm).leaving; ++i) {
        const bool fits = slots[i].type == at(vm).type && slots[i].trains == at(vm).trains;
        if (taken[i] || !fits || (same_market && slots[i].market != at(vm).market)) continue;
        // A machine with an interruption notice leaves its slot to its successor.
        taken[i] = is_held(at(vm));
        it(vm).leaving = false;
        it(vm).slot = static_cast<int>(i);
      }
    }
  }
}

std::optional<int> RunVms::of(int slot, Market market) const {
  std::optional<int> found;
  for (const int vm : present_) {
    if (at(vm).leaving || at(vm).slot != slot || at(vm).market != market) continue;
    if (at(vm).phase == RunVmPhase::kUp) return vm;
    if (at(vm).phase == RunVmPhase::kAsked && !found) found = vm;
  }
  return found;
}

Dollars RunVms::cost(Seconds now) const {
  Dollars sum = past_;
  for (const int vm : present_) {
    Dollars cost = at(vm).charged;
    if (is_there(at(vm))) cost += at(vm).price * (now - at(vm).since);
    sum += std::max(cost, at(vm).billed.value_or(Dollars{}));
  }
  return sum;
}

DollarsPerSecond RunVms::rate() const {
  DollarsPerSecond sum;
  for (const int vm : present_) sum += at(vm).price;
  return sum;
}

}  // namespace stint
