#include "run/run_story.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"
#include "run/crew.h"

namespace stint {
namespace {

using Event = RunEventKind;
using Act = RunActionKind;

std::string names_of_vms(const std::vector<int>& vms) {
  std::vector<std::string> names;
  for (const int vm : vms) names.push_back(vm_name(vm));
  return join(names, ", ");
}

std::string seconds_text(Seconds time) { return fmt::format("{:.1f} s", time.in(kSecond)); }

const RunMachines* kind_of(const RunPlan& plan, int slot) {
  const std::vector<int> kinds = slot_kinds(plan);
  if (slot < 0 || slot >= static_cast<int>(kinds.size())) return nullptr;
  return &plan.machines[static_cast<std::size_t>(kinds[static_cast<std::size_t>(slot)])];
}

std::string market_text(Market market) {
  return market == Market::kSpot ? "spot" : "on demand";
}

std::optional<std::string> event_text(const Supervisor& supervisor, const RunPlan& plan,
                                      const RunEvent& event) {
  const std::string vm = event.vm ? vm_name(*event.vm) : "";
  switch (event.kind) {
    case Event::kVmUp: {
      if (!event.vm || *event.vm >= static_cast<int>(supervisor.vms().size())) return std::nullopt;
      const RunVm& it = supervisor.vms()[static_cast<std::size_t>(*event.vm)];
      const RunMachines* kind = kind_of(plan, it.slot);
      return fmt::format("{} is there ({}, {})", vm, kind == nullptr ? "?" : kind->type,
                         market_text(it.market));
    }
    case Event::kLaunchRefused:
      return fmt::format("{} cannot be had: {}", vm, event.reason.value_or("no reason was given"));
    case Event::kNotice:
      return fmt::format("{} will be taken back in {}", vm,
                         seconds_text(event.duration.value_or(Seconds{})));
    case Event::kVmLost:
      return fmt::format("{} is gone", vm);
    case Event::kWorkersUp:
      return supervisor.attempt()
                 ? std::optional(fmt::format("training on {} after step {}",
                                             names_of_vms(supervisor.attempt()->vms),
                                             event.step.value_or(0)))
                 : std::nullopt;
    case Event::kSaved:
      return fmt::format("step {} is saved, after {}", event.step.value_or(0),
                         seconds_text(event.duration.value_or(Seconds{})));
    case Event::kWorkerLost:
      return fmt::format("the worker on {} is lost{}", vm,
                         event.reason && !event.reason->empty() ? ": " + *event.reason : "");
    case Event::kPrices:
      return event.spot ? std::optional(fmt::format("a spot machine costs {:.4f} USD/h now",
                                                    event.spot->in(kDollar / kHour)))
                        : std::nullopt;
    case Event::kCapacity:
      return event.count ? std::optional(fmt::format("spot has {} now",
                                                     counted(static_cast<std::size_t>(*event.count),
                                                             "machine")))
                         : std::nullopt;
    case Event::kTerms:
    case Event::kRemark:
      return event.reason;
    case Event::kResumed:
      return "a new process takes over";
    case Event::kStop:
      return "told to stop";
    case Event::kSaveFailed:
    case Event::kTick:
    case Event::kStepDone:
    case Event::kWorkersDone:
    case Event::kBilled:
      return std::nullopt;
  }
  return std::nullopt;
}

/// Walks through the moments and adds up.
class Teller {
 public:
  explicit Teller(const ReplayedRun& run) : run_(run) {}

  RunStory tell() {
    for (const RunMoment& moment : run_.moments) {
      pass_until(moment.event.at);
      see(moment);
    }
    finish();
    return std::move(story_);
  }

 private:
  /// What the machines do at the moment.
  enum Doing { kTraining, kAgain, kStarting, kStanding, kDoings };

  Doing doing() const {
    if (story_.attempts.empty()) return kStarting;
    const StoryAttempt& last = story_.attempts.back();
    if (!last.training) return story_.attempts.size() == 1 ? kStarting : kStanding;
    return last.to_step < highest_ ? kAgain : kTraining;
  }

  void pass_until(Seconds at) {
    const Seconds now = std::max(now_, at);
    const Seconds passed = now - now_;
    const Doing what = doing();
    times_[what] += passed;
    // Money is spread over what was done by the rate of the machines that are there.
    DollarsPerSecond rate;
    for (const StoryVm& vm : story_.vms) {
      if (vm.from <= now_ && !vm.until) rate += price_[static_cast<std::size_t>(&vm - story_.vms.data())];
    }
    costs_[what] += rate * passed;
    now_ = now;
  }

  void see(const RunMoment& moment) {
    const RunEvent& event = moment.event;
    if (event.kind == Event::kVmUp && known(event)) come(*event.vm);
    if (event.kind == Event::kVmLost && known(event)) go(*event.vm, true);
    if (event.kind == Event::kBilled && known(event)) bill(event);
    if (event.kind == Event::kSaved) {
      ++story_.saves;
      if (event.duration) save_times_.push_back(*event.duration);
    }
    if (event.kind == Event::kWorkersUp && !story_.attempts.empty()) begin(event);
    if (event.kind == Event::kStepDone && !story_.attempts.empty()) step(event);
    for (const RunAction& action : moment.actions) act(action);
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
    const RunMachines* kind = kind_of(run_.plan, it.slot);
    places_[vm] = story_.vms.size();
    price_.push_back(it.price);
    story_.vms.push_back({.name = vm_name(vm),
                          .type = kind == nullptr ? "" : kind->type,
                          .market = it.market,
                          .from = now_});
  }

  void go(int vm, bool taken) {
    StoryVm* it = find(vm);
    if (it == nullptr || it->until) return;
    it->until = now_;
    it->taken = taken;
    story_.losses += taken ? 1 : 0;
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
    // The first step of an attempt makes the buckets of DDP.
    last.steps = static_cast<int>(step_times_.size());
    last.measured = median(step_times_);
  }

  void act(const RunAction& action) {
    if (action.kind == Act::kRelease) go(action.vm, false);
    if (action.kind == Act::kTrain) {
      std::vector<int> slots;
      for (const int vm : action.vms) {
        slots.push_back(run_.supervisor->vms()[static_cast<std::size_t>(vm)].slot);
      }
      step_times_.clear();
      story_.attempts.push_back({.number = action.attempt,
                                 .vms = action.vms,
                                 .ordered = now_,
                                 .until = now_,
                                 .predicted = step_time_of(run_.plan, slots).mean});
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
    story_.reached = supervisor.reached();
    story_.saved = supervisor.saved();
    story_.cost = supervisor.cost();
    story_.save_time = median(save_times_);
    for (std::size_t i = 0; i < story_.vms.size(); ++i) {
      StoryVm& vm = story_.vms[i];
      if (vm.cost > Dollars{}) continue;
      vm.billed = vm.until.value_or(now_) - vm.from;
      vm.cost = price_[i] * vm.billed;
    }
    constexpr const char* kNames[kDoings] = {"training", "training again what was lost",
                                             "starting up", "standing still"};
    Dollars sum;
    for (const Dollars cost : costs_) sum += cost;
    for (int i = 0; i < kDoings; ++i) {
      // Scaled, since the provider's clock and ours differ a little.
      const Dollars cost = sum > Dollars{} ? costs_[i] / sum * story_.cost : Dollars{};
      story_.parts.push_back({.name = kNames[i], .time = times_[i], .cost = cost});
    }
    for (const RunMoment& moment : run_.moments) {
      for (StoryLine& line : story_of(supervisor, run_.plan, moment)) {
        story_.lines.push_back(std::move(line));
      }
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
  Seconds times_[kDoings];
  Dollars costs_[kDoings];
};

}  // namespace

std::vector<StoryLine> story_of(const Supervisor& supervisor, const RunPlan& plan,
                                const RunMoment& moment) {
  std::vector<StoryLine> lines;
  // What the supervisor says of a loss holds more than that it happened.
  const bool said = std::any_of(moment.actions.begin(), moment.actions.end(),
                                [](const RunAction& it) { return it.kind == Act::kSay; });
  const Event kind = moment.event.kind;
  const bool covered = said && (kind == Event::kNotice || kind == Event::kVmLost ||
                                kind == Event::kWorkerLost || kind == Event::kLaunchRefused);
  if (auto text = covered ? std::nullopt : event_text(supervisor, plan, moment.event)) {
    lines.push_back({.at = moment.event.at, .text = std::move(*text)});
  }
  for (const RunAction& action : moment.actions) {
    if (action.kind == Act::kSay) lines.push_back({.at = moment.event.at, .text = action.reason});
    if (action.kind == Act::kReplan) {
      lines.push_back({.at = moment.event.at, .text = "planning again, since " + action.reason});
    }
    if (action.kind == Act::kFinish) {
      lines.push_back({.at = moment.event.at,
                       .text = fmt::format("{}: {}", name_of(action.outcome), action.reason)});
    }
  }
  return lines;
}

RunStory story_of(const ReplayedRun& run) { return Teller(run).tell(); }

}  // namespace stint
