#pragma once

#include <optional>
#include <string>
#include <vector>

#include "supervise/run_terms.h"

namespace stint {

enum class RunVmPhase { kAsked, kUp, kNoticed, kGone };

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

/// All machines of a run and their cost. By our own count a machine costs from the moment it is up
/// until it is lost or released; the provider's count replaces ours afterwards.
class RunVms {
 public:
  /// The number of a machine that is requested now.
  int ask(const RunSlot& slot, int number, Market market, Seconds now);

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

 private:
  RunVm& it(int vm) { return all_[static_cast<std::size_t>(vm)]; }

  std::vector<RunVm> all_;
  std::vector<int> present_;
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

}  // namespace stint
