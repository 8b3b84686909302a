#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/units.h"
#include "risk/group_loss.h"
#include "risk/hazard.h"

namespace stint {

inline constexpr Seconds kNever = std::numeric_limits<double>::infinity() * kSecond;

/// The spot capacity from some time on.
struct CapacityChange {
  Seconds at;  // Since the run began.
  int machines = 0;
};

/// The spot price from some time on.
struct PriceChange {
  Seconds at;                            // Since the run began.
  std::optional<std::string> type = {};  // VM type; absent: all.
  DollarsPerSecond spot;
};

/// Equal spot machines, and what becomes of them.
struct RehearsedPool {
  Hazard hazard = Hazard::constant({});  // Of one machine, by the time since it was granted.
  GroupLoss group = {};                  // How many are lost with it.
  double missing = 0;   // Share of losses after which spot has no machine in the place of the lost,
  Seconds missing_for;  // for an exponential time of this mean.
};

/// The world of a simulated run. Times are the real ones, whereas the terms have the planned ones.
struct RehearsalWorld {
  std::vector<RehearsedPool> pools = {};  // None: spot machines stay.
  // The pool of each slot's spot machines; absent: they stay. Empty: all draw from the first.
  std::vector<std::optional<int>> pool_of_slot = {};
  Seconds notice;                  // Spot interruption notice.
  double without_notice = 0;       // Share of interruptions that come without it.
  Seconds launch = 40 * kSecond;   // From the request of a machine until it is up,
  Seconds join = 20 * kSecond;     // until one or two new workers train,
  Seconds join_deviation = {};     // its deviation from start to start (log-normal),
  Seconds join_more = {};          // and the extra time of each further one,
  bool state_is_split = false;     // A lost machine takes its part of the state along.
  Seconds regroup = 10 * kSecond;  // and until the surviving workers train;
  Seconds hand_over = {};          // extra time of these beside new workers,
  Seconds restore = {};            // and where new workers load a state.
  Seconds save = 10 * kSecond;     // Until a checkpoint is safe,
  Seconds save_order = {};  // of which until workers obey the order; at the end they wait for it.
  Seconds save_stall;       // Stall of training for a checkpoint.
  Seconds shutdown = {};    // From the last step until the scripts end and the VMs are released.
  double slowness = 1;      // Mean of step time over predicted step time,
  double slowness_deviation = 0;  // its standard deviation between runs (log-normal),
  double step_noise = 0;          // and its standard deviation between steps.

  /// Capacity of spot machines: as listed, from the beginning again after `lap`; else in spells of
  /// these means (exponential) in which all or none are available, else unlimited.
  std::vector<CapacityChange> capacity = {};
  std::optional<Seconds> lap = {};  // Absent: the last entry stays.
  std::optional<Seconds> plenty = {};
  Seconds dearth = {};

  std::vector<PriceChange> prices = {};  // In the order of their times.
};

/// The spot market of one rehearsal. Each machine has random numbers of its own, so that two
/// rehearsals of a seed interrupt a machine of the same number alike, whatever their terms.
class RehearsalMarket {
 public:
  /// The world must outlive it; `began` is the time of the run at which the rehearsal begins, and
  /// its times count from there. `slots` is the number of slots.
  RehearsalMarket(const RehearsalWorld& world, Seconds began, std::size_t slots,
                  const Random& random);

  /// When a machine that comes now is lost, and its notice. Infinite: never.
  struct Fate {
    Seconds noticed;
    Seconds taken;
  };
  Fate fate(int vm, int slot, Seconds now) const;

  /// The notice of an interruption of the machine; zero: none.
  Seconds notice(int vm) const;

  /// Which of the `others`, machines of its pool that are up, are lost together with `vm`.
  std::vector<int> lost_beside(int vm, int slot, std::vector<int> others) const;

  /// The place of a lost machine may stay empty for a time.
  void vacate(int vm, int slot, Seconds now);

  /// Whether a machine for the slot can be had, while `held` spot machines are held.
  bool has(int slot, int held, Seconds now) const;

  bool same_pool(int slot, int other) const { return pool(slot) == pool(other); }

  bool capacity_known() const;
  int capacity() const { return capacity_; }
  Seconds next_change() const { return next_change_; }
  void change_capacity(Seconds now);

  Seconds next_price() const;
  const PriceChange& change_price();  // The change that is due, whose time is that of the run.

 private:
  const RehearsedPool* pool(int slot) const;  // Null: its machines stay.
  Random random_of(int vm) const;
  void find_next_change(Seconds now);

  const RehearsalWorld& world_;
  Seconds began_;
  Random random_;
  Random spells_;
  std::vector<double> alone_;         // By slot: interruptions per loss, the inverse of their size.
  std::vector<Seconds> empty_until_;  // By slot.
  int capacity_ = std::numeric_limits<int>::max();
  std::size_t changed_ = 0;  // Changes of the capacity so far, in this lap.
  Seconds lap_began_;
  Seconds next_change_;
  std::size_t priced_ = 0;
};

}  // namespace stint
