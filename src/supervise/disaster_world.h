#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "supervise/disaster_shadow.h"
#include "supervise/disaster_terms.h"
#include "supervise/supervisor.h"

namespace stint {

/// A small world that simulates machines, workers and storage for a supervisor. It reports events
/// late, twice, out of order and mixed with impossible ones, and checks what the supervisor
/// guarantees. After a random event a second supervisor takes over from the journal; from then on
/// both must want the same.
class DisasterWorld {
 public:
  explicit DisasterWorld(std::uint64_t seed) : DisasterWorld(draw_disaster(seed), seed) {}

  DisasterWorld(Disaster disaster, std::uint64_t seed)
      : disaster_(std::move(disaster)),
        unkind_(disaster_.unkindness),
        terms_(disaster_.terms),
        random_(Random(seed).fork(1)),
        shadow_(disaster_, Random(seed).fork(2)),
        supervisor_(std::make_unique<Supervisor>(terms_, make_policy(disaster_))),
        spot_price_(terms_.slots[0].spot),
        capacity_(static_cast<int>(terms_.slots.size())) {}

  /// Runs the scenario to its end; returns the violated guarantee, empty where none was.
  std::string play() {
    at({}, [this] { tick(); });
    if (unkind_.capacity) at({}, [this] { change_capacity(); });
    if (unkind_.prices) at(draw(0, 30) * kMinute, [this] { change_price(); });
    if (unkind_.terms) at(draw(0, 60) * kMinute, [this] { change_terms("somebody wants so"); });
    if (unkind_.stop) at(draw(0, 60) * kMinute, [this] { tell({.kind = RunEventKind::kStop}); });
    for (int count = 0; !happenings_.empty() && problem_.empty(); ++count) {
      if (count == kHappeningsMax) return "it never ends";
      std::pop_heap(happenings_.begin(), happenings_.end());
      const Happening next = std::move(happenings_.back());
      happenings_.pop_back();
      now_ = next.at;
      next.what();
    }
    if (problem_.empty()) check_end();
    return problem_;
  }

  void write_log() { log_ = true; }

 private:
  static constexpr int kHappeningsMax = 200'000;

  using Machine = DisasterMachine;

  struct Happening {
    Seconds at;
    std::int64_t order = 0;
    std::function<void()> what;
    bool operator<(const Happening& other) const {
      return std::pair(at, order) > std::pair(other.at, other.order);
    }
  };

  /// A checkpoint after a step, and the machines that hold parts of it.
  struct Stored {
    std::int64_t step = 0;
    int save = 0;
    std::vector<int> receivers = {};
  };

  double draw(double low, double high) { return random_.uniform(low, high); }
  bool chance(double probability) { return random_.uniform() < probability; }

  void at(Seconds delay, std::function<void()> what) {
    happenings_.push_back({.at = now_ + delay, .order = order_++, .what = std::move(what)});
    std::push_heap(happenings_.begin(), happenings_.end());
  }

  void fail(const std::string& problem) {
    if (problem_.empty()) problem_ = fmt::format("{} (at {:.0f} s)", problem, now_.in(kSecond));
  }

  // Reports to the supervisor.

  void tell(RunEvent event, std::optional<RunTerms> terms = {}) {
    event.at = now_;
    if (chance(unkind_.lie)) event.at += draw(-5, 5) * kMinute;
    const int times = chance(unkind_.twice) ? 2 : 1;
    for (int i = 0; i < times; ++i) {
      const Seconds delay = chance(unkind_.late) ? draw(0, 180) * kSecond : Seconds{};
      const bool stamped_late = chance(0.5);
      at(delay, [this, event, terms = i == 0 ? terms : std::nullopt, stamped_late] {
        RunEvent now = event;
        if (stamped_late) now.at = std::max(now.at, now_);
        deliver(now, terms);
      });
    }
    if (chance(unkind_.nonsense)) at({}, [this] { deliver(nonsense(), {}); });
  }

  RunEvent nonsense() {
    const auto kinds = names_of(RunEventKind{});
    RunEvent event;
    do {
      event.kind =
          kinds[static_cast<std::size_t>(random_.below(static_cast<int>(kinds.size())))].first;
    } while (event.kind == RunEventKind::kStop || event.kind == RunEventKind::kResumed);
    const double infinite = std::numeric_limits<double>::infinity();
    const double numbers[] = {-1, -1e300, infinite, -infinite, std::nan("")};
    const auto number = [&] { return numbers[random_.below(5)]; };
    event.at = chance(0.3) ? now_ : number() * kSecond;
    event.vm = chance(0.5) ? -1 - random_.below(100) : 1'000'000 + random_.below(1000);
    event.attempt = chance(0.5) ? -3 : 1'000'000;
    event.step = chance(0.5) ? -random_.below(1000) - 1 : std::numeric_limits<std::int64_t>::max();
    event.duration = number() * kSecond;
    event.count = -1 - random_.below(10);
    event.spot = number() * kDollar / kSecond;
    event.cost = number() * kDollar;
    return event;
  }

  void deliver(const RunEvent& event, const std::optional<RunTerms>& terms) {
    const std::int64_t saved = supervisor_->saved();
    if (!second_ && disaster_.crash_after > 0) journal_.push_back({event, terms});
    if (terms) supervisor_->change_terms(*terms);
    const auto actions = supervisor_->handle(event);
    follow(event, terms, actions);
    const std::string wrong = shadow_.follow(supervisor_, second_.get(), event, terms, actions);
    if (!wrong.empty()) fail(wrong);
    if (log_) print_moment(event, actions);
    if (supervisor_->saved() < saved && !destroyed_) fail("an acknowledged checkpoint is lost");
    for (const RunAction& action : actions) perform(action);
    if (supervisor_->over_budget() && !said_budget_) fail("over budget without a word");
    if (unkind_.honest() && std::abs((supervisor_->cost() - cost()).in(kDollar)) > 1e-9) {
      fail(fmt::format("it counts {} USD, of {}", supervisor_->cost().in(kDollar),
                       cost().in(kDollar)));
    }
  }

  /// The second supervisor, which is restored from the journal alone.
  void follow(const RunEvent& event, const std::optional<RunTerms>& terms,
              const std::vector<RunAction>& actions) {
    if (second_) {
      if (terms) second_->change_terms(*terms);
      if (second_->handle(event) != actions) fail("after a crash it wants something else");
    } else if (disaster_.crash_after > 0 &&
               static_cast<int>(journal_.size()) == disaster_.crash_after) {
      second_ = std::make_unique<Supervisor>(disaster_.terms, make_policy(disaster_));
      for (const auto& entry : journal_) {
        if (entry.second) second_->change_terms(*entry.second);
        second_->handle(entry.first);
      }
      const bool same = second_->saved() == supervisor_->saved() &&
                        second_->reached() == supervisor_->reached() &&
                        second_->cost() == supervisor_->cost();
      if (!same) fail("after a crash it believes something else");
    }
  }

  // Events of the world.

  void tick() {
    if (supervisor_->finished()) return;
    tell({.kind = RunEventKind::kTick});
    at(terms_.tick * draw(0.5, 1), [this] { tick(); });
  }

  void change_capacity() {
    if (supervisor_->finished()) return;
    capacity_ = random_.below(static_cast<int>(terms_.slots.size()) + 1);
    tell({.kind = RunEventKind::kCapacity, .count = capacity_});
    int there = 0;
    for (auto& [vm, machine] : machines_) {
      if (machine.market != Market::kSpot || machine.gone) continue;
      if (++there > capacity_) take_back(vm);
    }
    at(draw(1, 60) * kMinute, [this] { change_capacity(); });
  }

  void change_price() {
    if (supervisor_->finished()) return;
    for (auto& [vm, machine] : machines_) charge(machine);
    spot_price_ = spot_price_ * draw(0.8, 1.25);
    tell({.kind = RunEventKind::kPrices, .spot = spot_price_});
    at(draw(5, 60) * kMinute, [this] { change_price(); });
  }

  void change_terms(const std::string& reason) {
    if (supervisor_->finished() || ++terms_changes_ > 5) return;
    terms_ = draw_new_slots(random_, terms_, spot_price_);
    tell({.kind = RunEventKind::kTerms, .reason = reason}, terms_);
  }

  void charge(Machine& machine) {
    if (!machine.up || machine.gone) return;
    const DollarsPerSecond price = machine.market == Market::kSpot ? spot_price_ : machine.price;
    machine.cost += price * (now_ - machine.since);
    machine.since = now_;
  }

  Dollars cost() {
    Dollars sum;
    for (auto& [vm, machine] : machines_) {
      charge(machine);
      sum += machine.cost;
    }
    return sum;
  }

  void take_back(int vm) {
    const bool announced = !chance(unkind_.unannounced);
    const Seconds notice = announced ? draw(5, 180) * kSecond : Seconds{};
    if (announced) tell({.kind = RunEventKind::kNotice, .vm = vm, .duration = notice});
    if (announced && chance(unkind_.false_notice)) return;
    at(notice, [this, vm] {
      if (machines_[vm].gone) return;
      end(vm);
      tell({.kind = RunEventKind::kVmLost, .vm = vm});
    });
  }

  void end(int vm) {
    Machine& machine = machines_[vm];
    charge(machine);
    machine.gone = true;
    machine.holds.reset();
    broken_ = broken_ || std::count(gang_.begin(), gang_.end(), vm) > 0;
    const auto held = [vm](const Stored& it) {
      return std::count(it.receivers.begin(), it.receivers.end(), vm) > 0;
    };
    const auto lost = std::remove_if(stored_.begin(), stored_.end(), held);
    destroyed_ = destroyed_ || lost != stored_.end();
    stored_.erase(lost, stored_.end());
    tell({.kind = RunEventKind::kBilled, .vm = vm, .cost = machine.cost});
  }

  std::int64_t latest() const {
    std::int64_t step = 0;
    for (const Stored& it : stored_) step = std::max(step, it.step);
    return step;
  }

  // Actions of the supervisor.

  void perform(const RunAction& action) {
    switch (action.kind) {
      case RunActionKind::kLaunch:
        return launch(action);
      case RunActionKind::kRelease:
        return release(action.vm);
      case RunActionKind::kTrain:
        return start(action);
      case RunActionKind::kSave:
        return save(action);
      case RunActionKind::kReplan:
        if (action.reason.empty()) fail("a new plan without a reason");
        if (chance(unkind_.follows)) change_terms(action.reason);
        return;
      case RunActionKind::kSay:
        said_budget_ = said_budget_ || action.reason.find("exceeded") != std::string::npos;
        if (action.reason.empty() || action.reason.back() != '.') fail("no sentence");
        return;
      case RunActionKind::kFinish:
        gang_.clear();
        ended_ = now_;
        if (finished_++ > 0) fail("it ended twice");
        if (action.reason.empty()) fail("it ended without a reason");
        if (action.outcome == RunVerdict::kTrained && trained_ < terms_.steps) {
          fail("it says trained, but the last step was never stored");
        }
        return;
    }
  }

  void launch(const RunAction& action) {
    if (machines_.contains(action.vm)) return fail("a machine was asked for twice");
    if (finished_ > 0) return fail("a machine was asked for after the end");
    const RunSlot& slot = supervisor_->terms().slots[static_cast<std::size_t>(action.slot)];
    const bool spot = action.market == Market::kSpot;
    if (!slot.trains && spot) fail("checkpoints are held by a spot machine");
    machines_[action.vm] = {
        .market = action.market, .trains = slot.trains, .price = slot.on_demand};
    int there = 0;
    for (const auto& [vm, machine] : machines_) {
      there += machine.market == Market::kSpot && !machine.gone ? 1 : 0;
    }
    const bool refused = (unkind_.capacity && spot && there > capacity_) ||
                         chance(spot ? unkind_.refusal : unkind_.on_demand_refusal);
    const double slow = chance(unkind_.slow_launch) ? draw(1, 20) : draw(0.2, 0.6);
    at(slow * terms_.start_up, [this, vm = action.vm, refused] { come(vm, refused); });
  }

  void come(int vm, bool refused) {
    Machine& machine = machines_[vm];
    if (machine.gone) return;
    if (refused) {
      machine.gone = true;
      return tell({.kind = RunEventKind::kLaunchRefused, .vm = vm, .reason = "no capacity"});
    }
    machine.up = true;
    machine.since = now_;
    tell({.kind = RunEventKind::kVmUp, .vm = vm});
    const double loss = machine.market == Market::kSpot ? unkind_.loss
                        : machine.trains                ? unkind_.on_demand_loss
                                                        : unkind_.receiver_loss;
    if (loss > 0) at(random_.exponential() / loss * kMinute, [this, vm] { lose(vm); });
  }

  void lose(int vm) {
    if (!machines_[vm].gone) take_back(vm);
  }

  void release(int vm) {
    if (!machines_.contains(vm)) return fail("a machine that never was is given back");
    Machine& machine = machines_[vm];
    if (machine.gone) return;
    if (!machine.up && chance(unkind_.comes_anyway)) return;
    const std::int64_t before = latest();
    if (!machine.up) return static_cast<void>(machine.gone = true);
    const bool destroyed = destroyed_;
    end(vm);
    const bool needed = supervisor_->saved() <= before && supervisor_->saved() > latest();
    if (!supervisor_->finished() && needed) fail("the machine with the checkpoint is given back");
    destroyed_ = destroyed;
  }

  void start(const RunAction& action) {
    if (action.vms.empty()) return fail("nobody is to train");
    if (static_cast<int>(action.vms.size()) < supervisor_->terms().machines_min) {
      fail("too few machines train");
    }
    if (static_cast<int>(action.vms.size()) % supervisor_->terms().machines_multiple != 0) {
      fail("a part of a replica trains");
    }
    if (action.step != supervisor_->saved()) fail("it starts from another checkpoint");
    if (action.step > latest() && !destroyed_) fail("it starts from what is not stored");
    gang_ = action.vms;
    attempt_ = action.attempt;
    joined_ = false;
    broken_ = false;
    halt_ = halted_ = false;
    save_at_.reset();
    bool any_new = false;
    for (auto& [vm, machine] : machines_) {
      const bool trains = std::count(gang_.begin(), gang_.end(), vm) > 0;
      if (!trains) machine.holds.reset();
      if (!trains) continue;
      if (!machine.trains) fail("a machine for checkpoints trains");
      broken_ = broken_ || !machine.up || machine.gone;
      any_new = any_new || !machine.holds;
    }
    const Seconds time = any_new ? 0.4 * terms_.start_up : terms_.regroup;
    at(time * draw(0.3, 1), [this, attempt = attempt_] { join(attempt); });
  }

  void join(int attempt) {
    if (attempt != attempt_ || broken_ || gang_.empty()) return;
    if (crash()) return;
    step_ = 0;
    bool survived = false;
    for (const int vm : gang_) {
      survived = survived || machines_[vm].holds.has_value();
      step_ = std::max(step_, machines_[vm].holds.value_or(0));
    }
    if (!survived) step_ = latest();
    for (const int vm : gang_) machines_[vm].holds = step_;
    joined_ = true;
    tell({.kind = RunEventKind::kWorkersUp, .attempt = attempt_, .step = step_});
    next_step();
  }

  bool crash() {
    if (!chance(unkind_.crash)) return false;
    const int vm = gang_[static_cast<std::size_t>(random_.below(static_cast<int>(gang_.size())))];
    machines_[vm].holds.reset();
    broken_ = true;
    tell({.kind = RunEventKind::kWorkerLost, .vm = vm, .attempt = attempt_, .code = 1});
    return true;
  }

  void next_step() {
    if (step_ >= terms_.steps || halted_) return;
    const double factor = disaster_.speed * draw(1 - unkind_.noise, 1 + unkind_.noise);
    const Seconds time = factor * world_step_time(static_cast<int>(gang_.size()));
    at(time, [this, attempt = attempt_, halts = halts_, time] {
      if (attempt != attempt_ || halts != halts_ || broken_ || gang_.empty() || crash()) return;
      ++step_;
      for (const int vm : gang_) machines_[vm].holds = step_;
      tell({.kind = RunEventKind::kStepDone, .attempt = attempt_, .step = step_, .duration = time});
      if (save_at_ && step_ >= *save_at_) store();
      next_step();
    });
  }

  void save(const RunAction& action) {
    if (action.attempt != attempt_ || broken_ || !joined_) return;
    save_ = action.save;
    halt_ = action.halt;
    if (std::exchange(halted_, false)) next_step();
    save_at_ = std::min(terms_.steps, step_ + random_.below(3));
    if (step_ >= *save_at_) store();
  }

  void store() {
    save_at_.reset();
    halted_ = halt_;
    halts_ += halt_ ? 1 : 0;
    const Stored stored{.step = step_, .save = save_, .receivers = supervisor_->receivers()};
    at(draw(0.3, 0.9) * terms_.save_time, [this, stored, attempt = attempt_] {
      const bool gone = attempt != attempt_ || broken_ || !all_there(stored.receivers);
      if (gone || chance(unkind_.save_failure)) {
        if (chance(unkind_.silence)) return;
        return tell({.kind = RunEventKind::kSaveFailed,
                     .step = stored.step,
                     .save = stored.save,
                     .reason = "the disk is full"});
      }
      stored_.push_back(stored);
      trained_ = std::max(trained_, stored.step);
      tell({.kind = RunEventKind::kSaved, .step = stored.step, .save = stored.save});
    });
  }

  bool all_there(const std::vector<int>& vms) {
    return std::none_of(vms.begin(), vms.end(), [&](int vm) { return machines_[vm].gone; });
  }

  void check_end() {
    if (!supervisor_->finished()) return fail("it never ended");
    for (const auto& [vm, machine] : machines_) {
      if (machine.up && !machine.gone) fail(fmt::format("machine {} is left running", vm));
    }
    const double counted = supervisor_->cost().in(kDollar);
    const double real = cost().in(kDollar);
    if (std::abs(counted - real) > 1e-9) fail(fmt::format("it counts {}, not {}", counted, real));
    const bool over = terms_.budget && cost() > *terms_.budget + 1e-9 * kDollar;
    if (over && !said_budget_) fail("over budget without a word in the end");
    if (disaster_.keeps_deadline && (ended_ > *terms_.deadline || trained_ < terms_.steps)) {
      fail(fmt::format("the deadline of {:.0f} s was missed", terms_.deadline->in(kSecond)));
    }
  }

  Disaster disaster_;
  Unkindness unkind_;
  RunTerms terms_;
  Random random_;
  SnapshotShadow shadow_;
  std::unique_ptr<Supervisor> supervisor_;
  std::unique_ptr<Supervisor> second_;
  std::vector<std::pair<RunEvent, std::optional<RunTerms>>> journal_;
  DollarsPerSecond spot_price_;
  int capacity_;

  Seconds now_;
  std::vector<Happening> happenings_;  // A heap, the next one first.
  std::int64_t order_ = 0;
  std::map<int, Machine> machines_;
  std::vector<Stored> stored_;
  bool destroyed_ = false;  // A checkpoint was lost with the machines that held it.

  std::vector<int> gang_;  // Machines that train.
  int attempt_ = 0;
  bool joined_ = false;
  bool broken_ = false;
  std::int64_t step_ = 0;
  std::optional<std::int64_t> save_at_;
  int save_ = 0;
  bool halt_ = false;    // No step may follow the checkpoint,
  bool halted_ = false;  // and no step does.
  int halts_ = 0;
  std::int64_t trained_ = 0;  // The latest step that was ever saved.

  int terms_changes_ = 0;
  int finished_ = 0;
  Seconds ended_;
  bool said_budget_ = false;
  std::string problem_;
  bool log_ = false;
};

}  // namespace stint
