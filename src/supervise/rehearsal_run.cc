#include "supervise/rehearsal_run.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "base/random.h"
#include "supervise/supervisor.h"

namespace stint {
namespace {

using Event = RunEventKind;
using Act = RunActionKind;

// Reported one by one, so that the speed is measured; then in batches.
constexpr int kStepsTold = 10;
// Twenty for each loss of a run with 10,000; beyond, machines are lost before they train.
constexpr int kHappeningsMax = 200'000;
// A plain script that is lost before its end again and again is given up after this many times the
// duration of undisturbed training.
constexpr double kPlainTimesMax = 20;

/// Random streams, beside those of RehearsalMarket.
enum RehearsalStream : std::uint64_t { kSpeedStream = 0, kStepsStream = 2 };

struct Machine {
  int vm = 0;
  int slot = 0;
  bool trains = true;
  bool spot = false;
  DollarsPerSecond price;
  Seconds up = kNever;       // Time of readiness; in the past: the machine is up.
  Seconds noticed = kNever;  // Time of the interruption notice.
  Seconds taken = kNever;
  bool is_up = false;
  bool doomed = false;   // Its loss was decided together with others',
  bool warned = false;   // and announced.
  bool trained = false;  // The machine trained at some time.
  bool has_state = false;
};

/// Steps that were done together, up to the next of these or to the present step.
struct PaidSteps {
  std::int64_t from = 0;  // The step before them.
  Dollars each;
};

class Rehearsal {
 public:
  Rehearsal(const RunTerms& terms, const RehearsalWorld& world, const RunSoFar& so_far,
            std::uint64_t seed, std::unique_ptr<DeadlinePolicy> policy)
      : terms_(terms),
        world_(world),
        held_(so_far.machines),
        saves_every_(so_far.saves_every),
        steps_(Random(seed).fork(kStepsStream)),
        starts_(steps_.fork(0)),
        market_(world, so_far.now, terms.slots.size(), Random(seed)) {
    step_ = so_far.unsaved;
    slowness_ =
        world.slowness * Random(seed).fork(kSpeedStream).lognormal(1, world.slowness_deviation);
    supervisor_ = std::make_unique<Supervisor>(terms, std::move(policy));
    for (const RunSlot& slot : terms.slots) spot_.push_back(slot.spot);
  }

  RehearsedRun play() {
    tell(market_.capacity_known() ? RunEvent{.kind = Event::kCapacity, .count = market_.capacity()}
                                  : RunEvent{});
    next_tick_ = terms_.tick;
    const Seconds until = longest();
    for (int count = 0; !supervisor_->finished() && now_ < until; ++count) {
      result_.cut_short = count == kHappeningsMax;
      if (result_.cut_short) break;
      plan_batch();
      const Seconds next = next_happening(true);
      pay_until(next);
      happen();
      ++result_.happenings;
    }
    result_.time = now_ + world_.shutdown;
    result_.cost = supervisor_->cost() + rate_ * world_.shutdown;
    result_.parts.standing += rate_ * world_.shutdown;
    return result_;
  }

 private:
  /// The time after which a rehearsal counts as given up.
  Seconds longest() const {
    if (!terms_.plain) return kNever;
    const Seconds work =
        static_cast<double>(terms_.steps) * terms_.step_time(training_slots(terms_)) * slowness_;
    return kPlainTimesMax * (work + world_.launch + world_.join);
  }

  Seconds next_happening(bool with_steps) const {
    Seconds next = std::min(
        {next_tick_, gathers_, joins_, saves_, market_.next_change(), market_.next_price()});
    if (with_steps) next = std::min(next, batch_ends_);
    for (const Machine& machine : machines_) {
      if (!machine.is_up) next = std::min(next, machine.up);
      next = std::min({next, machine.noticed, machine.taken});
    }
    return std::max(next, now_);
  }

  /// Adds the cost until that time to the parts of the bill.
  void pay_until(Seconds time) {
    const Seconds span = time - now_;
    now_ = time;
    for (const Machine& machine : machines_) {
      if (!machine.is_up) continue;
      const Dollars cost = machine.price * span;
      if (!machine.trains) {
        result_.parts.keeping += cost;
      } else if (batch_ends_ != kNever && in_gang(machine.vm)) {
        unbooked_ += cost;
      } else {
        (machine.trained ? result_.parts.standing : result_.parts.starting) += cost;
      }
    }
  }

  void happen() {
    if (now_ >= market_.next_price()) return change_price();
    if (now_ >= market_.next_change()) return change_capacity();
    for (std::size_t i = 0; i < machines_.size(); ++i) {
      Machine& machine = machines_[i];
      if (now_ >= machine.taken) {
        strike(machine);
        return lose(machine.vm);
      }
      if (now_ >= machine.noticed) {
        strike(machine);
        machine.noticed = kNever;
        machine.warned = true;
        ++result_.losses;
        return tell({.kind = Event::kNotice, .vm = machine.vm, .duration = machine.taken - now_});
      }
      if (!machine.is_up && now_ >= machine.up) return come(machine);
    }
    if (now_ >= gathers_) return gather();
    if (now_ >= joins_) return join();
    if (now_ >= batch_ends_) return finish_batch();
    if (now_ >= saves_) {
      saves_ = kNever;
      stored_ = saving_step_;
      return tell({.kind = Event::kSaved, .step = saving_step_, .save = saving_});
    }
    next_tick_ = now_ + terms_.tick;
    tell({.kind = Event::kTick});
  }

  void tell(RunEvent event) {
    event.at = now_;
    rate_ = {};
    for (const Machine& machine : machines_) {
      if (machine.is_up) rate_ += machine.price;
    }
    for (const RunAction& action : supervisor_->handle(event)) perform(action);
  }

  void perform(const RunAction& action) {
    switch (action.kind) {
      case Act::kLaunch:
        return launch(action);
      case Act::kRelease:
        return remove(action.vm);
      case Act::kTrain:
        return start(action);
      case Act::kSave:
        if (action.attempt != attempt_ || !training_) return;
        saving_ = action.save;
        saving_step_ = step_;
        saves_ = now_ + world_.save;
        if (step_ == terms_.steps) saves_ -= world_.save_order;
        if (batch_ends_ != kNever) stall();
        return;
      case Act::kFinish:
        result_.outcome = action.outcome;
        return;
      case Act::kReplan:
      case Act::kSay:
        return;
    }
  }

  // Machines.

  void launch(const RunAction& action) {
    const RunSlot& slot = terms_.slots[static_cast<std::size_t>(action.slot)];
    const bool spot = action.market == Market::kSpot;
    Machine machine{.vm = action.vm,
                    .slot = action.slot,
                    .trains = slot.trains,
                    .spot = spot,
                    .price = spot ? spot_[static_cast<std::size_t>(action.slot)] : slot.on_demand,
                    .up = now_ + world_.launch};
    const auto held = std::find_if(held_.begin(), held_.end(), [&](const HeldMachine& it) {
      return it.slot == action.slot && it.market == action.market;
    });
    if (held != held_.end() && now_ == Seconds{}) {
      machine.up = now_;
      machine.has_state = true;
      machine.trained = true;
      held_.erase(held);
    } else if (spot && !market_.has(action.slot, spot_there(), now_)) {
      refused_.push_back(action.vm);
      machine.up = kNever;
      machine.taken = now_;
    }
    machines_.push_back(machine);
  }

  int spot_there() const {
    return static_cast<int>(std::count_if(machines_.begin(), machines_.end(),
                                          [](const Machine& it) { return it.spot; }));
  }

  void come(Machine& machine) {
    machine.is_up = true;
    if (machine.spot && !machine.doomed) {
      const RehearsalMarket::Fate fate = market_.fate(machine.vm, machine.slot, now_);
      machine.noticed = fate.noticed;
      machine.taken = fate.taken;
    }
    tell({.kind = Event::kVmUp, .vm = machine.vm});
  }

  /// The machine and others of its pool are interrupted together.
  void strike(Machine& first) {
    if (first.doomed || !first.is_up) return;
    ++result_.interruptions;
    std::vector<int> others;
    for (const Machine& it : machines_) {
      const bool beside = it.vm != first.vm && it.spot && it.is_up && !it.doomed;
      if (beside && market_.same_pool(it.slot, first.slot)) others.push_back(it.vm);
    }
    const std::vector<int> beside = market_.lost_beside(first.vm, first.slot, std::move(others));
    for (Machine& it : machines_) {
      if (it.vm != first.vm && !contains(beside, it.vm)) continue;
      it.doomed = true;
      it.taken = first.taken;
      it.noticed = first.noticed;
      market_.vacate(it.vm, it.slot, now_);
    }
  }

  void lose(int vm) {
    const auto refused = std::find(refused_.begin(), refused_.end(), vm);
    const bool came = refused == refused_.end();
    if (!came) refused_.erase(refused);
    const auto lost = std::find_if(machines_.begin(), machines_.end(),
                                   [vm](const Machine& it) { return it.vm == vm; });
    if (came && !lost->warned) ++result_.losses;
    if (world_.state_is_split && in_gang(vm)) {
      for (Machine& machine : machines_) machine.has_state = false;
    }
    remove(vm);
    tell({.kind = came ? Event::kVmLost : Event::kLaunchRefused, .vm = vm});
  }

  void remove(int vm) {
    if (in_gang(vm)) stand_still();
    machines_.erase(std::remove_if(machines_.begin(), machines_.end(),
                                   [vm](const Machine& it) { return it.vm == vm; }),
                    machines_.end());
  }

  void change_capacity() {
    market_.change_capacity(now_);
    // Machines that were launched last are lost first.
    int too_many = spot_there() - market_.capacity();
    if (too_many > 0) ++result_.interruptions;
    for (auto it = machines_.rbegin(); it != machines_.rend() && too_many > 0; ++it) {
      if (!it->spot) continue;
      --too_many;
      const Seconds notice = market_.notice(it->vm);
      if (it->taken <= now_ + notice) continue;
      it->doomed = true;
      it->taken = now_ + notice;
      it->noticed = notice > Seconds{} ? now_ : kNever;
    }
    tell({.kind = Event::kCapacity, .count = market_.capacity()});
  }

  void change_price() {
    const PriceChange& change = market_.change_price();
    for (std::size_t slot = 0; slot < spot_.size(); ++slot) {
      if (!change.type || *change.type == terms_.slots[slot].type) spot_[slot] = change.spot;
    }
    for (Machine& machine : machines_) {
      if (machine.spot) machine.price = spot_[static_cast<std::size_t>(machine.slot)];
    }
    tell({.kind = Event::kPrices, .type = change.type, .spot = change.spot});
  }

  // Workers.

  static bool contains(const std::vector<int>& vms, int vm) {
    return std::find(vms.begin(), vms.end(), vm) != vms.end();
  }

  bool in_gang(int vm) const { return contains(gang_, vm); }

  /// Workers that train continue until the new ones are ready; a plain script restarts on all
  /// machines.
  void start(const RunAction& action) {
    if (terms_.plain && attempt_ > 0) {
      stand_still();
      for (Machine& machine : machines_) machine.has_state = false;
    }
    next_gang_ = action.vms;
    next_attempt_ = action.attempt;
    joins_ = kNever;
    int newcomers = 0;
    for (const Machine& machine : machines_) {
      newcomers += contains(next_gang_, machine.vm) && !machine.has_state ? 1 : 0;
    }
    if (newcomers == 0) return gather();
    const double first =
        starts_.lognormal(world_.join.in(kSecond), world_.join_deviation.in(kSecond));
    const Seconds join = first * kSecond + std::max(0, newcomers - 2) * world_.join_more;
    gathers_ = now_ + std::max(Seconds{}, join - world_.regroup);
  }

  void gather() {
    gathers_ = kNever;
    stand_still();
    gang_ = std::move(next_gang_);
    attempt_ = next_attempt_;
    bool survived = false;
    bool newcomers = false;
    for (Machine& machine : machines_) {
      if (!in_gang(machine.vm)) machine.has_state = false;
      survived = survived || machine.has_state;
      newcomers = newcomers || (in_gang(machine.vm) && !machine.has_state);
    }
    if (!survived) go_back(stored_);
    joins_ = now_ + world_.regroup;
    if (newcomers) joins_ += world_.hand_over + (step_ > 0 ? world_.restore : Seconds{});
  }

  void join() {
    joins_ = kNever;
    training_ = true;
    told_ = 0;
    std::vector<int> slots;
    for (Machine& machine : machines_) {
      if (!in_gang(machine.vm)) continue;
      machine.has_state = true;
      machine.trained = true;
      slots.push_back(supervisor_->vms()[static_cast<std::size_t>(machine.vm)].slot);
    }
    std::sort(slots.begin(), slots.end());
    step_time_ = terms_.step_time(slots) * slowness_;
    tell({.kind = Event::kWorkersUp, .attempt = attempt_, .step = step_});
  }

  /// The next steps, up to the next other event.
  void plan_batch() {
    if (!training_ || batch_ends_ != kNever || step_ == terms_.steps) return;
    const double room = (next_happening(false) - now_) / step_time_;
    const auto left = static_cast<double>(terms_.steps - step_);
    const double steps = told_ < kStepsTold ? 1 : std::clamp(std::floor(room), 1.0, left);
    batch_ = static_cast<std::int64_t>(steps);
    const double noise = std::max(0.1, 1 + world_.step_noise / std::sqrt(steps) * steps_.normal());
    batch_time_ = noise * step_time_;
    batch_ends_ = now_ + steps * batch_time_;
  }

  /// Training waits for a checkpoint.
  void stall() {
    batch_ends_ += world_.save_stall;
    Dollars cost;
    for (const Machine& machine : machines_) {
      if (machine.is_up && in_gang(machine.vm)) cost += machine.price * world_.save_stall;
    }
    result_.parts.saving += cost;
    unbooked_ -= cost;
  }

  void finish_batch() {
    batch_ends_ = kNever;
    book(batch_);
    ++told_;
    tell({.kind = Event::kStepDone, .attempt = attempt_, .step = step_, .duration = batch_time_});
    if (terms_.plain) save_and_end_by_itself();
  }

  /// The latest step that a plain script saved.
  std::int64_t saved_by_itself() const {
    return saves_every_ > 0 ? step_ / saves_every_ * saves_every_ : 0;
  }

  void save_and_end_by_itself() {
    if (saved_by_itself() > stored_) {
      stored_ = saved_by_itself();
      tell({.kind = Event::kSaved, .step = stored_});
    }
    if (step_ == terms_.steps) tell({.kind = Event::kWorkersDone, .attempt = attempt_});
  }

  /// Books steps that are done and paid for.
  void book(std::int64_t steps) {
    if (steps == 0) return;
    paid_.push_back({.from = step_, .each = unbooked_ / static_cast<double>(steps)});
    step_ += steps;
    result_.parts.training += unbooked_;
    unbooked_ = {};
  }

  /// Stops the workers; the step in progress and a checkpoint in progress are lost.
  void stand_still() {
    if (batch_ends_ != kNever) {
      const double part = 1 - (batch_ends_ - now_) / (static_cast<double>(batch_) * batch_time_);
      const double steps = std::floor(std::max(0.0, part) * static_cast<double>(batch_));
      const Dollars all = unbooked_;
      if (part > 0) unbooked_ = all * (steps / (part * static_cast<double>(batch_)));
      result_.parts.redone += all - unbooked_;
      book(static_cast<std::int64_t>(steps));
      if (terms_.plain) stored_ = std::max(stored_, saved_by_itself());
    }
    training_ = false;
    batch_ends_ = kNever;
    saves_ = kNever;
    joins_ = kNever;
  }

  void go_back(std::int64_t step) {
    for (; step_ > step && !paid_.empty(); paid_.pop_back()) {
      const PaidSteps& last = paid_.back();
      const std::int64_t from = std::max(last.from, step);
      const Dollars lost = static_cast<double>(step_ - from) * last.each;
      result_.parts.training -= lost;
      result_.parts.redone += lost;
      step_ = from;
      if (from > last.from) return;
    }
    step_ = std::min(step_, step);  // Steps before the rehearsal were paid before it.
  }

  const RunTerms& terms_;
  const RehearsalWorld& world_;
  std::vector<HeldMachine> held_;
  std::int64_t saves_every_ = 0;
  Random steps_;
  Random starts_;
  RehearsalMarket market_;
  std::vector<DollarsPerSecond> spot_;  // Present spot price of each slot.
  std::unique_ptr<Supervisor> supervisor_;
  RehearsedRun result_;
  double slowness_ = 1;
  DollarsPerSecond rate_;  // Price of the machines that were up at the latest event.

  Seconds now_;
  Seconds next_tick_;
  Seconds gathers_ = kNever;
  Seconds joins_ = kNever;
  Seconds saves_ = kNever;
  Seconds batch_ends_ = kNever;

  std::vector<Machine> machines_;
  std::vector<int> refused_;
  std::vector<int> gang_;
  int attempt_ = 0;
  std::vector<int> next_gang_;  // The next workers, once the new ones are ready.
  int next_attempt_ = 0;
  bool training_ = false;
  Seconds step_time_;
  std::int64_t step_ = 0;
  std::int64_t stored_ = 0;
  std::int64_t saving_step_ = 0;
  int saving_ = 0;
  std::int64_t batch_ = 0;
  Seconds batch_time_;
  int told_ = 0;                 // Batches of steps that these workers reported.
  Dollars unbooked_;             // Cost of the steps in progress.
  std::vector<PaidSteps> paid_;  // The last time each step was done, in the order of steps.
};

}  // namespace

RehearsedRun rehearse_once(const RunTerms& terms, const RehearsalWorld& world,
                           const RunSoFar& so_far, std::uint64_t seed,
                           std::unique_ptr<DeadlinePolicy> policy) {
  CHECK(so_far.steps + so_far.unsaved < terms.steps);
  RunTerms rest = terms;
  rest.steps -= so_far.steps;
  rest.plain = so_far.plain;
  if (rest.deadline) *rest.deadline -= so_far.now;
  if (rest.budget) *rest.budget -= so_far.cost;
  RehearsedRun run = Rehearsal(rest, world, so_far, seed, std::move(policy)).play();
  run.time += so_far.now;
  run.cost += so_far.cost;
  return run;
}

}  // namespace stint
