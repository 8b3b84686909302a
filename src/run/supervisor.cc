#include "run/supervisor.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "base/check.h"
#include "base/unit_text.h"

namespace stint {
namespace {

using Event = RunEventKind;
using Act = RunActionKind;
using Phase = RunVmPhase;

constexpr Seconds kAskAgain = 1 * kMinute;  // After which an order that had no effect is repeated.
constexpr Seconds kLongestWait = 10 * kMinute;  // Between two requests for a machine of a slot.
constexpr std::size_t kSteps = 9;               // That tell the present speed.
constexpr double kSavePatience = 10;            // A save may take this many times what it should.

DollarsPerSecond price_of(const RunSlot& slot, Market market) {
  return market == Market::kSpot ? slot.spot : slot.on_demand;
}

Seconds median(std::vector<Seconds> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

bool costs(Phase phase) { return phase == Phase::kUp || phase == Phase::kNoticed; }

}  // namespace

Supervisor::Supervisor(RunTerms terms, std::unique_ptr<DeadlinePolicy> policy)
    : terms_(std::move(terms)), policy_(std::move(policy)) {
  const std::size_t slots = terms_.slots.size();
  CHECK(slots > 0 && terms_.machines_min >= 1);
  CHECK(terms_.machines_min <= static_cast<int>(slots));
  for (const RunSlot& slot : terms_.slots) wanted_.emplace_back(slot.market);
  not_before_.resize(slots);
  refusals_.resize(slots);
}

void Supervisor::change_terms(RunTerms terms) { terms_ = std::move(terms); }

std::vector<RunAction> Supervisor::handle(const RunEvent& event) {
  now_ = std::max(now_, event.at);
  apply(event);
  if (!finished_) decide();
  return std::exchange(actions_, {});
}

// What happened.

void Supervisor::apply(const RunEvent& event) {
  switch (event.kind) {
    case Event::kVmUp:
      return on_vm_up(event.vm.value_or(-1));
    case Event::kLaunchRefused:
    case Event::kVmLost:
      return on_gone(event);
    case Event::kNotice:
      if (RunVm* vm = known(event); vm != nullptr && vm->phase == Phase::kUp) {
        vm->phase = Phase::kNoticed;
        vm->goes = now_ + event.duration.value_or(Seconds{});
        save_soon_ = trains_on(*event.vm) && event.duration >= terms_.save_time;
      }
      return;
    case Event::kCapacity:
      capacity_ = event.count;
      return;
    case Event::kWorkersUp:
      return on_workers_up(event);
    case Event::kStepDone:
      return on_step(event);
    case Event::kSaved:
      return on_saved(event.step.value_or(0));
    case Event::kSaveFailed:
      if (!saving_) return;
      saving_.reset();
      return say(fmt::format("A checkpoint could not be saved: {}.",
                             event.reason.value_or("no reason was given")));
    case Event::kWorkerLost:
      return on_worker_lost(event);
    case Event::kPrices:
      if (event.spot) on_prices(*event.spot);
      return;
    case Event::kStop:
      if (closing_) return;
      closing_ = RunOutcome::kStopped;
      closing_reason_ = "it was told to stop";
      return;
    case Event::kWorkersDone:
      if (current(event)) on_saved(terms_.steps);
      return;
    case Event::kTick:
    case Event::kTerms:
    case Event::kBilled:
    case Event::kRemark:
      return;
    case Event::kResumed:
      attempt_.reset();
      return;
  }
}

RunVm* Supervisor::known(const RunEvent& event) {
  const int vm = event.vm.value_or(-1);
  if (vm < 0 || vm >= static_cast<int>(vms_.size())) return nullptr;
  return &vms_[static_cast<std::size_t>(vm)];
}

bool Supervisor::current(const RunEvent& event) const {
  return attempt_ && event.attempt == attempt_->number;
}

void Supervisor::on_vm_up(int vm) {
  RunVm* it = known({.vm = vm});
  if (it != nullptr && it->phase == Phase::kAsked) {
    it->phase = Phase::kUp;
    it->since = now_;
    refusals_[static_cast<std::size_t>(it->slot)] = 0;
  } else if (it == nullptr || it->phase == Phase::kGone) {
    // It was given up before it came; nobody may be left paying for it.
    act(Act::kRelease).vm = vm;
  }
}

void Supervisor::on_gone(const RunEvent& event) {
  RunVm* vm = known(event);
  if (vm == nullptr || vm->phase == Phase::kGone) return;
  const bool refused = vm->phase == Phase::kAsked;
  end_vm(*event.vm);
  if (!refused) return;
  const auto slot = static_cast<std::size_t>(vm->slot);
  const int doublings = std::min(refusals_[slot]++, 20);
  not_before_[slot] = now_ + std::min(kLongestWait, std::exp2(doublings) * terms_.tick);
}

void Supervisor::on_workers_up(const RunEvent& event) {
  if (!current(event) || attempt_->training) return;
  attempt_->training = true;
  const std::int64_t from = std::clamp<std::int64_t>(event.step.value_or(0), 0, terms_.steps);
  // Workers never begin before what is safe; what they carried over counts, what was lost does not.
  reached_ = std::max(saved_, from);
  saving_.reset();
}

void Supervisor::on_step(const RunEvent& event) {
  if (!current(event) || !attempt_->training || !event.step) return;
  if (*event.step <= reached_ || *event.step > terms_.steps) return;
  reached_ = *event.step;
  failures_ = 0;
  if (!event.duration) return;
  attempt_->recent.push_back(*event.duration);
  if (attempt_->recent.size() > kSteps) attempt_->recent.erase(attempt_->recent.begin());
  look_at_speed();
}

void Supervisor::look_at_speed() {
  if (attempt_->recent.size() < kSteps || attempt_->drifted) return;
  const Seconds measured = median(attempt_->recent);
  const Seconds expected = time_left(attempt_->vms) / static_cast<double>(terms_.steps - reached_);
  const double ratio = measured / expected;
  if (ratio <= terms_.slower && ratio >= terms_.faster) return;
  attempt_->drifted = true;
  act(Act::kReplan).reason =
      fmt::format("steps take {} instead of {}", to_text(measured), to_text(expected));
}

void Supervisor::on_saved(std::int64_t step) {
  step = std::min(step, terms_.steps);
  if (saving_ && step >= save_from_) saving_.reset();
  if (step <= saved_) return;
  saved_ = step;
  progressed_ = now_;
  reached_ = std::max(reached_, saved_);
}

void Supervisor::on_worker_lost(const RunEvent& event) {
  const RunVm* vm = known(event);
  if (!current(event) || vm == nullptr || !trains_on(*event.vm)) return;
  ++failures_;
  if (failures_ >= terms_.failures_max) {
    return give_up(
        fmt::format("workers ended {} times in a row without a step, last with exit {}{}",
                    failures_, event.code.value_or(1), event.reason ? ": " + *event.reason : ""));
  }
  // The others wait to be told; the same machines train again.
  if (vm->phase != Phase::kGone) attempt_.reset();
}

void Supervisor::on_prices(DollarsPerSecond spot) {
  for (RunSlot& slot : terms_.slots) slot.spot = spot;
  for (RunVm& vm : vms_) {
    if (vm.market != Market::kSpot || vm.phase == Phase::kGone) continue;
    if (costs(vm.phase)) vm.charged += vm.price * (now_ - vm.since);
    vm.since = now_;
    vm.price = spot;
  }
  act(Act::kReplan).reason = "the spot price moved";
}

// What is to be done.

void Supervisor::decide() {
  check_limits();
  if (saving_ && now_ - *saving_ > kSavePatience * terms_.save_time + kAskAgain) saving_.reset();
  if (saved_ == terms_.steps && !closing_) {
    closing_ = RunOutcome::kTrained;
    closing_reason_ = "all steps are trained and saved";
  }
  if (closing_) return close();
  choose_markets();
  fill_slots();
  arrange_workers();
}

void Supervisor::check_limits() {
  if (late() && !told_late_) {
    told_late_ = true;
    say("The deadline has passed; training goes on with the machines of the plan.");
  }
  if (terms_.budget && !closing_) {
    DollarsPerSecond rate;
    for (const RunVm& vm : vms_) {
      if (costs(vm.phase)) rate += vm.price;
    }
    // What is needed to save and to stop must still be there.
    const Dollars reserve = rate * (terms_.save_time + terms_.tick);
    if (cost() + reserve >= *terms_.budget) give_up("the budget is spent");
  }
  if (over_budget() && !told_over_budget_) {
    told_over_budget_ = true;
    say(fmt::format("The budget is exceeded by {:.2f} USD.",
                    (cost() - *terms_.budget).in(kDollar)));
  }
  if (!closing_ && now_ - progressed_ > terms_.patience) {
    give_up(fmt::format("nothing was saved for {}", to_text(terms_.patience)));
  }
}

void Supervisor::give_up(std::string reason) {
  if (closing_) return;
  closing_ = RunOutcome::kGaveUp;
  closing_reason_ = std::move(reason);
}

void Supervisor::close() {
  const bool worth = attempt_ && attempt_->training && reached_ > saved_ && !over_budget();
  if (worth && save_from_ < reached_ && !saving_) ask_save();
  if (worth && saving_) return;
  attempt_.reset();
  for (int vm = 0; vm < static_cast<int>(vms_.size()); ++vm) release(vm);
  finished_ = true;
  RunAction& end = act(Act::kFinish);
  end.outcome = *closing_;
  end.reason = closing_reason_;
}

// Machines.

void Supervisor::choose_markets() {
  if (policy_ && terms_.deadline && !late()) {
    const int tick = static_cast<int>(std::floor(now_ / terms_.tick));
    if (tick > tick_) ask_policy(tick);
    return;
  }
  for (std::size_t i = 0; i < terms_.slots.size(); ++i) wanted_[i] = terms_.slots[i].market;
}

void Supervisor::ask_policy(int tick) {
  const int machines = static_cast<int>(terms_.slots.size());
  if (tick_ < 0) {
    std::vector<int> all;
    for (int slot = 0; slot < machines; ++slot) all.push_back(slot);
    const Seconds work = static_cast<double>(terms_.steps) * terms_.step_time(all);
    game_ = {.work = std::max(1, static_cast<int>(std::ceil(work / terms_.tick))),
             .deadline = static_cast<int>(std::floor(*terms_.deadline / terms_.tick)),
             .changeover = static_cast<int>(std::ceil(terms_.start_up / terms_.tick)),
             .machines = machines,
             .price_ratio = terms_.slots[0].on_demand / terms_.slots[0].spot};
    policy_->begin(game_, {});
  }
  for (int passed = std::max(0, tick_); passed < tick; ++passed) {
    spot_fleet_.pass();
    on_demand_fleet_.pass();
  }
  tick_ = tick;
  int on_demand = 0;
  int spot = 0;
  for (const RunVm& vm : vms_) {
    if (vm.phase != Phase::kAsked && vm.phase != Phase::kUp) continue;
    ++(vm.market == Market::kSpot ? spot : on_demand);
  }
  spot_fleet_.hold(std::min(spot, machines), game_.changeover);
  on_demand_fleet_.hold(std::min(on_demand, machines), game_.changeover);
  const double left = 1 - static_cast<double>(reached_) / static_cast<double>(terms_.steps);
  const GameState state{.tick = tick,
                        .parts_left = static_cast<int>(std::ceil(left * game_.parts())),
                        .available = std::clamp(capacity_.value_or(machines), 0, machines),
                        .spot = spot_fleet_,
                        .on_demand = on_demand_fleet_};
  const Holding choice = policy_->choose(state);
  const Holding all_on_demand{.spot = 0, .on_demand = machines};
  spread_over_slots(is_safe(game_, state, choice) ? choice : all_on_demand);
}

void Supervisor::spread_over_slots(Holding choice) {
  std::fill(wanted_.begin(), wanted_.end(), std::nullopt);
  const auto take = [&](int slot, Market market) {
    int& left = market == Market::kSpot ? choice.spot : choice.on_demand;
    auto& wanted = wanted_[static_cast<std::size_t>(slot)];
    if (wanted || left == 0) return;
    wanted = market;
    --left;
  };
  const int slots = static_cast<int>(terms_.slots.size());
  // Machines that are there stay; then what the plan wants; then whatever is left to hold.
  for (const Market market : {Market::kOnDemand, Market::kSpot}) {
    for (int slot = 0; slot < slots; ++slot) {
      if (has(slot, market)) take(slot, market);
    }
  }
  for (int slot = 0; slot < slots; ++slot) {
    take(slot, terms_.slots[static_cast<std::size_t>(slot)].market);
  }
  for (const Market market : {Market::kSpot, Market::kOnDemand}) {
    for (int slot = 0; slot < slots; ++slot) take(slot, market);
  }
}

bool Supervisor::has(int slot, Market market) const {
  return std::any_of(vms_.begin(), vms_.end(), [&](const RunVm& vm) {
    const bool held = vm.phase == Phase::kAsked || vm.phase == Phase::kUp;
    return held && vm.slot == slot && vm.market == market;
  });
}

int Supervisor::spot_held() const {
  return static_cast<int>(std::count_if(vms_.begin(), vms_.end(), [](const RunVm& vm) {
    return vm.market == Market::kSpot && vm.phase != Phase::kGone;
  }));
}

void Supervisor::fill_slots() {
  for (int slot = 0; slot < static_cast<int>(terms_.slots.size()); ++slot) {
    const auto i = static_cast<std::size_t>(slot);
    if (!wanted_[i] || has(slot, *wanted_[i]) || now_ < not_before_[i]) continue;
    if (wanted_[i] == Market::kSpot && capacity_ && spot_held() >= *capacity_) continue;
    RunAction& launch = act(Act::kLaunch);
    launch.vm = static_cast<int>(vms_.size());
    launch.slot = slot;
    launch.market = *wanted_[i];
    vms_.push_back({.slot = slot,
                    .market = *wanted_[i],
                    .phase = Phase::kAsked,
                    .price = price_of(terms_.slots[i], *wanted_[i]),
                    .asked = now_,
                    .since = now_,
                    .charged = {}});
  }
  // What is of a market that is not wanted any more goes when nobody trains on it.
  for (int vm = 0; vm < static_cast<int>(vms_.size()); ++vm) {
    const bool held = at(vm).phase == Phase::kAsked || at(vm).phase == Phase::kUp;
    const auto& wanted = wanted_[static_cast<std::size_t>(at(vm).slot)];
    if (held && wanted != at(vm).market && !trains_on(vm)) release(vm);
  }
}

bool Supervisor::trains_on(int vm) const {
  return attempt_ && std::count(attempt_->vms.begin(), attempt_->vms.end(), vm) > 0;
}

void Supervisor::end_vm(int vm) {
  RunVm& it = vms_[static_cast<std::size_t>(vm)];
  if (costs(it.phase)) it.charged += it.price * (now_ - it.since);
  it.phase = Phase::kGone;
}

void Supervisor::release(int vm) {
  if (at(vm).phase == Phase::kGone) return;
  end_vm(vm);
  act(Act::kRelease).vm = vm;
}

// Workers.

/// The machines to train on: for each slot the one of the wanted market, until it is there the one
/// that trains.
std::vector<int> Supervisor::target() const {
  std::vector<int> found;
  for (int slot = 0; slot < static_cast<int>(terms_.slots.size()); ++slot) {
    const auto& wanted = wanted_[static_cast<std::size_t>(slot)];
    std::optional<int> best;
    for (int vm = 0; vm < static_cast<int>(vms_.size()); ++vm) {
      if (at(vm).slot != slot || at(vm).phase != Phase::kUp || !wanted) continue;
      if (!best || at(vm).market == *wanted) best = vm;
    }
    if (best) found.push_back(*best);
  }
  return found;
}

Seconds Supervisor::time_left(const std::vector<int>& vms) const {
  std::vector<int> slots;
  for (const int vm : vms) slots.push_back(at(vm).slot);
  return static_cast<double>(terms_.steps - reached_) * terms_.step_time(slots);
}

void Supervisor::arrange_workers() {
  std::vector<int> wanted = target();
  const bool enough = static_cast<int>(wanted.size()) >= terms_.machines_min;
  if (!attempt_) {
    for (const RunVm& vm : vms_) {
      // A machine that is about to come is waited for, unless it takes too long.
      if (vm.phase == Phase::kAsked && now_ - vm.asked < 2 * terms_.start_up) return;
    }
    if (enough) order(std::move(wanted));
    return;
  }
  bool lost = false;
  bool swapped = false;
  for (const int vm : attempt_->vms) {
    lost = lost || at(vm).phase == Phase::kGone;
    swapped = swapped ||
              (at(vm).phase == Phase::kUp && std::count(wanted.begin(), wanted.end(), vm) == 0);
  }
  if (lost && !enough) return attempt_.reset();  // The survivors wait for others.
  if (lost) return order(std::move(wanted));
  if (attempt_->training) save_if_due();
  if (!enough) return;
  const bool stuck = !attempt_->training && now_ - attempt_->ordered > terms_.start_up + kAskAgain;
  if (stuck || must_leave()) return order(std::move(wanted));
  if (!attempt_->training || saving_) return;
  const bool replaced = wanted != attempt_->vms && wanted.size() == attempt_->vms.size();
  const bool grows = wanted.size() > attempt_->vms.size() &&
                     time_left(attempt_->vms) - time_left(wanted) > terms_.regroup;
  if (swapped || replaced || grows) order(std::move(wanted));
}

/// A machine that trains goes so soon that the others had better regroup without it. Before that
/// they wait for its successor, to regroup but once.
bool Supervisor::must_leave() const {
  return std::any_of(attempt_->vms.begin(), attempt_->vms.end(), [&](int vm) {
    return at(vm).phase == Phase::kNoticed && now_ + 2 * terms_.regroup >= *at(vm).goes;
  });
}

void Supervisor::order(std::vector<int> vms) {
  attempt_ = RunAttempt{.number = ++attempts_, .vms = std::move(vms), .ordered = now_};
  saving_.reset();
  save_asked_ = now_;
  RunAction& train = act(Act::kTrain);
  train.attempt = attempt_->number;
  train.vms = attempt_->vms;
  train.step = saved_;
}

void Supervisor::save_if_due() {
  const bool last = reached_ == terms_.steps;
  const bool due = save_soon_ || last || now_ - save_asked_ >= terms_.save_every;
  const bool again = save_from_ < reached_ || now_ - save_asked_ >= kAskAgain;
  if (due && again && !saving_ && reached_ > saved_) ask_save();
}

void Supervisor::ask_save() {
  saving_ = now_;
  save_asked_ = now_;
  save_from_ = reached_;
  save_soon_ = false;
  RunAction& save = act(Act::kSave);
  save.attempt = attempt_->number;
  save.step = reached_;
}

// What is known.

bool Supervisor::late() const { return terms_.deadline && now_ > *terms_.deadline; }

bool Supervisor::over_budget() const { return terms_.budget && cost() > *terms_.budget; }

Dollars Supervisor::cost() const {
  Dollars sum;
  for (const RunVm& vm : vms_) {
    sum += vm.charged;
    if (costs(vm.phase)) sum += vm.price * (now_ - vm.since);
  }
  return sum;
}

RunAction& Supervisor::act(RunActionKind kind) {
  return actions_.emplace_back(RunAction{.kind = kind});
}

void Supervisor::say(std::string text) { act(Act::kSay).reason = std::move(text); }

}  // namespace stint
