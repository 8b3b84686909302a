// The machines of the runner: what its provider says of them. Its other actions are in runner.cc.
#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "base/process.h"
#include "base/random.h"
#include "base/text.h"
#include "run/runner.h"

namespace stint {
namespace {

using Event = RunEventKind;

// A provider that does not answer for longer ends the run: training needs no answers, but
// interruption notices and prices go unheard.
constexpr Seconds kPatience = 10 * kMinute;
// The same while nothing trains.
constexpr Seconds kPatienceIdle = 1 * kMinute;
constexpr Seconds kRoundMax = 5 * kSecond;  // A longer one was a suspend.
// At the end of the run, for machines whose release fails.
constexpr Seconds kReleasePatience = 1 * kMinute;
// A machine that is missing in so many lists in a row is lost.
constexpr int kMissingMax = 3;
// A release that fails once may concern a machine that was never there, which the next list shows.
constexpr int kFailuresTold = 2;

}  // namespace

void Runner::observe() {
  const ProviderNews news = provider_.observe();
  note_silence(news.trouble);
  for (const MachineRefusal& refused : news.refused) {
    happen(
        {.kind = Event::kLaunchRefused, .vm = number_of(refused.name), .reason = refused.reason});
  }
  note_owed(news.owed);
  if (news.list) read_list(*news.list, news.listed_at);
}

void Runner::read_list(const MachineList& list, Seconds listed_at) {
  for (const MachineState& state : list.machines) look_at(state);
  reconcile(list);
  if (list.spot_capacity != capacity_) {
    capacity_ = list.spot_capacity;
    happen({.kind = Event::kCapacity, .count = capacity_});
  }
  for (const MachineState& state : list.machines) look_at_price(state);
  judge_ends(listed_at);
}

void Runner::note_silence(const std::optional<EngineTrouble>& trouble) {
  if (!trouble) {
    if (!silence_) return;
    happen({.kind = Event::kRemark,
            .reason = fmt::format("The cloud answers again, after {}.",
                                  rounded(now() - silence_->since))});
    return silence_.reset();
  }
  const Error& error = trouble->error;
  const Seconds limit = gang_.training() && unchecked_.empty() ? kPatience : kPatienceIdle;
  if (!silence_) {
    silence_ = Silence{.since = now(), .waited = {}, .seen = now()};
    happen({.kind = Event::kRemark,
            .reason = fmt::format("The cloud does not answer ({}); retrying for up to {}.",
                                  error.message, rounded(limit))});
  }
  const Seconds round = now() - std::exchange(silence_->seen, now());
  if (round < kRoundMax) silence_->waited += round;
  if (silence_->waited <= limit) return;
  fail({error.kind, fmt::format("the cloud did not answer for {} ({}); continue with 'stint run "
                                "--resume {}' once it does",
                                rounded(limit), error.message, shell_quoted(setup_.record.name))});
}

/// The machines that a new process finds.
Result<MachineList> Runner::first_list() {
  while (!failure_) {
    ProviderNews news = provider_.observe();
    note_silence(news.trouble);
    if (news.list) return std::move(*news.list);
    (void)crew_.wait(kRound);
  }
  return *failure_;
}

void Runner::take_over_machines(const MachineList& list) {
  const auto& vms = supervisor_.vms();
  std::set<int> there;
  for (const MachineState& state : list.machines) {
    const int vm = number_of(state.name);
    if (vm < 0 || vm >= static_cast<int>(vms.size())) continue;
    const RunVm& known = vms[static_cast<std::size_t>(vm)];
    const bool gone = state.phase == MachinePhase::kGone;
    const bool up = !gone && state.phase != MachinePhase::kPending;
    const RunMachines* kind = kind_of(plan_, known);
    // The bill of a machine that ended is read with the next list.
    machines_[vm] = {.kind = kind == nullptr ? RunMachines{} : *kind,
                     .address = state.address,
                     .up = up,
                     .gone = gone,
                     .billed = known.billed.has_value()};
    if (gone) continue;
    there.insert(vm);
    if (up) happen({.kind = Event::kVmUp, .vm = vm});
  }
  for (int vm = 0; vm < static_cast<int>(vms.size()); ++vm) {
    const RunVm& known = vms[static_cast<std::size_t>(vm)];
    if (known.phase == RunVmPhase::kGone || there.contains(vm)) continue;
    const RunMachines* kind = kind_of(plan_, known);
    if (known.phase == RunVmPhase::kAsked && kind != nullptr) {
      // The process may have ended before it asked. Orders of one name are one order.
      machines_[vm] = {.kind = *kind};
      provider_.request(order_for(vm));
    } else {
      happen({.kind = Event::kVmLost, .vm = vm, .reason = "not found after the restart"});
    }
  }
}

/// Compares the machines that there are with what the supervisor believes to have.
void Runner::reconcile(const MachineList& list) {
  const auto& known = supervisor_.vms();
  std::set<int> listed;
  for (const MachineState& state : list.machines) {
    const int vm = number_of(state.name);
    if (vm < 0) continue;
    listed.insert(vm);
    const bool unknown = vm >= static_cast<int>(known.size());
    if (state.phase == MachinePhase::kGone) {
      // The bill of a machine that was unknown is read once its number is in use.
      if (!unknown && strangers_.contains(vm)) machines_.try_emplace(vm, Machine{.gone = true});
      continue;
    }
    if (!unknown && known[static_cast<std::size_t>(vm)].phase != RunVmPhase::kGone) continue;
    if (unknown && strangers_.insert(vm).second) {
      happen({.kind = Event::kRemark,
              .reason = fmt::format("{} is up, though the journal does not know it: it is released "
                                    "(cost so far: {:.4f} USD).",
                                    state.name, state.cost.value_or(Dollars{}).in(kDollar))});
    }
    provider_.release(state.name);
  }
  for (auto& [vm, machine] : machines_) {
    if (machine.gone || !machine.up) continue;
    machine.missing = listed.contains(vm) ? 0 : machine.missing + 1;
    if (machine.missing < kMissingMax) continue;
    machine.gone = true;
    crew_.end_all_on(vm);
    note({.vm_lost = VmEvent{.vm = vm_name(vm), .reason = "no longer listed"}});
    happen({.kind = Event::kVmLost, .vm = vm, .reason = "the cloud no longer lists it"});
  }
}

MachineOrder Runner::order_for(int vm) const {
  const RunVm& wanted = supervisor_.vms()[static_cast<std::size_t>(vm)];
  const RunMachines& kind = machines_.at(vm).kind;
  const bool spot = wanted.market == Market::kSpot;
  MachineOrder order{.name = vm_name(vm),
                     .type = kind.type,
                     .market = wanted.market,
                     .network = kind.network,
                     .price = spot ? kind.spot : kind.on_demand};
  if (spot && setup_.record.life) {
    Random chance =
        Random(static_cast<std::uint64_t>(setup_.record.seed)).fork(static_cast<std::uint64_t>(vm));
    order.life = *setup_.record.life * chance.exponential();
  }
  return order;
}

void Runner::release(int vm) {
  crew_.end_all_on(vm);
  machines_[vm].gone = true;
  provider_.release(vm_name(vm));
}

void Runner::note_owed(std::vector<OwedRelease> owed) {
  owed_ = std::move(owed);
  for (const OwedRelease& release : owed_) {
    if (release.failures < kFailuresTold || !told_owed_.insert(release.name).second) continue;
    happen({.kind = Event::kRemark,
            .reason = fmt::format("{} could not be released ({}); retrying.", release.name,
                                  release.reason)});
  }
}

/// At the end of the run: waits until its releases are confirmed, and tells what remains.
void Runner::settle() {
  const Seconds until = now() + kReleasePatience;
  for (observe(); !owed_.empty() && now() < until && StopSignals::take() == 0; observe()) {
    (void)crew_.wait(kRound);
  }
  for (const OwedRelease& release : owed_) {
    happen(
        {.kind = Event::kRemark,
         .reason = fmt::format("{} may still be running and cost money: its release failed ({}). "
                               "If 'stint status' lists it, release it with 'stint stop {}'.",
                               release.name, release.reason, shell_quoted(setup_.record.name))});
  }
  handle_queue();
}

void Runner::look_at_price(const MachineState& state) {
  const int vm = number_of(state.name);
  const auto found = machines_.find(vm);
  if (state.market != Market::kSpot || found == machines_.end() || !found->second.up) return;
  if (state.phase == MachinePhase::kGone) return;
  const std::string& type = supervisor_.vms()[static_cast<std::size_t>(vm)].type;
  const auto known = prices_.find(type);
  const DollarsPerSecond planned = found->second.kind.spot;
  const DollarsPerSecond before = known == prices_.end() ? planned : known->second;
  prices_[type] = state.price;
  if (state.price == before) return;
  happen({.kind = Event::kPrices, .type = type, .spot = state.price});
}

void Runner::look_at(const MachineState& state) {
  const int vm = number_of(state.name);
  const auto found = machines_.find(vm);
  if (found == machines_.end()) return;
  Machine& machine = found->second;
  if (state.phase == MachinePhase::kGone) return on_gone(vm, state);
  if (machine.gone) return;
  if (state.phase == MachinePhase::kPending) {
    if (state.reason == machine.waits_for) return;
    machine.waits_for = state.reason;
    return happen(
        {.kind = Event::kRemark, .reason = fmt::format("{} waits: {}.", state.name, state.reason)});
  }
  if (!machine.up) on_up(vm, state);
  if (state.phase != MachinePhase::kNoticed || std::exchange(machine.noticed, true)) return;
  note({.notice = VmEvent{.vm = state.name, .reason = {}, .grace = state.takes_in}});
  happen({.kind = Event::kNotice, .vm = vm, .duration = state.takes_in});
}

void Runner::on_up(int vm, const MachineState& state) {
  Machine& machine = machines_[vm];
  machine.up = true;
  machine.address = state.address;
  note({.vm_up = VmEvent{.vm = state.name, .reason = machine.kind.type}});
  happen({.kind = Event::kVmUp, .vm = vm});
}

/// An engine that counts the cost of a machine is believed; otherwise the times and prices of its
/// events decide, which the supervisor adds up.
void Runner::on_gone(int vm, const MachineState& state) {
  Machine& machine = machines_[vm];
  if (!machine.gone) {
    machine.gone = true;
    crew_.end_all_on(vm);
    note({.vm_lost = VmEvent{.vm = state.name, .reason = "taken back"}});
    happen({.kind = Event::kVmLost, .vm = vm});
  }
  if (machine.billed || !state.cost) return;
  machine.billed = true;
  note({.charge = Charge{.amount = *state.cost, .reason = state.name}});
  happen({.kind = Event::kBilled, .vm = vm, .duration = state.paid, .cost = state.cost});
}

int Runner::number_of(const std::string& name) {
  if (!name.starts_with("vm")) return -1;
  return parse_int(name.substr(2)).value_or(0) - 1;
}

}  // namespace stint
