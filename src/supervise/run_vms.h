#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/codec_fields.h"
#include "supervise/run_terms.h"

namespace stint {

enum class RunVmPhase { kAsked, kUp, kNoticed, kGone };

std::span<const EnumName<RunVmPhase>> names_of(RunVmPhase type);

/// A machine, from its request on. Its number is its index in the list.
struct RunVm {
  int slot = 0;
  std::string type = {};
  bool trains = true;  // Else it holds checkpoints.
  Market market = Market::kOnDemand;
  RunVmPhase phase = RunVmPhase::kAsked;
  DollarsPerSecond price;
  Seconds asked;
  Seconds since;                       // The machine costs `price` from here on.
  Dollars charged;                     // Cost until then.
  std::optional<Dollars> billed = {};  // Total cost by its provider.
  std::optional<Seconds> goes = {};    // Time of the spot interruption, once it is known.
  bool leaving = false;                // The present plan has no slot for it.
};

/// A machine with its number, as a snapshot keeps it.
struct KeptVm {
  int number = 0;
  RunVm vm = {};
};

/// All machines of a run, for a snapshot: those that were lost or released before they cost
/// anything are left out.
struct KeptVms {
  int count = 0;  // Number of machines that were ever requested.
  std::vector<KeptVm> vms = {};
  Dollars past;  // Cost of the machines that were lost or released.
};

/// All machines of a run and their cost. By our own count a machine costs from the moment it is up
/// until it is lost or released; the provider's count replaces ours afterwards.
class RunVms {
 public:
  /// The number of a machine that is requested now.
  int ask(const RunSlot& slot, int number, Market market, Seconds now);

  /// The same for a machine that has the number `vm` already. Numbers that are left out belong to
  /// machines that never were.
  void ask_as(int vm, const RunSlot& slot, int number, Market market, Seconds now);

  void come(int vm, Seconds now);
  void announce(int vm, Seconds goes);
  void end(int vm, Seconds now);
  void bill(int vm, Dollars cost);

  /// Nobody listened for the time until now, so that it does not count as a wait for machines.
  void excuse(Seconds time, Seconds now);

  /// The new spot price of this type, or of all types.
  void change_price(const std::optional<std::string>& type, DollarsPerSecond spot, Seconds now);

  /// Assigns machines to the slots of a new plan, by type, then by market; those that are up first.
  /// The others are leaving.
  void move_to(const std::vector<RunSlot>& slots);

  bool knows(int vm) const { return vm >= 0 && vm < static_cast<int>(all_.size()); }
  const RunVm& at(int vm) const { return all_[static_cast<std::size_t>(vm)]; }
  const std::vector<RunVm>& all() const { return all_; }
  const std::vector<int>& present() const { return present_; }  // Neither lost nor released.

  /// The machine of this market that has the slot, requested or up; one that is up takes
  /// precedence.
  std::optional<int> of(int slot, Market market) const;

  Dollars cost(Seconds now) const;
  DollarsPerSecond rate() const;  // Price of all machines that are up or requested.

  KeptVms kept() const;

  /// Requires what problem(KeptVms) checks.
  static RunVms from(const KeptVms& kept);

 private:
  using Holders = std::array<std::vector<int>, 2>;  // Machines of a slot, by market.

  RunVm& it(int vm) { return all_[static_cast<std::size_t>(vm)]; }
  Holders& holders_of(const RunVm& vm);
  void find_holders();

  std::vector<RunVm> all_;
  std::vector<int> present_;
  // Of each slot, in the order of `present_`, without those that are leaving: with a thousand
  // slots, a search through all machines for each of them would take milliseconds an event.
  std::vector<Holders> by_slot_;
  Dollars past_;  // Cost of the machines that were lost or released.
};

/// Whether the machine is requested, or up without an interruption notice.
inline bool is_held(const RunVm& vm) {
  return vm.phase == RunVmPhase::kAsked || vm.phase == RunVmPhase::kUp;
}

/// Whether the machine is up, even with an interruption notice.
inline bool is_there(const RunVm& vm) {
  return vm.phase == RunVmPhase::kUp || vm.phase == RunVmPhase::kNoticed;
}

// For the codec.
template <class Walk>
void describe(Walk& walk, Like<Walk, KeptVm>& it) {
  walk.field("number", it.number, "VM number.", {.range = Range::kNotNegative});
  walk.field("slot", it.vm.slot, "Number of its slot.", {.range = Range::kNotNegative});
  walk.field("type", it.vm.type, "VM type, with the generation of its plan.");
  walk.field("trains", it.vm.trains, "Whether it trains; else it holds checkpoints.");
  walk.field("market", it.vm.market, "Market that it comes from.");
  walk.field("phase", it.vm.phase, "Requested, up, up with an interruption notice, or gone.");
  walk.number("price_usd_per_s", it.vm.price, kDollar / kSecond, "Present price.");
  walk.number("asked_s", it.vm.asked, kSecond, "When it was requested.");
  walk.number("since_s", it.vm.since, kSecond, "It costs that price from here on.");
  walk.number("charged_usd", it.vm.charged, kDollar, "Cost until then.");
  walk.number("billed_usd", it.vm.billed, kDollar, "Total cost by its provider.");
  walk.number("goes_s", it.vm.goes, kSecond, "Time of the spot interruption, once it is known.");
  walk.field("leaving", it.vm.leaving, "Whether the present plan has no slot for it.");
}

template <class Walk>
void describe(Walk& walk, Like<Walk, KeptVms>& it) {
  walk.field("count", it.count, "Number of VMs that were ever requested.",
             {.range = Range::kNotNegative});
  walk.field("list", it.vms, "Those that are not gone, or that cost something, by number.");
  walk.number("past_usd", it.past, kDollar, "Cost of the VMs that are gone.");
}

std::string problem(const KeptVms& it);

}  // namespace stint
