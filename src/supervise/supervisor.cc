#include "supervise/supervisor.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "base/check.h"
#include "base/limits.h"
#include "supervise/run_terms.h"

namespace stint {
namespace {

using Event = RunEventKind;
using Act = RunActionKind;
using Phase = RunVmPhase;

constexpr Seconds kLongestWait = 10 * kMinute;  // Between two requests for the machine of a slot.
constexpr Seconds kLongestRun = 3650 * kDay;    // A clock beyond this time is wrong.
constexpr double kPricesMoved = 0.1;            // Relative change since the plan was made.
constexpr int kFailedSavesTold = 3;
constexpr Seconds kLongestPause = 5 * kMinute;  // Between two starts of workers that fail.

std::size_t index(Market market) { return market == Market::kSpot ? 1 : 0; }

template <class Q>
void drop_unless(bool right, std::optional<Q>& field) {
  if (!right) field.reset();
}

template <class Q>
bool is_finite(Q quantity) {
  return std::isfinite(quantity.in(Q::of_base(1)));
}

}  // namespace

Supervisor::Supervisor(RunTerms terms, std::unique_ptr<DeadlinePolicy> policy) {
  terms_.steps = terms.steps;
  plain_ = terms.plain;
  change_terms(std::move(terms), std::move(policy));
  new_plan_ = false;
}

void Supervisor::change_terms(RunTerms terms, std::unique_ptr<DeadlinePolicy> policy) {
  const std::size_t before = training_.size();
  training_ = training_slots(terms);
  CHECK(!training_.empty() && terms.machines_min >= 1);
  CHECK(terms.machines_min <= static_cast<int>(training_.size()));
  CHECK(terms.machines_multiple >= 1);
  if (terms.steps <= 1) terms.steps = terms_.steps;
  if (!terms.deadline) terms.deadline = terms_.deadline;
  if (!terms.budget) terms.budget = terms_.budget;
  terms.steps = std::max({terms.steps, reached_, saved_});
  steps_max_ = std::max(steps_max_, terms.steps);
  if (policy || training_.size() != before) deadline_ = DeadlineWatch(std::move(policy));
  deadline_.change_terms();
  terms_ = std::move(terms);
  terms_.step_time = remembered(std::move(terms_.step_time));
  slots_.clear();
  for (const RunSlot& slot : terms_.slots) {
    const Market market = slot.trains ? slot.market : Market::kOnDemand;
    slots_.push_back({.wanted = market, .planned = slot.spot});
  }
  vms_.move_to(terms_.slots);
  for (const int vm : vms_.present()) {
    // Even a checkpoint that is not yet acknowledged may be in transfer there.
    if (!vms_.at(vm).trains && vms_.at(vm).leaving) saves_.unsettle();
  }
  new_plan_ = true;
  speed_.forget();
  speed_trigger_.forget();
  price_trigger_.forget();
  deadline_trigger_.forget();
}

std::vector<RunAction> Supervisor::handle(const RunEvent& told) {
  const RunEvent event = without_nonsense(told);
  now_ = std::max(now_, event.at);
  const bool trained = event.vm && trains_on(*event.vm);
  const auto before = event.vm ? vms_.at(*event.vm).phase : Phase::kGone;
  apply(event);
  // Workers of an older plan with more steps may exceed the steps of the present one.
  terms_.steps = std::max(terms_.steps, reached_);
  if (finished_) {
    check_limits();
  } else {
    decide();
  }
  if (trained && vms_.at(*event.vm).phase != before && !finished_) tell_of(*event.vm);
  return std::exchange(actions_, {});
}

// Handling of events.

/// Treats impossible fields as absent.
RunEvent Supervisor::without_nonsense(RunEvent event) const {
  if (!is_finite(event.at) || event.at > kLongestRun) event.at = now_;
  // A plain script may make more steps than planned.
  drop_unless(event.step >= 0 && event.step <= (plain_ ? kStepsMax : steps_max_), event.step);
  drop_unless(event.count >= 0, event.count);
  drop_unless(event.steps >= 1, event.steps);
  drop_unless(event.vm && vms_.knows(*event.vm), event.vm);
  drop_unless(event.duration && is_finite(*event.duration) && *event.duration >= Seconds{},
              event.duration);
  drop_unless(event.spot && is_finite(*event.spot) && *event.spot > DollarsPerSecond{}, event.spot);
  drop_unless(event.cost && is_finite(*event.cost) && *event.cost >= Dollars{}, event.cost);
  return event;
}

void Supervisor::apply(const RunEvent& event) {
  switch (event.kind) {
    case Event::kVmUp:
      if (event.vm) on_vm_up(*event.vm);
      return;
    case Event::kLaunchRefused:
      if (event.vm) on_refused(*event.vm, event.reason.value_or("no reason given"));
      return;
    case Event::kVmLost:
      if (event.vm) on_vm_lost(*event.vm);
      return;
    case Event::kNotice:
      if (event.vm) on_notice(*event.vm, event.duration.value_or(Seconds{}));
      return;
    case Event::kCapacity:
      return on_capacity(event);
    case Event::kWorkersUp:
      if (current(event)) on_workers_up(event.step);
      return;
    case Event::kStepDone:
      if (current(event) && event.step) on_step(*event.step, event);
      return;
    case Event::kSaved:
      if (event.step) on_saved(*event.step, event.save);
      return;
    case Event::kSaveFailed:
      return on_save_failed(event.save, event.reason.value_or("no reason given"));
    case Event::kWorkerLost:
      return on_worker_lost(event);
    case Event::kWorkersDone:
      if (current(event)) on_workers_done();
      return;
    case Event::kPlain:
      plain_ = plain_ || current(event);
      return;
    case Event::kTakesOrders:
      plain_ = plain_ && !current(event);
      return;
    case Event::kBilled:
      if (event.vm && event.cost) vms_.bill(*event.vm, *event.cost);
      return;
    case Event::kPrices:
      if (event.spot) on_prices(event);
      return;
    case Event::kStop:
      if (closing_) return;
      // With a code the stop does not come from the user.
      closing_ = event.code ? RunVerdict::kGaveUp : RunVerdict::kStopped;
      closing_reason_ = event.reason.value_or("a stop was requested");
      closing_since_ = now_;
      return;
    case Event::kTick:
    case Event::kTerms:
    case Event::kRemark:
      return;
    case Event::kResumed:
      on_resumed(event.step);
      return;
    case Event::kSlept:
      on_slept(event.duration.value_or(Seconds{}));
      return;
  }
}

bool Supervisor::current(const RunEvent& event) const {
  return attempt_ && event.attempt == attempt_->number;
}

void Supervisor::on_vm_up(int vm) {
  const RunVm& it = vms_.at(vm);
  if (it.phase == Phase::kAsked) {
    vms_.come(vm, now_);
    if (!it.leaving) slot_of(vm).refusals[index(it.market)] = 0;
    if (!it.trains && saved_ > 0) saves_.unsettle();
  } else if (it.phase == Phase::kGone) {
    // The launch was cancelled before the machine was up; it must not be left running at a cost.
    act(Act::kRelease).vm = vm;
  }
}

void Supervisor::on_refused(int vm, const std::string& reason) {
  const RunVm it = vms_.at(vm);
  if (it.phase != Phase::kAsked) return;
  vms_.end(vm, now_);
  if (it.leaving) return;
  int& refusals = slot_of(vm).refusals[index(it.market)];
  // The deadline makes the run request the machines that it needs as often as it may.
  const bool urgent = terms_.deadline && it.market == Market::kOnDemand && !late();
  const double wait = urgent ? 1 : std::exp2(std::min(refusals, 20));
  const Seconds again = std::min(std::max(kLongestWait, terms_.tick), wait * terms_.tick);
  slot_of(vm).not_before[index(it.market)] = now_ + again;
  if (refusals++ > 0 || finished_) return;
  say(fmt::format("{} was refused ({}); retry {} {}{}.",
                  it.market == Market::kSpot ? "A spot machine" : "An on-demand machine", reason,
                  urgent ? "every" : "in", rounded(again),
                  urgent ? ", because of the deadline" : ""));
}

void Supervisor::on_vm_lost(int vm) {
  const RunVm it = vms_.at(vm);
  if (it.phase == Phase::kAsked) return on_refused(vm, "lost before it was up");
  if (it.phase == Phase::kGone) return;
  vms_.end(vm, now_);
  lose_state_of(vm);
  if (trains_on(vm)) attempt_->broken = true;
  if (it.trains) return;
  receiver_lost_ = true;
  saves_.unsettle();
}

void Supervisor::lose_state_of(int vm) {
  holders_.erase(std::remove(holders_.begin(), holders_.end(), vm), holders_.end());
  if ((holders_.empty() || plain_) && !done_) reached_ = saved_;
}

void Supervisor::on_notice(int vm, Seconds left) {
  if (vms_.at(vm).phase != Phase::kUp) return;
  vms_.announce(vm, now_ + left);
  if (!trains_on(vm) || plain_) return;
  const Seconds steps = 2 * speed_.median().value_or(speed_.predicted());
  save_soon_ = save_soon_ || terms_.save_time + steps < left;
}

void Supervisor::on_capacity(const RunEvent& event) {
  if (!event.count || event.at < capacity_at_) return;
  // A larger capacity resets the refusals.
  for (RunSlotState& slot : slots_) {
    if (event.count > capacity_) slot.not_before[index(Market::kSpot)] = now_;
  }
  capacity_ = event.count;
  capacity_at_ = event.at;
}

void Supervisor::on_workers_up(std::optional<std::int64_t> step) {
  if (attempt_->training || attempt_->broken) return;
  attempt_->training = true;
  attempt_->last_step = now_;
  holders_ = attempt_->vms;
  if (plain_) return on_plain_up(step.value_or(0));
  reached_ = std::max(saved_, step.value_or(saved_));
  if (!receiver_lost_ || !step || *step >= saved_) return;
  say(
      fmt::format("The checkpoint of step {} was lost with the machine that held it; training "
                  "resumes after step {}.",
                  saved_, *step));
  saved_ = *step;
  reached_ = *step;
}

/// Only the script knows the step from which it continues.
void Supervisor::on_plain_up(std::int64_t step) {
  start_longest_ = std::max(start_longest_, now_ - attempt_->ordered);
  reached_ = step;
  if (step >= saved_) return;
  say(fmt::format("The script continues after step {}; it did not load its checkpoint of step {}.",
                  step, saved_));
  saved_ = step;
}

void Supervisor::on_workers_done() {
  if (plain_) {
    done_ = true;
  } else if (saved_ < terms_.steps) {
    attempt_->broken = true;
    holders_.clear();
    fail(fmt::format("the workers ended after step {} of {}", std::exchange(reached_, saved_),
                     terms_.steps));
  }
}

std::int64_t Supervisor::script_saves_every() const {
  return script_saves_ == 0 ? 0 : std::max<std::int64_t>(1, saved_ / script_saves_);
}

bool Supervisor::trained() const { return plain_ ? done_ : saved_ >= terms_.steps; }

void Supervisor::on_step(std::int64_t step, const RunEvent& event) {
  if (attempt_->broken) return;
  // Workers that report steps are up.
  if (!attempt_->training) on_workers_up(step - 1);
  if (step <= reached_) return;
  reached_ = step;
  // A plain script may have to repeat the steps that it did not save, but it continues.
  if (plain_ && step > highest_) progressed_ = now_;
  highest_ = std::max(highest_, step);
  attempt_->last_step = now_;
  attempt_->stepped = true;
  // Workers of an older plan say nothing about the speed of the present one.
  if (!event.duration || *event.duration <= Seconds{} || new_plan_) return;
  speed_.see(*event.duration, event.steps.value_or(1));
  const auto measured = speed_.median();
  if (!measured) return;
  const double ratio = *measured / speed_.predicted();
  if (!speed_trigger_.fires(ratio, terms_.faster, terms_.slower, attempt_->number)) return;
  ask_for_plan(fmt::format("steps take {:.4g} s instead of {:.4g} s", measured->in(kSecond),
                           speed_.predicted().in(kSecond)));
}

void Supervisor::on_saved(std::int64_t step, std::optional<int> save) {
  const bool further = step > saved_;
  saves_.answer(save, step, further);
  if (!further) return;
  failures_ = 0;
  script_saves_ += plain_ ? 1 : 0;
  saved_ = step;
  progressed_ = now_;
  reached_ = std::max(reached_, saved_);
}

void Supervisor::on_save_failed(std::optional<int> save, const std::string& reason) {
  if (!saves_.fail(save, reason, now_) || saves_.failures() != kFailedSavesTold) return;
  say(fmt::format("{} checkpoints in a row failed ({}); training continues and retries.",
                  kFailedSavesTold, reason));
}

void Supervisor::on_worker_lost(const RunEvent& event) {
  if (!current(event) || !event.vm || !trains_on(*event.vm) || attempt_->broken) return;
  lose_state_of(*event.vm);
  attempt_->broken = true;
  fail(fmt::format("the worker on {} exited with code {}", vm_name(*event.vm),
                   event.code.value_or(1)),
       event.reason.value_or(""));
}

/// `words` is the end of the worker's output, in one line or several.
void Supervisor::fail(std::string what, const std::string& words) {
  ++failures_;
  const bool lines = words.find('\n') != std::string::npos;
  const std::string below = lines ? "\n" + words : "";
  if (!words.empty() && !lines) what += fmt::format(" ({})", words);
  if (failures_ >= terms_.failures_max) {
    return give_up(fmt::format("workers failed {} times without newly saved progress, last: {}{}",
                               failures_, what, below));
  }
  const Seconds pause = failures_ == 1 ? Seconds{} : std::exp2(failures_ - 2) * terms_.regroup;
  restart_after_ = now_ + std::min(pause, kLongestPause);
  if (closing_) return;
  what[0] = static_cast<char>(std::toupper(what[0]));
  const std::string when = pause > Seconds{} ? " in " + rounded(restart_after_ - now_) : "";
  say(fmt::format("{}; the workers restart{}.{}", what, when, below));
}

/// A new process took over: no worker is left, and a run that was closing is open again.
void Supervisor::on_resumed(std::optional<std::int64_t> step) {
  stand_by();
  holders_.clear();
  saved_ = std::min(saved_, step.value_or(saved_));
  reached_ = saved_;
  progressed_ = now_;
  failures_ = 0;
  restart_after_ = now_;
  closing_.reset();
  closing_saves_ = 0;
  finished_ = false;
}

/// What is waited for had no chance to be heard in this time, which ends now.
void Supervisor::on_slept(Seconds time) {
  // Nothing was asked for in the future.
  const auto excuse = [&](Seconds& since) { since = std::min(now_, since + time); };
  if (attempt_) {
    excuse(attempt_->ordered);
    excuse(attempt_->last_step);
  }
  excuse(progressed_);
  excuse(closing_since_);
  saves_.excuse(time, now_);
  vms_.excuse(time, now_);
}

void Supervisor::on_prices(const RunEvent& event) {
  if (event.at < prices_at_) return;
  prices_at_ = event.at;
  vms_.change_price(event.type, *event.spot, now_);
  double furthest = 1;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    RunSlot& slot = terms_.slots[i];
    if (event.type && *event.type != slot.type) continue;
    slot.spot = *event.spot;
    const double ratio = slot.spot / slots_[i].planned;
    if (slot.trains && std::abs(ratio - 1) > std::abs(furthest - 1)) furthest = ratio;
  }
  if (closing_) return;
  if (!price_trigger_.fires(furthest, 1 - kPricesMoved, 1 + kPricesMoved, attempts_)) return;
  ask_for_plan(fmt::format("spot machines cost {:.2f} times the price of the plan", furthest));
}

// State.

bool Supervisor::trains_on(int vm) const {
  return attempt_ && std::count(attempt_->vms.begin(), attempt_->vms.end(), vm) > 0;
}

bool Supervisor::late() const { return terms_.deadline && now_ > *terms_.deadline; }

bool Supervisor::over_budget() const { return terms_.budget && cost() > *terms_.budget; }

RunAction& Supervisor::act(RunActionKind kind) {
  return actions_.emplace_back(RunAction{.kind = kind});
}

void Supervisor::say(std::string text) { act(Act::kSay).reason = std::move(text); }

/// Reports the loss of a machine that trained, once its consequence is known.
void Supervisor::tell_of(int vm) {
  std::string text = fmt::format("{} is lost", vm_name(vm));
  const bool lost = vms_.at(vm).phase == Phase::kGone;
  if (!lost) {
    const Seconds left = *vms_.at(vm).goes - now_;
    text = fmt::format("{} will be interrupted in {}", vm_name(vm), rounded(left));
  }
  bool goes_on = false;
  for (const RunAction& action : actions_) {
    if (action.kind == Act::kSave) text += fmt::format("; checkpoint after step {}", action.step);
    if (action.kind == Act::kLaunch)
      text += fmt::format("; {} is requested", market_name(action.market));
    goes_on = goes_on || action.kind == Act::kTrain;
  }
  const int count = goes_on ? static_cast<int>(attempt_->vms.size()) : 0;
  if (goes_on)
    text += fmt::format("; {} {}", counted(count), count == 1 ? "continues" : "continue");
  if (lost && !attempt_) text += "; training waits for a replacement";
  say(text + ".");
}

}  // namespace stint
