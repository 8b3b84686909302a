#include "run/run_story.h"

#include <algorithm>
#include <set>
#include <utility>

#include "run/run_record.h"

namespace stint {
namespace {

using Event = RunEventKind;
using Act = RunActionKind;

constexpr std::size_t kLinesKept = 10'000;
constexpr std::size_t kAttemptsKept = 5'000;
constexpr std::size_t kAttemptsWithVms = 100;
constexpr std::size_t kSampled = 1'000;  // The least number of times that are kept of more.

/// Drops the oldest tenth of a list that has grown a tenth beyond its limit; returns its size.
template <class T>
std::int64_t drop_oldest(std::vector<T>& list, std::size_t limit) {
  const std::size_t some = limit / 10;
  if (list.size() < limit + some) return 0;
  list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(some));
  return static_cast<std::int64_t>(some);
}

bool known(const RunEvent& event, const Supervisor& supervisor) {
  return event.vm && *event.vm >= 0 && *event.vm < static_cast<int>(supervisor.vms().size());
}

}  // namespace

void TimeSample::add(Seconds time) {
  if (seen++ % every != 0) return;
  times.push_back(time);
  if (times.size() < 2 * kSampled) return;
  for (std::size_t i = 0; i < kSampled; ++i) times[i] = times[2 * i];
  times.resize(kSampled);
  every *= 2;
}

std::optional<Seconds> TimeSample::median() const {
  if (times.empty()) return std::nullopt;
  std::vector<Seconds> sorted = times;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

std::string problem(const ToldRun& it) {
  if (it.times.size() != 4 || it.costs.size() != 4) return "there must be four activities";
  std::set<int> numbers;
  for (const ToldVm& vm : it.vms) {
    if (!numbers.insert(vm.number).second) return "a machine comes twice";
  }
  return "";
}

RunTeller::RunTeller() {
  it_.times.resize(kDoings);
  it_.costs.resize(kDoings);
}

RunTeller::RunTeller(ToldRun told) : it_(std::move(told)) {
  for (std::size_t i = 0; i < it_.vms.size(); ++i) {
    places_[it_.vms[i].number] = i;
    if (!it_.vms[i].until) up_.push_back(i);
  }
}

void RunTeller::see(const Supervisor& supervisor, const RunMoment& moment) {
  const RunEvent& event = moment.event;
  if (event.kind == Event::kResumed) resume();
  pass_until(event.at);
  const bool loss = event.kind == Event::kVmLost || event.kind == Event::kWorkerLost;
  if (loss && event.vm && trains_on(*event.vm)) it_.broken = true;
  if (known(event, supervisor)) {
    const int vm = *event.vm;
    if (event.kind == Event::kVmUp) come(vm, supervisor.vms()[static_cast<std::size_t>(vm)]);
    if (event.kind == Event::kNotice) announce(vm);
    if (event.kind == Event::kVmLost) go(vm, true);
    if (event.kind == Event::kBilled) bill(event);
  }
  if (event.kind == Event::kPrices) change_prices(supervisor);
  if (event.kind == Event::kSaved) {
    ++it_.saves;
    if (event.duration) it_.save_times.add(*event.duration);
  }
  if (event.kind == Event::kWorkersUp && !it_.attempts.empty()) begin(event);
  if (event.kind == Event::kStepDone && !it_.attempts.empty()) step(event);
  for (const RunAction& action : moment.actions) act(action, moment.predicted);
  keep_lines(supervisor, moment);
}

RunTeller::Doing RunTeller::doing() const {
  if (it_.attempts.empty()) return kStarting;
  const StoryAttempt& last = it_.attempts.back();
  if (it_.broken) return kStanding;
  const bool first = it_.attempts.size() == 1 && it_.attempts_before == 0;
  if (!last.training) return first ? kStarting : kStanding;
  return last.to_step < it_.highest ? kAgain : kTraining;
}

void RunTeller::pass_until(Seconds at) {
  const Seconds now = std::max(it_.now, at);
  const Seconds passed = now - it_.now;
  const Doing what = doing();
  it_.times[what] += passed;
  // The cost of each machine is assigned to the present activity, by its price.
  if (!rate_) {
    rate_.emplace();
    for (const std::size_t place : up_) *rate_ += it_.vms[place].price;
  }
  it_.costs[what] += *rate_ * passed;
  it_.now = now;
}

/// No worker trained since the last event, and an earlier end of the run does not count.
void RunTeller::resume() {
  it_.broken = true;
  it_.outcome.reset();
  it_.reason.clear();
}

void RunTeller::keep_lines(const Supervisor& supervisor, const RunMoment& moment) {
  for (StoryLine& line : lines_of(supervisor, moment)) {
    it_.lines.push_back({.at = line.at, .text = std::move(line.text), .saved = line.saved});
  }
  it_.lines_before += drop_oldest(it_.lines, kLinesKept);
}

bool RunTeller::trains_on(int vm) const {
  if (it_.attempts.empty()) return false;
  const std::vector<int>& vms = it_.attempts.back().vms;
  return std::find(vms.begin(), vms.end(), vm) != vms.end();
}

ToldVm* RunTeller::find(int vm) {
  const auto found = places_.find(vm);
  return found == places_.end() ? nullptr : &it_.vms[found->second];
}

void RunTeller::come(int vm, const RunVm& it) {
  if (find(vm) != nullptr) return;
  places_[vm] = it_.vms.size();
  up_.push_back(it_.vms.size());
  rate_.reset();
  it_.vms.push_back({.number = vm,
                     .type = machine_type(it),
                     .market = it.market,
                     .price = it.price,
                     .from = it_.now});
}

/// A machine with an interruption notice counts as interrupted, even if it is released before.
void RunTeller::announce(int vm) {
  ToldVm* it = find(vm);
  if (it != nullptr && !it->until) it->taken = true;
}

void RunTeller::go(int vm, bool taken) {
  ToldVm* it = find(vm);
  if (it == nullptr || it->until) return;
  it->until = it_.now;
  it->taken = it->taken || taken;
  it_.losses += it->taken ? 1 : 0;
  up_.erase(std::find(up_.begin(), up_.end(), places_[vm]));
  rate_.reset();
}

void RunTeller::bill(const RunEvent& event) {
  ToldVm* it = find(*event.vm);
  if (it == nullptr) return;
  it->billed = event.duration.value_or(Seconds{});
  it->cost = event.cost.value_or(Dollars{});
}

void RunTeller::change_prices(const Supervisor& supervisor) {
  for (const std::size_t place : up_) {
    ToldVm& vm = it_.vms[place];
    vm.price = supervisor.vms()[static_cast<std::size_t>(vm.number)].price;
  }
  rate_.reset();
}

void RunTeller::begin(const RunEvent& event) {
  StoryAttempt& last = it_.attempts.back();
  if (event.attempt != last.number || last.training) return;
  last.training = it_.now;
  last.from_step = event.step.value_or(0);
  last.to_step = last.from_step;
  it_.redone += std::max<std::int64_t>(0, it_.highest - last.from_step);
}

void RunTeller::step(const RunEvent& event) {
  StoryAttempt& last = it_.attempts.back();
  if (event.attempt != last.number || !event.step) return;
  last.to_step = std::max(last.to_step, *event.step);
  it_.highest = std::max(it_.highest, *event.step);
  last.until = it_.now;
  if (!event.duration) return;
  it_.steps.add(*event.duration);
  last.steps += event.steps.value_or(1);
}

void RunTeller::act(const RunAction& action, std::optional<Seconds> predicted) {
  if (action.kind == Act::kRelease) go(action.vm, false);
  if (action.kind == Act::kTrain) begin_attempt(action, predicted);
  if (action.kind == Act::kFinish) {
    it_.outcome = action.outcome;
    it_.reason = action.reason;
  }
}

void RunTeller::begin_attempt(const RunAction& action, std::optional<Seconds> predicted) {
  std::vector<StoryAttempt>& all = it_.attempts;
  if (!all.empty()) all.back().measured = it_.steps.median();
  it_.steps = {};
  it_.broken = false;
  all.push_back({.number = action.attempt,
                 .vms = action.vms,
                 .ordered = it_.now,
                 .until = it_.now,
                 .predicted = predicted.value_or(Seconds{})});
  if (all.size() > kAttemptsWithVms) all[all.size() - 1 - kAttemptsWithVms].vms.clear();
  it_.attempts_before += drop_oldest(all, kAttemptsKept);
}

RunStory RunTeller::story(const Supervisor& supervisor) const {
  RunStory story{.outcome = it_.outcome,
                 .reason = it_.reason,
                 .time = it_.now,
                 .steps = supervisor.terms().steps,
                 .reached = supervisor.reached(),
                 .saved = supervisor.saved(),
                 .plain = supervisor.plain(),
                 .cost = supervisor.cost(),
                 .vms = {},
                 .attempts = it_.attempts,
                 .parts = {},
                 .lines = {},
                 .lines_before = it_.lines_before,
                 .saves = it_.saves,
                 .save_time = it_.save_times.median(),
                 .losses = it_.losses,
                 .redone = it_.redone};
  if (!story.attempts.empty()) story.attempts.back().measured = it_.steps.median();
  for (const ToldLine& line : it_.lines) {
    story.lines.push_back({.at = line.at, .text = line.text, .saved = line.saved});
  }
  for (const ToldVm& vm : it_.vms) {
    const bool billed = vm.cost > Dollars{};
    const Seconds time =
        billed ? vm.billed.value_or(Seconds{}) : vm.until.value_or(it_.now) - vm.from;
    story.vms.push_back({.name = vm_name(vm.number),
                         .type = vm.type,
                         .market = vm.market,
                         .from = vm.from,
                         .until = vm.until,
                         .billed = time,
                         .cost = billed ? vm.cost : vm.price * time,
                         .taken = vm.taken});
  }
  constexpr const char* kNames[kDoings] = {"training", "repeating lost steps", "start-up",
                                           "stalled"};
  Dollars sum;
  for (const Dollars cost : it_.costs) sum += cost;
  for (int i = 0; i < kDoings; ++i) {
    // The parts are scaled, since the provider's clock and ours differ a little.
    const auto part = static_cast<std::size_t>(i);
    const Dollars cost = sum > Dollars{} ? it_.costs[part] / sum * story.cost : Dollars{};
    story.parts.push_back({.name = kNames[i], .time = it_.times[part], .cost = cost});
  }
  return story;
}

}  // namespace stint
