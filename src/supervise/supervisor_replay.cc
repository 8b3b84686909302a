// The supervisor's return to a state that was recorded: by a snapshot, or event by event.
#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "supervise/supervisor.h"

namespace stint {
namespace {

using Act = RunActionKind;

// Machines whose numbers a record may leave out at once; more would be a damaged one.
constexpr int kNumbersSkipped = 100'000;

bool all_known(const std::vector<int>& vms, int count) {
  return std::all_of(vms.begin(), vms.end(), [&](int vm) { return vm >= 0 && vm < count; });
}

}  // namespace

std::string problem(const SupervisorSnapshot& it) {
  const SupervisorState& state = it.state;
  if (!all_known(state.holders_, it.vms.count)) return "a machine that never was has the state";
  if (state.attempt_ && state.attempt_->vms.empty()) return "an attempt has no machines";
  if (state.attempt_ && !all_known(state.attempt_->vms, it.vms.count)) {
    return "a machine that never was trains";
  }
  if (state.reached_ < 0 || state.saved_ < 0) return "a step is negative";
  if (state.reached_ > it.steps) return "more steps are reached than there are";
  const auto slots = static_cast<int>(state.slots_.size());
  for (const KeptVm& kept : it.vms.vms) {
    const bool gone = kept.vm.phase == RunVmPhase::kGone;
    if (!gone && !kept.vm.leaving && kept.vm.slot >= slots) return "a machine has no slot";
  }
  return "";
}

SupervisorSnapshot Supervisor::snapshot() const {
  SupervisorSnapshot snapshot{.state = state(),
                              .vms = vms_.kept(),
                              .spot = {},
                              .steps = terms_.steps,
                              .deadline = terms_.deadline,
                              .budget = terms_.budget,
                              .watch = deadline_.memory()};
  snapshot.state.vms_ = {};
  for (const RunSlot& slot : terms_.slots) snapshot.spot.push_back(slot.spot);
  return snapshot;
}

Status Supervisor::restore(SupervisorSnapshot snapshot) {
  const std::size_t slots = terms_.slots.size();
  if (snapshot.state.slots_.size() != slots || snapshot.spot.size() != slots) {
    return bad_input(fmt::format("the snapshot has {} slots instead of the plan's {}",
                                 snapshot.state.slots_.size(), slots));
  }
  return_to(std::move(snapshot.state));
  vms_ = RunVms::from(snapshot.vms);
  for (std::size_t i = 0; i < slots; ++i) terms_.slots[i].spot = snapshot.spot[i];
  terms_.steps = snapshot.steps;
  terms_.deadline = snapshot.deadline;
  terms_.budget = snapshot.budget;
  deadline_.remember(snapshot.watch);
  return {};
}

Status Supervisor::follow(const RunEvent& told, const std::vector<RunAction>& done) {
  const RunEvent event = without_nonsense(told);
  now_ = std::max(now_, event.at);
  apply(event);
  terms_.steps = std::max(terms_.steps, reached_);
  // Workers of a broken attempt wait for an order, unless it is among the actions.
  if (attempt_ && attempt_->broken) stand_by();
  for (const RunAction& action : done) {
    const Status possible = check_done(action);
    if (!possible.ok()) return possible;
    repeat(action);
  }
  actions_.clear();
  return {};
}

Status Supervisor::check_done(const RunAction& action) const {
  const auto vms = static_cast<int>(vms_.all().size());
  const auto slots = static_cast<int>(slots_.size());
  const auto wrong = [&](const char* what) {
    return bad_input(fmt::format("the action '{}' {}", name_of(action.kind), what));
  };
  if (action.kind == Act::kLaunch) {
    if (action.slot < 0 || action.slot >= slots) return wrong("names no slot of the plan");
    if (action.vm < 0 || action.vm > vms + kNumbersSkipped) return wrong("names no machine");
  }
  if (action.kind == Act::kRelease && !vms_.knows(action.vm)) return wrong("names no machine");
  if (action.kind == Act::kTrain) {
    if (action.vms.empty() || !all_known(action.vms, vms)) return wrong("names no machines");
    for (const int vm : action.vms) {
      if (vms_.at(vm).slot >= slots) return wrong("names a machine without a slot");
    }
  }
  if (action.step < 0) return wrong("names no step");
  return {};
}

void Supervisor::repeat(const RunAction& action) {
  switch (action.kind) {
    case Act::kLaunch:
      return vms_.ask_as(action.vm, terms_.slots[static_cast<std::size_t>(action.slot)],
                         action.slot, action.market, now_);
    case Act::kRelease:
      return release(action.vm);
    case Act::kTrain:
      attempts_ = action.attempt - 1;
      saved_ = std::min(action.step, terms_.steps);
      return order(action.vms);
    case Act::kSave:
      return repeat_save(action);
    case Act::kFinish:
      attempt_.reset();
      closing_ = action.outcome;
      closing_reason_ = action.reason;
      finished_ = true;
      return;
    case Act::kReplan:
    case Act::kSay:
      return;
  }
}

void Supervisor::repeat_save(const RunAction& action) {
  if (!attempt_) return;
  saves_.count_from(action.save);
  ask_save(action.halt);
  move_after_ = action.halt ? std::optional(reached_) : std::nullopt;
}

}  // namespace stint
