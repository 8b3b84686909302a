#pragma once

#include <optional>
#include <string>
#include <vector>

#include "supervise/run_terms.h"

namespace stint {

enum class RunVmPhase { kAsked, kUp, kNoticed, kGone };

/// A machine, from the moment it is asked for. Its number is its place in the list.
struct RunVm {
  int slot = 0;
  std::string type = {};
  bool trains = true;  // Else it holds checkpoints.
  Market market = Market::kOnDemand;
  RunVmPhase phase = RunVmPhase::kAsked;
  DollarsPerSecond price;
  Seconds asked;
  Seconds since;                       // It costs `price` from here on.
  Dollars charged;                     // Until then.
  std::optional<Dollars> billed = {};  // What its provider counted in the end.
  std::optional<Seconds> goes = {};    // When it is taken back, once that is known.
  bool leaving = false;                // The present plan has no slot for it.
};

/// All machines of a run and what they cost. A machine costs from the moment it is up until it is
/// gone, by our own count; what its provider says afterwards counts instead.
class RunVms {
 public:
  /// The number of a machine that is asked for now.
  int ask(const RunSlot& slot, int number, Market market, Seconds now);

  void come(int vm, Seconds now);
  void announce(int vm, Seconds goes);
  void end(int vm, Seconds now);
  void bill(int vm, Dollars cost);

  /// Spot machines of this type, or of all, cost so much from now on.
  void change_price(const std::optional<std::string>& type, DollarsPerSecond spot, Seconds now);

  /// Puts machines into the slots of a new plan, by type, then by market; those that are up first.
  /// The others are leaving.
  void move_to(const std::vector<RunSlot>& slots);

  bool knows(int vm) const { return vm >= 0 && vm < static_cast<int>(all_.size()); }
  const RunVm& at(int vm) const { return all_[static_cast<std::size_t>(vm)]; }
  const std::vector<RunVm>& all() const { return all_; }
  const std::vector<int>& present() const { return present_; }  // Those that are not gone.

  /// The machine of this market that has the slot, asked for or up; one that is up comes first.
  std::optional<int> of(int slot, Market market) const;

  Dollars cost(Seconds now) const;
  DollarsPerSecond rate() const;  // Of those that are there or asked for.

 private:
  RunVm& it(int vm) { return all_[static_cast<std::size_t>(vm)]; }

  std::vector<RunVm> all_;
  std::vector<int> present_;
  Dollars past_;  // What those that are gone have cost.
};

/// Asked for, or there to stay.
inline bool is_held(const RunVm& vm) {
  return vm.phase == RunVmPhase::kAsked || vm.phase == RunVmPhase::kUp;
}

/// There, if not to stay.
inline bool is_there(const RunVm& vm) {
  return vm.phase == RunVmPhase::kUp || vm.phase == RunVmPhase::kNoticed;
}

}  // namespace stint
