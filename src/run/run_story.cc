#include "run/run_story.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"
#include "run/crew.h"

namespace stint {
namespace {

using Event = RunEventKind;
using Act = RunActionKind;

/// Walks through the moments and adds up times and costs.
class Teller {
 public:
  explicit Teller(const ReplayedRun& run) : run_(run) {}

  RunStory tell() {
    for (const RunMoment& moment : run_.moments) {
      if (moment.event.kind == Event::kResumed) resume();
      pass_until(moment.event.at);
      see(moment);
    }
    finish();
    return std::move(story_);
  }

 private:
  /// The present activity of the machines.
  enum Doing { kTraining, kAgain, kStarting, kStanding, kDoings };

  Doing doing() const {
    if (story_.attempts.empty()) return kStarting;
    const StoryAttempt& last = story_.attempts.back();
    if (broken_) return kStanding;
    if (!last.training) return story_.attempts.size() == 1 ? kStarting : kStanding;
    return last.to_step < highest_ ? kAgain : kTraining;
  }

  void pass_until(Seconds at) {
    const Seconds now = std::max(now_, at);
    const Seconds passed = now - now_;
    const Doing what = doing();
    times_[what] += passed;
    // The cost of each machine is assigned to the present activity, by its price.
    DollarsPerSecond rate;
    for (const StoryVm& vm : story_.vms) {
      if (vm.from <= now_ && !vm.until)
        rate += price_[static_cast<std::size_t>(&vm - story_.vms.data())];
    }
    costs_[what] += rate * passed;
    now_ = now;
  }

  void see(const RunMoment& moment) {
    const RunEvent& event = moment.event;
    const bool loss = event.kind == Event::kVmLost || event.kind == Event::kWorkerLost;
    if (loss && event.vm && trains_on(*event.vm)) broken_ = true;
    if (event.kind == Event::kVmUp && known(event)) come(*event.vm);
    if (event.kind == Event::kNotice && known(event)) announce(*event.vm);
    if (event.kind == Event::kVmLost && known(event)) go(*event.vm, true);
    if (event.kind == Event::kBilled && known(event)) bill(event);
    if (event.kind == Event::kSaved) {
      ++story_.saves;
      if (event.duration) save_times_.push_back(*event.duration);
    }
    if (event.kind == Event::kWorkersUp && !story_.attempts.empty()) begin(event);
    if (event.kind == Event::kStepDone && !story_.attempts.empty()) step(event);
    for (const RunAction& action : moment.actions) act(action, moment.predicted);
  }

  /// No worker trained since the last event, and an earlier end of the run does not count.
  void resume() {
    broken_ = true;
    story_.outcome.reset();
    story_.reason.clear();
  }

  bool trains_on(int vm) const {
    if (story_.attempts.empty()) return false;
    const std::vector<int>& vms = story_.attempts.back().vms;
    return std::find(vms.begin(), vms.end(), vm) != vms.end();
  }

  bool known(const RunEvent& event) const {
    return event.vm && *event.vm >= 0 &&
           *event.vm < static_cast<int>(run_.supervisor->vms().size());
  }

  StoryVm* find(int vm) {
    const auto found = places_.find(vm);
    return found == places_.end() ? nullptr : &story_.vms[found->second];
  }

  void come(int vm) {
    if (find(vm) != nullptr) return;
    const RunVm& it = run_.supervisor->vms()[static_cast<std::size_t>(vm)];
    places_[vm] = story_.vms.size();
    price_.push_back(it.price);
    story_.vms.push_back(
        {.name = vm_name(vm), .type = machine_type(it), .market = it.market, .from = now_});
  }

  /// A machine with an interruption notice counts as interrupted, even if it is released before.
  void announce(int vm) {
    StoryVm* it = find(vm);
    if (it != nullptr && !it->until) it->taken = true;
  }

  void go(int vm, bool taken) {
    StoryVm* it = find(vm);
    if (it == nullptr || it->until) return;
    it->until = now_;
    it->taken = it->taken || taken;
    story_.losses += it->taken ? 1 : 0;
  }

  void bill(const RunEvent& event) {
    StoryVm* it = find(*event.vm);
    if (it == nullptr) return;
    it->billed = event.duration.value_or(Seconds{});
    it->cost = event.cost.value_or(Dollars{});
  }

  void begin(const RunEvent& event) {
    StoryAttempt& last = story_.attempts.back();
    if (event.attempt != last.number || last.training) return;
    last.training = now_;
    last.from_step = event.step.value_or(0);
    last.to_step = last.from_step;
    story_.redone += std::max<std::int64_t>(0, highest_ - last.from_step);
  }

  void step(const RunEvent& event) {
    StoryAttempt& last = story_.attempts.back();
    if (event.attempt != last.number || !event.step) return;
    last.to_step = std::max(last.to_step, *event.step);
    highest_ = std::max(highest_, *event.step);
    last.until = now_;
    if (event.duration) step_times_.push_back(*event.duration);
    last.steps = static_cast<int>(step_times_.size());
    last.measured = median(step_times_);
  }

  void act(const RunAction& action, std::optional<Seconds> predicted) {
    if (action.kind == Act::kRelease) go(action.vm, false);
    if (action.kind == Act::kTrain) {
      step_times_.clear();
      broken_ = false;
      story_.attempts.push_back({.number = action.attempt,
                                 .vms = action.vms,
                                 .ordered = now_,
                                 .until = now_,
                                 .predicted = predicted.value_or(Seconds{})});
    }
    if (action.kind == Act::kFinish) {
      story_.outcome = action.outcome;
      story_.reason = action.reason;
    }
  }

  static std::optional<Seconds> median(std::vector<Seconds> times) {
    if (times.empty()) return std::nullopt;
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
  }

  void finish() {
    const Supervisor& supervisor = *run_.supervisor;
    story_.time = now_;
    story_.steps = supervisor.terms().steps;
    story_.reached = supervisor.reached();
    story_.saved = supervisor.saved();
    story_.plain = supervisor.plain();
    story_.cost = supervisor.cost();
    story_.save_time = median(save_times_);
    story_.lines = run_.lines;
    for (std::size_t i = 0; i < story_.vms.size(); ++i) {
      StoryVm& vm = story_.vms[i];
      if (vm.cost > Dollars{}) continue;
      vm.billed = vm.until.value_or(now_) - vm.from;
      vm.cost = price_[i] * vm.billed;
    }
    constexpr const char* kNames[kDoings] = {"training", "repeating lost steps", "start-up",
                                             "stalled"};
    Dollars sum;
    for (const Dollars cost : costs_) sum += cost;
    for (int i = 0; i < kDoings; ++i) {
      // The parts are scaled, since the provider's clock and ours differ a little.
      const Dollars cost = sum > Dollars{} ? costs_[i] / sum * story_.cost : Dollars{};
      story_.parts.push_back({.name = kNames[i], .time = times_[i], .cost = cost});
    }
  }

  const ReplayedRun& run_;
  RunStory story_;
  Seconds now_;
  std::map<int, std::size_t> places_;
  std::vector<DollarsPerSecond> price_;
  std::vector<Seconds> save_times_;
  std::vector<Seconds> step_times_;
  std::int64_t highest_ = 0;
  bool broken_ = false;  // The latest attempt no longer trains.
  Seconds times_[kDoings];
  Dollars costs_[kDoings];
};

}  // namespace

RunStory story_of(const ReplayedRun& run) { return Teller(run).tell(); }

}  // namespace stint
