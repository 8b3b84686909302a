// The machines of the runner: looks at the cloud, retries, releases. Its other actions are in
// runner.cc.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "base/process.h"
#include "base/text.h"
#include "run/runner.h"

namespace stint {
namespace {

using Event = RunEventKind;

// Between two calls to a cloud that fails.
constexpr Seconds kPauseMin = 200 * kMillisecond;
constexpr Seconds kPauseMax = 10 * kSecond;
// A cloud that does not answer for longer ends the run: training needs no answers, but interruption
// notices and prices go unheard.
constexpr Seconds kPatience = 10 * kMinute;
// The same while nothing trains.
constexpr Seconds kPatienceIdle = 1 * kMinute;
// At the end of the run, for machines whose release fails.
constexpr Seconds kReleasePatience = 1 * kMinute;
// A machine that is not listed this many times in a row is lost.
constexpr int kMissingMax = 3;
// A release that fails once may concern a machine that was never there, which the next look shows.
constexpr int kFailuresTold = 2;

/// The pause grows with each failure in a row.
Seconds pause_after(int failures) {
  return std::min(kPauseMax, kPauseMin * std::exp2(std::min(failures, 10)));
}

}  // namespace

/// Whether the cloud answered.
bool Runner::look_at_cloud() {
  looked_ = now();
  const auto status = ask_for_status();
  if (!status.ok()) return false;
  for (const VmStatus& vm : status->vms) look_at(vm);
  reconcile(*status);
  if (status->spot_capacity != capacity_) {
    capacity_ = status->spot_capacity;
    happen({.kind = Event::kCapacity, .count = capacity_});
  }
  for (const VmStatus& vm : status->vms) look_at_price(vm);
  release_owed();
  for (const Failure& one : std::exchange(unchecked_, {})) judge_end(one.vm, one.code);
  return true;
}

Result<ClusterStatus> Runner::ask_for_status() {
  const Seconds begin = now();
  auto status = cloud_.status();
  if (!status.ok()) {
    on_cloud_failure(status.error(), now() - begin);
  } else if (trouble_) {
    happen({.kind = Event::kRemark,
            .reason = fmt::format("The cloud answers again, after {}.",
                                  rounded(now() - trouble_->since))});
    trouble_.reset();
  }
  return status;
}

void Runner::on_cloud_failure(const Error& error, Seconds call) {
  const Seconds limit = gang_.training() && unchecked_.empty() ? kPatience : kPatienceIdle;
  if (!trouble_) {
    trouble_ = CloudTrouble{.since = now(), .waited = {}, .retry_at = {}};
    happen({.kind = Event::kRemark,
            .reason = fmt::format("The cloud does not answer ({}); retrying for up to {}.",
                                  error.message, rounded(limit))});
  }
  if (trouble_->failures > 0) trouble_->waited += pause_after(trouble_->failures);
  trouble_->waited += call;
  trouble_->retry_at = now() + pause_after(++trouble_->failures);
  if (trouble_->waited <= limit) return;
  fail({error.kind, fmt::format("the cloud did not answer for {} ({}); continue with 'stint run "
                                "--resume {}' once it does",
                                rounded(limit), error.message, shell_quoted(setup_.record.name))});
}

Seconds Runner::next_look() const { return trouble_ ? trouble_->retry_at : looked_ + kLook; }

/// The machines that a new process finds.
Result<ClusterStatus> Runner::first_status() {
  while (true) {
    auto status = ask_for_status();
    if (status.ok()) return status;
    if (failure_) return *failure_;
    while (now() < next_look()) (void)crew_.wait(kLook / 4);
  }
}

/// Compares what the cloud has with what the supervisor believes to have.
void Runner::reconcile(const ClusterStatus& status) {
  const auto& known = supervisor_.vms();
  std::set<int> listed;
  std::set<int> running;
  for (const VmStatus& vm : status.vms) {
    const int number = number_of(vm.name);
    if (number < 0) continue;
    listed.insert(number);
    const bool unknown = number >= static_cast<int>(known.size());
    if (vm.phase == VmPhase::kTaken) {
      // The bill of a machine that was unknown is read once its number is in use.
      if (!unknown && strangers_.contains(number))
        machines_.try_emplace(number, Machine{.gone = true});
      continue;
    }
    running.insert(number);
    if (!unknown && known[static_cast<std::size_t>(number)].phase != RunVmPhase::kGone) continue;
    if (unknown && strangers_.insert(number).second) {
      happen({.kind = Event::kRemark,
              .reason = fmt::format("{} is up, though the journal does not know it: it is released "
                                    "(cost so far: {:.4f} USD).",
                                    vm.name, vm.cost.in(kDollar))});
    }
    owed_.try_emplace(number);
  }
  std::erase_if(owed_, [&](const auto& one) { return !running.contains(one.first); });
  for (auto& [vm, machine] : machines_) {
    if (machine.gone) continue;
    machine.missing = listed.contains(vm) ? 0 : machine.missing + 1;
    if (machine.missing < kMissingMax) continue;
    machine.gone = true;
    crew_.end_all_on(vm);
    note({.vm_lost = VmEvent{.vm = vm_name(vm), .reason = "no longer listed"}});
    happen({.kind = Event::kVmLost, .vm = vm, .reason = "the cloud no longer lists it"});
  }
}

void Runner::release(int vm) {
  crew_.end_all_on(vm);
  machines_[vm].gone = true;
  owed_.try_emplace(vm);
  release_owed();
}

/// A release that fails is tried again, with growing pauses, until the machine is gone.
void Runner::release_owed() {
  for (auto it = owed_.begin(); it != owed_.end();) {
    auto& [vm, owed] = *it;
    if (now() < owed.retry_at) {
      ++it;
      continue;
    }
    const auto status = cloud_.release(vm_name(vm));
    if (status.ok()) {
      if (vm < static_cast<int>(supervisor_.vms().size())) machines_[vm].gone = true;
      if (const auto found = find_vm(*status, vm_name(vm)); found.ok()) look_at(**found);
      it = owed_.erase(it);
      continue;
    }
    owed.reason = status.error().message;
    owed.retry_at = now() + pause_after(++owed.failures);
    if (owed.failures == kFailuresTold) {
      happen({.kind = Event::kRemark,
              .reason = fmt::format("{} could not be released ({}); retrying.", vm_name(vm),
                                    owed.reason)});
    }
    ++it;
  }
}

/// At the end of the run: releases what could not be released before, and tells what remains.
void Runner::settle() {
  const Seconds until = now() + kReleasePatience;
  while (!owed_.empty() && now() < until && StopSignals::take() == 0) {
    (void)crew_.wait(kLook / 4);
    if (now() >= next_look()) (void)look_at_cloud();
    release_owed();
  }
  for (const auto& [vm, owed] : owed_) {
    happen(
        {.kind = Event::kRemark,
         .reason = fmt::format("{} may still be running and cost money: its release failed ({}). "
                               "If 'stint status' lists it, release it with 'stint stop {}'.",
                               vm_name(vm), owed.reason, shell_quoted(setup_.record.name))});
  }
  handle_queue();
}

void Runner::look_at_price(const VmStatus& vm) {
  const int number = number_of(vm.name);
  if (vm.market != Market::kSpot || vm.phase == VmPhase::kTaken || !machines_.contains(number)) {
    return;
  }
  const std::string& type = supervisor_.vms()[static_cast<std::size_t>(number)].type;
  const auto known = prices_.find(type);
  const DollarsPerSecond planned = machines_[number].kind.spot;
  const DollarsPerSecond before = known == prices_.end() ? planned : known->second;
  prices_[type] = vm.price;
  if (vm.price == before) return;
  happen({.kind = Event::kPrices, .type = type, .spot = vm.price});
}

void Runner::look_at(const VmStatus& vm) {
  const int number = number_of(vm.name);
  const auto found = machines_.find(number);
  if (found == machines_.end()) return;
  Machine& machine = found->second;
  if (vm.phase == VmPhase::kNoticed && !machine.noticed && !machine.gone) {
    machine.noticed = true;
    note({.notice = VmEvent{.vm = vm.name, .reason = {}, .grace = vm.takes_in}});
    happen({.kind = Event::kNotice, .vm = number, .duration = vm.takes_in});
  }
  if (vm.phase != VmPhase::kTaken) return;
  if (!machine.gone) {
    machine.gone = true;
    crew_.end_all_on(number);
    note({.vm_lost = VmEvent{.vm = vm.name, .reason = "taken back"}});
    happen({.kind = Event::kVmLost, .vm = number});
  }
  if (machine.billed) return;
  machine.billed = true;
  note({.charge = Charge{.amount = vm.cost, .reason = vm.name}});
  happen({.kind = Event::kBilled, .vm = number, .duration = vm.age, .cost = vm.cost});
}

int Runner::number_of(const std::string& name) {
  if (!name.starts_with("vm")) return -1;
  return parse_int(name.substr(2)).value_or(0) - 1;
}

}  // namespace stint
