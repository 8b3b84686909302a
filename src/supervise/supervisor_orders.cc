// The supervisor's actions in its present state. Events are handled in supervisor.cc, workers in
// supervisor_workers.cc.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <utility>

#include "supervise/run_terms.h"
#include "supervise/supervisor.h"

namespace stint {
namespace {

using Act = RunActionKind;
using Phase = RunVmPhase;

constexpr double kSavePatience = 10;   // A checkpoint may take this many times its planned time.
constexpr double kLaunchPatience = 5;  // The same for the launch of a machine.
constexpr double kStepPatience = 20;   // The same for a step.
constexpr int kLastSavesMax = 10;      // Attempts to save the last step.
constexpr int kClosingSavesMax = 2;    // Attempts to save when the run is stopped.
// Predicted steps without a step after which a plain script hangs.
constexpr double kHangSteps = 10;
constexpr double kStartPatience = 3;  // A plain script may take this many times its longest start,
constexpr double kEndPatience = 6;    // and at its end this many times the hang limit.
constexpr Seconds kJoinPatience = 1 * kMinute;  // The least time that workers are given to start.
// A report of the spot capacity is out of date after this many ticks.
constexpr double kCapacityTicks = 10;

std::size_t index(Market market) { return market == Market::kSpot ? 1 : 0; }

}  // namespace

void Supervisor::decide() {
  give_up_waiting();
  check_limits();
  if (trained()) {
    closing_ = RunVerdict::kTrained;
    closing_reason_ =
        plain_
            ? fmt::format("the script exited with code 0 on all machines, after step {}", reached_)
            : fmt::format("all {} steps are trained and saved", terms_.steps);
  }
  if (closing_) return close();
  choose_markets();
  fill_slots();
  arrange_workers();
  release_unwanted();
}

void Supervisor::give_up_waiting() {
  if (saves_.waited(now_) > kSavePatience * terms_.save_time + terms_.tick) {
    on_save_failed({}, "no answer");
  }
  const Seconds launch = kLaunchPatience * terms_.start_up + 2 * terms_.tick;
  for (const int vm : vms_.present()) {
    if (vms_.at(vm).phase != Phase::kAsked || now_ - vms_.at(vm).asked <= launch) continue;
    act(Act::kRelease).vm = vm;
    on_refused(vm, fmt::format("not up within {}", rounded(launch)));
    break;  // The next event handles the next one.
  }
  if (attempt_ && !attempt_->broken) look_for_hang();
}

/// The longest time that a plain script may make no step. Before the first step of the whole run it
/// is unknown whether its steps are visible.
Seconds Supervisor::patience_with_plain() const {
  const Seconds hang = std::max(kHangSteps * speed_.predicted(), terms_.hang);
  if (!attempt_->training) {
    const Seconds start = std::max(hang, kStartPatience * start_longest_);
    return highest_ > 0 ? start : std::numeric_limits<double>::infinity() * kSecond;
  }
  return reached_ < terms_.steps ? hang : kEndPatience * hang;
}

void Supervisor::look_for_hang() {
  if (plain_) {
    const Seconds since = attempt_->training ? attempt_->last_step : attempt_->ordered;
    const Seconds limit = patience_with_plain();
    if (now_ - since <= limit) return;
    attempt_->broken = true;
    return fail("no step for " + rounded(limit));
  }
  const Seconds begin =
      std::max(kJoinPatience, 2 * (terms_.start_up + terms_.regroup) + terms_.tick);
  const Seconds step = kStepPatience * speed_.median().value_or(speed_.predicted()) + begin;
  const bool late = attempt_->training ? attempt_->stepped && reached_ < terms_.steps &&
                                             now_ - attempt_->last_step > step
                                       : now_ - attempt_->ordered > begin;
  if (!late) return;
  attempt_->broken = true;
  fail(attempt_->training ? "no step for " + rounded(step)
                          : "training did not start within " + rounded(begin));
}

// Limits.

void Supervisor::check_limits() {
  if (over_budget() && !told_over_budget_) {
    told_over_budget_ = true;
    say(fmt::format("The budget of {:.2f} USD is exceeded by {:.4f} USD.",
                    terms_.budget->in(kDollar), (cost() - *terms_.budget).in(kDollar)));
  }
  if (closing_ || finished_) return;
  if (terms_.budget) {
    // The machines needed to save and to stop must still be up.
    const Seconds steps = 2 * speed_.median().value_or(speed_.predicted());
    const Seconds end = 2 * terms_.save_time + terms_.tick + steps;
    if (cost() + vms_.rate() * end >= *terms_.budget) {
      give_up(fmt::format("the budget of {:.2f} USD is spent", terms_.budget->in(kDollar)));
    }
  }
  const std::string why = saves_.failures() > 0 ? ": " + saves_.reason() : "";
  if (now_ - progressed_ > terms_.patience) {
    give_up(fmt::format("no checkpoint for {}{}", rounded(terms_.patience), why));
  }
  if (reached_ == terms_.steps && saves_.failures() >= kLastSavesMax) {
    give_up(fmt::format("no checkpoint could be written{}", why));
  }
  if (late() && !told_late_) {
    told_late_ = true;
    say("The deadline has passed; training continues with the machines of the plan.");
  }
}

void Supervisor::give_up(std::string reason) {
  if (closing_) return;
  closing_ = RunVerdict::kGaveUp;
  closing_reason_ = std::move(reason);
  closing_since_ = now_;
}

void Supervisor::close() {
  if (saves_before_the_end()) return;
  attempt_.reset();
  const std::vector<int> present = vms_.present();
  for (const int vm : present) release(vm);
  finished_ = true;
  RunAction& end = act(Act::kFinish);
  end.outcome = *closing_;
  end.reason = closing_reason_;
}

/// Whether a state is left to be saved, and can be.
bool Supervisor::saves_before_the_end() {
  const Seconds limit = terms_.start_up + 2 * kSavePatience * terms_.save_time + 2 * terms_.tick;
  if (!attempt_ || attempt_->broken || reached_ <= saved_ || over_budget()) return false;
  if (plain_) return false;  // A plain script saves by itself.
  if (now_ - closing_since_ > limit || saves_.failures() >= kLastSavesMax) return false;
  if (!attempt_->training || saves_.pending()) return true;
  const bool done = closing_saves_ > 0 && saved_ >= saves_.from();
  if (done || closing_saves_ == kClosingSavesMax || !receivers_there()) return false;
  ++closing_saves_;
  ask_save();
  return true;
}

// Machines.

void Supervisor::choose_markets() {
  std::optional<Holding> choice;
  if (terms_.deadline && !late()) {
    const bool bought = deadline_.buys();
    choice = deadline_.choose(terms_, progress());
    if (deadline_.buys() && !bought) {
      say(fmt::format("{} left until the deadline: all machines switch to on-demand.",
                      rounded(*terms_.deadline - now_)));
    }
    check_deadline();
  }
  if (choice) return spread_over_slots(*choice);
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    slots_[i].wanted = market_of(static_cast<int>(i));
  }
}

/// The market of the plan, or the one that fills the slot until that of the plan has a machine.
Market Supervisor::market_of(int slot) const {
  const auto i = static_cast<std::size_t>(slot);
  if (!terms_.slots[i].trains || terms_.slots[i].market == Market::kOnDemand) {
    return Market::kOnDemand;
  }
  if (!terms_.fills_up || vms_.of(slot, Market::kSpot)) return Market::kSpot;
  const bool refused = now_ < slots_[i].not_before[index(Market::kSpot)];
  const bool none = capacity() && spot_present() >= *capacity();
  return refused || none ? Market::kOnDemand : Market::kSpot;
}

void Supervisor::check_deadline() {
  const Seconds overdue = deadline_.overdue();
  if (overdue <= terms_.tick) return;
  if (!told_overdue_) {
    told_overdue_ = true;
    say(fmt::format("Even with all machines on-demand, the deadline is missed by about {}.",
                    rounded(overdue)));
  }
  if (new_plan_) return;  // No worker trains by the new plan yet.
  const double ratio = 1 + overdue / *terms_.deadline;
  if (!deadline_trigger_.fires(ratio, 0, 1, attempts_)) return;
  ask_for_plan("these machines cannot meet the deadline");
}

void Supervisor::ask_for_plan(const std::string& reason) {
  if (terms_.replans) act(RunActionKind::kReplan).reason = reason;
}

RunProgress Supervisor::progress() const {
  RunProgress progress{.now = now_, .reached = reached_, .safe = saved_, .saved = saved_};
  progress.slowness = speed_.ratio();
  progress.slowness_max = speed_.ratio_max();
  progress.moving = attempt_ && !attempt_->training && !attempt_->broken;
  for (const int vm : plain_ ? std::vector<int>{} : holders_) {
    const RunVm& it = vms_.at(vm);
    const bool stays = it.phase == Phase::kUp && it.market == Market::kOnDemand;
    if (stays && !it.leaving) progress.safe = reached_;
  }
  std::vector<bool> trains(vms_.all().size());
  if (attempt_ && attempt_->training) {
    for (const int vm : attempt_->vms) trains[static_cast<std::size_t>(vm)] = true;
  }
  int askable = 0;
  for (const int slot : training_) {
    for (const Market market : {Market::kOnDemand, Market::kSpot}) {
      const auto vm = vms_.of(slot, market);
      const auto& state = slots_[static_cast<std::size_t>(slot)];
      if (!vm) {
        askable += market == Market::kSpot && now_ >= state.not_before[index(market)] ? 1 : 0;
        continue;
      }
      const Seconds since = vms_.at(*vm).asked;
      const Seconds left = std::max(terms_.start_up - (now_ - since), Seconds{}) + terms_.regroup;
      auto& held = market == Market::kSpot ? progress.spot : progress.on_demand;
      held.push_back(trains[static_cast<std::size_t>(*vm)] ? Seconds{} : left);
    }
  }
  const int held = static_cast<int>(progress.spot.size());
  progress.spot_available = held + askable;
  if (const auto known = capacity()) {
    progress.spot_available = std::min(progress.spot_available, std::max(held, *known));
  }
  return progress;
}

std::optional<int> Supervisor::capacity() const {
  return now_ - capacity_at_ > kCapacityTicks * terms_.tick ? std::nullopt : capacity_;
}

void Supervisor::spread_over_slots(Holding choice) {
  const std::vector<int>& slots = training_;
  for (const int slot : slots) slots_[static_cast<std::size_t>(slot)].wanted.reset();
  // With fewer machines training cannot continue, so that none are paid for.
  if (choice.spot + choice.on_demand < terms_.machines_min) return;
  const auto take = [&](int slot, Market market) {
    int& left = market == Market::kSpot ? choice.spot : choice.on_demand;
    auto& wanted = slots_[static_cast<std::size_t>(slot)].wanted;
    if (wanted || left == 0) return;
    wanted = market;
    --left;
  };
  // Machines that are up stay; then the market of the plan is filled; then any other market.
  for (const Market market : {Market::kOnDemand, Market::kSpot}) {
    for (const int slot : slots) {
      if (vms_.of(slot, market)) take(slot, market);
    }
  }
  for (const int slot : slots) take(slot, terms_.slots[static_cast<std::size_t>(slot)].market);
  for (const Market market : {Market::kSpot, Market::kOnDemand}) {
    for (const int slot : slots) take(slot, market);
  }
}

void Supervisor::fill_slots() {
  for (const bool trains : {false, true}) {
    for (int slot = 0; slot < static_cast<int>(slots_.size()); ++slot) {
      const auto i = static_cast<std::size_t>(slot);
      const auto wanted = slots_[i].wanted;
      if (terms_.slots[i].trains != trains || !wanted || !may_ask(slot, *wanted)) continue;
      RunAction& launch = act(Act::kLaunch);
      launch.vm = vms_.ask(terms_.slots[i], slot, *wanted, now_);
      launch.slot = slot;
      launch.market = *wanted;
    }
  }
}

bool Supervisor::may_ask(int slot, Market market) const {
  const auto i = static_cast<std::size_t>(slot);
  if (vms_.of(slot, market) || now_ < slots_[i].not_before[index(market)]) return false;
  if (!terms_.slots[i].trains) return true;
  if (market == Market::kSpot && capacity() && spot_present() >= *capacity()) return false;
  // A machine that would be up only after the end is not requested.
  const bool trains = attempt_ && attempt_->training && !attempt_->broken && !terms_.deadline;
  if (trains && plain_ && can_train(stayers()) && !worth_a_restart(slot)) return false;
  return !(trains && can_train(stayers()) &&
           time_left(stayers()) <= terms_.start_up + terms_.regroup);
}

int Supervisor::spot_present() const {
  int count = 0;
  for (const int vm : vms_.present()) count += vms_.at(vm).market == Market::kSpot ? 1 : 0;
  return count;
}

/// Releases machines without a use. Those that trained until now stay until the others train.
void Supervisor::release_unwanted() {
  const bool on_its_way = attempt_ && !attempt_->training;
  std::vector<int> unwanted;
  for (const int vm : vms_.present()) {
    const RunVm& it = vms_.at(vm);
    if (is_wanted(vm) || trains_on(vm)) continue;
    if (it.trains && it.phase != Phase::kAsked && on_its_way) continue;
    unwanted.push_back(vm);
  }
  for (const int vm : unwanted) release(vm);
}

bool Supervisor::is_wanted(int vm) const {
  const RunVm& it = vms_.at(vm);
  // Receivers of checkpoints stay until the checkpoint is stored elsewhere as well.
  if (!it.trains && it.leaving) return is_there(it) && saves_.unsettled();
  if (it.leaving) return false;
  const auto& wanted = slots_[static_cast<std::size_t>(it.slot)].wanted;
  if (!it.trains) return true;
  if (it.phase == Phase::kNoticed) return false;
  if (!wanted) return false;
  const bool idle = plain_ && attempt_ && attempt_->training && !attempt_->broken;
  if (idle && !terms_.deadline && it.phase == Phase::kUp && can_train(stayers()) &&
      !worth_a_restart(it.slot)) {
    return false;
  }
  if (wanted == it.market) return vms_.of(it.slot, it.market) == vm;
  // It replaces a machine of the other market that is not up yet.
  const auto successor = vms_.of(it.slot, *wanted);
  return it.phase == Phase::kUp && !(successor && vms_.at(*successor).phase == Phase::kUp);
}

void Supervisor::release(int vm) {
  if (vms_.at(vm).phase == Phase::kGone) return;
  vms_.end(vm, now_);
  lose_state_of(vm);
  act(Act::kRelease).vm = vm;
}

}  // namespace stint
