// Chooses the machines that train, and saves before changes; see supervisor_orders.cc.
#include <algorithm>
#include <cmath>
#include <utility>

#include "supervise/supervisor.h"

namespace stint {
namespace {

using Act = RunActionKind;
using Phase = RunVmPhase;

bool contains(const std::vector<int>& list, int value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

/// The machines that could train: for each slot the one of the wanted market, and until it is up
/// another.
std::vector<int> Supervisor::available() const {
  std::vector<int> found;
  for (const int slot : training_) {
    const auto& wanted = slots_[static_cast<std::size_t>(slot)].wanted;
    if (!wanted) continue;
    const Market other = *wanted == Market::kSpot ? Market::kOnDemand : Market::kSpot;
    for (const Market market : {*wanted, other}) {
      const auto vm = vms_.of(slot, market);
      if (!vm || vms_.at(*vm).phase != Phase::kUp) continue;
      found.push_back(*vm);
      break;
    }
  }
  return found;
}

/// The machines to train on: whole replicas of the model. Machines that train already stay, so that
/// one that comes does not replace another.
std::vector<int> Supervisor::target() const {
  std::vector<int> found = available();
  std::size_t surplus = found.size() % static_cast<std::size_t>(terms_.machines_multiple);
  for (const bool training : {false, true}) {
    for (std::size_t i = found.size(); i-- > 0 && surplus > 0;) {
      const bool trains = attempt_ && contains(attempt_->vms, found[i]);
      if (trains != training) continue;
      found.erase(found.begin() + static_cast<std::ptrdiff_t>(i));
      --surplus;
    }
  }
  return found;
}

std::vector<int> Supervisor::stayers() const {
  std::vector<int> found;
  found.reserve(attempt_->vms.size());
  for (const int vm : attempt_->vms) {
    if (vms_.at(vm).phase == Phase::kUp && !vms_.at(vm).leaving) found.push_back(vm);
  }
  return found;
}

bool Supervisor::can_train(const std::vector<int>& vms) const {
  if (static_cast<int>(vms.size()) < terms_.machines_min) return false;
  return std::isfinite(step_time(vms).in(kSecond));
}

Seconds Supervisor::step_time(const std::vector<int>& vms) const {
  std::vector<int> slots;
  slots.reserve(vms.size());
  for (const int vm : vms) slots.push_back(vms_.at(vm).slot);
  std::sort(slots.begin(), slots.end());
  return terms_.step_time(slots);
}

Seconds Supervisor::time_left(const std::vector<int>& vms) const {
  const double slowness = speed_.ratio().value_or(1);
  return static_cast<double>(terms_.steps - reached_) * slowness * step_time(vms);
}

/// Whether no requested machine is about to be up.
bool Supervisor::settled() const {
  return std::none_of(vms_.present().begin(), vms_.present().end(), [&](int vm) {
    const RunVm& it = vms_.at(vm);
    return it.trains && it.phase == Phase::kAsked && now_ - it.asked < 2 * terms_.start_up;
  });
}

bool Supervisor::nothing_wanted() const {
  return std::none_of(training_.begin(), training_.end(), [&](int slot) {
    return slots_[static_cast<std::size_t>(slot)].wanted.has_value();
  });
}

std::vector<int> Supervisor::receivers() const {
  std::vector<int> found;
  for (int slot = 0; slot < static_cast<int>(slots_.size()); ++slot) {
    if (terms_.slots[static_cast<std::size_t>(slot)].trains) continue;
    std::optional<int> best;
    for (const int vm : vms_.present()) {
      const RunVm& it = vms_.at(vm);
      if (it.trains || it.leaving || it.slot != slot || !is_there(it)) continue;
      if (!best || it.phase == Phase::kUp) best = vm;
    }
    if (best) found.push_back(*best);
  }
  return found;
}

bool Supervisor::receivers_there() const {
  return receivers().size() + training_.size() == slots_.size();
}

void Supervisor::arrange_workers() {
  std::vector<int> wanted = target();
  const bool same = attempt_ && !new_plan_ && wanted == attempt_->vms;
  const bool enough = same || can_train(wanted);
  // The run waits by its own choice, or for spot machines as long as the deadline allows it.
  const bool may_wait = terms_.deadline && !late() && !deadline_.buys() && !attempt_;
  if (nothing_wanted() || may_wait) progressed_ = now_;
  const bool pauses = now_ < restart_after_;
  if (!attempt_) {
    if (enough && settled() && !pauses) order(std::move(wanted));
    return;
  }
  // A plain script starts again on all machines in any case, so it waits for those on their way.
  const bool waits = pauses || (plain_ && !settled());
  if (attempt_->broken) return enough && !waits ? order(std::move(wanted)) : stand_by();
  if (!attempt_->training) return;
  go_on_unless(nothing_wanted() || (enough && pays(wanted)));
  save_if_due();
  if (nothing_wanted() && !save_first({})) return stand_by();
  if (!enough) return;
  if (must_leave() || (pays(wanted) && !saves_.pending() && !save_first(wanted))) {
    order(std::move(wanted));
  }
}

/// Whether a machine that trains is lost so soon that the others should regroup without it. Before
/// that they wait for its successor, to regroup only once.
bool Supervisor::must_leave() const {
  const bool alone = std::none_of(holders_.begin(), holders_.end(),
                                  [&](int vm) { return vms_.at(vm).phase == Phase::kUp; });
  return std::any_of(attempt_->vms.begin(), attempt_->vms.end(), [&](int vm) {
    const RunVm& it = vms_.at(vm);
    if (it.phase != Phase::kNoticed) return false;
    // Where no other machine has the state, it is saved until the last moment.
    return now_ + (alone && saves_.pending() ? 0 : 2) * terms_.regroup >= *it.goes;
  });
}

/// Whether to change to these machines.
bool Supervisor::pays(const std::vector<int>& wanted) const {
  if ((wanted == attempt_->vms && !new_plan_) || !settled()) return false;
  const auto in_use = static_cast<std::size_t>(
      std::count_if(slots_.begin(), slots_.end(),
                    [](const RunSlotState& slot) { return slot.wanted.has_value(); }));
  if (new_plan_) {
    return wanted.size() == in_use - (slots_.size() - training_.size()) ||
           step_time(wanted) < speed_.predicted();
  }
  const std::vector<int> there = available();
  for (const int vm : attempt_->vms) {
    // Machines that are no longer wanted leave the group.
    if (vms_.at(vm).phase == Phase::kUp && !contains(there, vm)) return true;
  }
  if (wanted.size() < attempt_->vms.size()) return false;
  const std::vector<int> rest = stayers();
  if (!can_train(rest)) return true;
  const Seconds change = plain_ ? terms_.start_up + redone_on(wanted) : terms_.regroup;
  return time_left(rest) - time_left(wanted) > change;
}

/// The time of the steps that a plain script repeats if it restarts on these machines.
Seconds Supervisor::redone_on(const std::vector<int>& vms) const {
  const double slowness = speed_.ratio().value_or(1);
  return static_cast<double>(reached_ - saved_) * slowness * step_time(vms);
}

/// Whether a machine more in this slot is worth that a plain script starts again. One that saves is
/// started again after its next checkpoint, so nothing is done once more.
bool Supervisor::worth_a_restart(int slot) const {
  std::vector<int> slots = {slot};
  for (const int vm : stayers()) {
    if (vms_.at(vm).slot != slot) slots.push_back(vms_.at(vm).slot);
  }
  std::sort(slots.begin(), slots.end());
  const double slowness = speed_.ratio().value_or(1);
  const Seconds step = slowness * terms_.step_time(slots);
  const Seconds left = static_cast<double>(terms_.steps - reached_) * step;
  const Seconds redone = static_cast<double>(script_saves_ > 0 ? 0 : reached_ - saved_) * step;
  return time_left(stayers()) - left > terms_.start_up + redone;
}

/// Whether the state must be saved before a change to machines of which none has it.
bool Supervisor::save_first(const std::vector<int>& wanted) {
  if (plain_) return false;
  const bool kept =
      std::any_of(holders_.begin(), holders_.end(), [&](int vm) { return contains(wanted, vm); });
  if (kept || reached_ <= saved_ || (move_after_ && saved_ >= *move_after_)) return false;
  if (saves_.pending() || !receivers_there()) return true;
  if (saves_.failures() > 0 && now_ - saves_.failed_last() < terms_.tick) return true;
  move_after_ = reached_;
  ask_save(true);
  return true;
}

/// Workers that are paused for a cancelled move continue; another checkpoint tells them so.
void Supervisor::go_on_unless(bool moves) {
  if (!halted_ || moves || saves_.pending() || !receivers_there()) return;
  move_after_.reset();
  ask_save();
}

void Supervisor::order(std::vector<int> vms) {
  attempt_ = RunAttempt{.number = ++attempts_, .vms = std::move(vms), .ordered = now_};
  new_plan_ = false;
  move_after_.reset();
  halted_ = false;
  saves_.forget();
  const std::vector<int> before = holders_;
  for (const int vm : before) {
    if (!trains_on(vm) || plain_) lose_state_of(vm);
  }
  speed_.begin(step_time(attempt_->vms));
  RunAction& train = act(Act::kTrain);
  train.attempt = attempt_->number;
  train.vms = attempt_->vms;
  train.step = saved_;
}

/// Stops training; the surviving workers wait for others.
void Supervisor::stand_by() {
  attempt_.reset();
  move_after_.reset();
  halted_ = false;
  saves_.forget();
}

void Supervisor::save_if_due() {
  if (plain_) return;
  const bool worth = reached_ > saved_ || (saves_.unsettled() && reached_ > 0);
  save_soon_ = save_soon_ && worth;
  if (!worth || saves_.pending() || !receivers_there()) return;
  if (saves_.failures() > 0 && now_ - saves_.failed_last() < terms_.tick) return;
  const Seconds since = now_ - saves_.asked_last();
  const bool helps = terms_.deadline && !late() && deadline_.save_helps() &&
                     since >= terms_.tick + 2 * terms_.save_time;
  const bool last = reached_ == terms_.steps;
  const bool due = save_soon_ || last || since >= terms_.save_every || saves_.failures() > 0;
  if (due || helps || saves_.unsettled()) ask_save();
}

/// With `halt` workers wait for their next order once the checkpoint is made, so that no step of
/// theirs is lost when others continue from it.
void Supervisor::ask_save(bool halt) {
  save_soon_ = false;
  halted_ = halt;
  RunAction& save = act(Act::kSave);
  save.halt = halt;
  save.save = saves_.ask(reached_, now_);
  save.attempt = attempt_->number;
  save.step = reached_;
}

}  // namespace stint
