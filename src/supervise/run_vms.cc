#include "supervise/run_vms.h"

#include <algorithm>

#include "base/check.h"

namespace stint {
namespace {

/// The total cost of a machine that was lost or released.
Dollars final_cost(const RunVm& vm) { return vm.billed.value_or(vm.charged); }

std::size_t index(Market market) { return market == Market::kSpot ? 1 : 0; }

// More machines than any run requests.
constexpr int kMachinesMax = 10'000'000;

}  // namespace

std::span<const EnumName<RunVmPhase>> names_of(RunVmPhase /*type*/) {
  static constexpr EnumName<RunVmPhase> kNames[] = {{RunVmPhase::kAsked, "asked"},
                                                    {RunVmPhase::kUp, "up"},
                                                    {RunVmPhase::kNoticed, "noticed"},
                                                    {RunVmPhase::kGone, "gone"}};
  return kNames;
}

std::string problem(const KeptVms& it) {
  if (it.count > kMachinesMax) return "there are too many machines";
  int last = -1;
  for (const KeptVm& kept : it.vms) {
    if (kept.number <= last || kept.number >= it.count) return "the machines are not in order";
    const bool noticed = kept.vm.phase == RunVmPhase::kNoticed;
    if (noticed && !kept.vm.goes) return "an interruption notice has no time";
    last = kept.number;
  }
  return "";
}

RunVms::Holders& RunVms::holders_of(const RunVm& vm) {
  const auto slot = static_cast<std::size_t>(vm.slot);
  if (slot >= by_slot_.size()) by_slot_.resize(slot + 1);
  return by_slot_[slot];
}

void RunVms::find_holders() {
  by_slot_.clear();
  for (const int vm : present_) {
    if (!at(vm).leaving) holders_of(at(vm))[index(at(vm).market)].push_back(vm);
  }
}

int RunVms::ask(const RunSlot& slot, int number, Market market, Seconds now) {
  all_.push_back({.slot = number,
                  .type = slot.type,
                  .trains = slot.trains,
                  .market = market,
                  .price = market == Market::kSpot ? slot.spot : slot.on_demand,
                  .asked = now,
                  .since = now});
  present_.push_back(static_cast<int>(all_.size()) - 1);
  holders_of(all_.back())[index(market)].push_back(present_.back());
  return present_.back();
}

void RunVms::ask_as(int vm, const RunSlot& slot, int number, Market market, Seconds now) {
  if (knows(vm) && at(vm).phase != RunVmPhase::kGone) end(vm, now);
  RunVms one;
  (void)one.ask(slot, number, market, now);
  if (!knows(vm)) all_.resize(static_cast<std::size_t>(vm) + 1, {.phase = RunVmPhase::kGone});
  it(vm) = one.all_[0];
  present_.insert(std::upper_bound(present_.begin(), present_.end(), vm), vm);
  find_holders();
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
  std::vector<int>& holders = holders_of(at(vm))[index(at(vm).market)];
  holders.erase(std::remove(holders.begin(), holders.end(), vm), holders.end());
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
  find_holders();
}

std::optional<int> RunVms::of(int slot, Market market) const {
  std::optional<int> found;
  if (slot >= static_cast<int>(by_slot_.size())) return found;
  for (const int vm : by_slot_[static_cast<std::size_t>(slot)][index(market)]) {
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

KeptVms RunVms::kept() const {
  KeptVms kept{.count = static_cast<int>(all_.size()), .vms = {}, .past = past_};
  for (int vm = 0; vm < kept.count; ++vm) {
    const bool gone = at(vm).phase == RunVmPhase::kGone;
    if (gone && at(vm).charged == Dollars{} && !at(vm).billed) continue;
    kept.vms.push_back({.number = vm, .vm = at(vm)});
  }
  return kept;
}

RunVms RunVms::from(const KeptVms& kept) {
  RunVms vms;
  vms.all_.resize(static_cast<std::size_t>(kept.count), {.phase = RunVmPhase::kGone});
  vms.past_ = kept.past;
  for (const KeptVm& one : kept.vms) {
    vms.it(one.number) = one.vm;
    if (one.vm.phase != RunVmPhase::kGone) vms.present_.push_back(one.number);
  }
  vms.find_holders();
  return vms;
}

}  // namespace stint
