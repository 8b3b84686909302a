#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "optimise/space.h"
#include "risk/save_cost.h"
#include "risk/spot_time.h"

namespace stint {

/// VMs of one rental in a cluster.
struct Part {
  int rental = 0;
  int vms = 1;
  int workers_per_vm = 1;

  bool operator==(const Part&) const = default;
};

/// Where checkpoints go.
struct SaveChoice {
  CheckpointPlace place = CheckpointPlace::kObjectStore;
  int receivers = 0;  // Machines of a tier.

  bool operator==(const SaveChoice&) const = default;
};

/// One thing to rent and one way to run the job on it.
struct Config {
  std::array<Part, 2> parts;  // The first `kinds` of them count.
  int kinds = 1;
  int choice = 0;        // Index into the choices of batch.
  int accumulation = 1;  // Divides the global batch.
  Collective collective = Collective::kRing;
  SaveChoice save = {};  // Of no meaning without spot machines.

  std::span<const Part> used() const { return {parts.data(), static_cast<std::size_t>(kinds)}; }
  bool operator==(const Config&) const = default;
};

/// The ways to save that a configuration has.
struct SaveChoices {
  std::array<SaveChoice, 4> all;
  std::size_t count = 0;

  void add(const SaveChoice& choice) { all[count++] = choice; }
  const SaveChoice* begin() const { return all.data(); }
  const SaveChoice* end() const { return all.data() + count; }
};

/// Which of the loss rates that are believed.
enum class LossBelief { kLow, kTypical, kHigh };

/// How long a configuration is expected to run, and what that costs beside its VMs.
struct RiskedRun {
  SpotTime time;
  Dollars replacements;      // What on-demand machines in place of lost ones cost more.
  DollarsPerSecond anchors;  // Machines that only keep checkpoints.
  DollarsPerSecond storage;
  std::optional<SaveCost> save;  // Absent without spot machines.
  double without_notice = 1;     // Share of losses before which no save is possible.
};

/// What a run of so much undisturbed work takes at least.
struct LeastRun {
  Seconds work;
  Dollars work_cost;  // Of its VMs for that long.
  Seconds time;       // With start-up and what losses cost in any case.
  Dollars cost;
};

/// What the loss of spot machines means for a plan, by its analytic model (see risk/spot_time.h):
///
/// - all machines are needed to train, and a loss of any of them stops training;
/// - machines of one pool are lost together as the prior says (see risk/group_loss.h), those of
///   different pools by themselves;
/// - a lost machine is replaced from spot, or on demand while spot has none; where on-demand
///   machines are not allowed or have no price, the cluster waits;
/// - the state is saved at the interval that costs least time, asynchronously and in shards: a
///   worker stalls for the copy of its shard to host memory (see risk/save_cost.h).
///
/// On-demand machines are not lost. Every run begins with the start-up of its machines.
class SpotRisk {
 public:
  /// Both must outlive it.
  SpotRisk(const PlanQuestion& question, const Space& space);

  bool has_spot(const Config& config) const;

  /// The ways to save; a configuration without spot machines has the one without saves.
  SaveChoices choices(const Config& config) const;

  /// The run of so much undisturbed work. Nothing where a save would hardly ever be safe before the
  /// next loss, so that the work takes more than kWorkTimesMax times as long.
  std::optional<RiskedRun> run(const Config& config, Seconds work, LossBelief belief) const;

  /// What no way to save undercuts: losses come at least as often as the work alone gives them time
  /// to, and each costs a start-up. `rate` is that of the parts.
  LeastRun least(std::span<const Part> parts, DollarsPerSecond rate, Seconds work) const;

  /// What a VM of the rental costs at least per second of work, in any cluster.
  DollarsPerSecond price_floor(int rental) const;

  /// Bytes of a checkpoint, and whether they were assumed.
  Bytes checkpoint_bytes() const { return bytes_; }
  bool assumes_bytes() const { return assumes_bytes_; }

 private:
  const Rental& rental(const Part& part) const {
    return space_.rentals[static_cast<std::size_t>(part.rental)];
  }
  BytesPerSecond network(const Part& part) const;
  DollarsPerSecond dearer(const Rental& rental, PerSecond loss_rate) const;
  Seconds recovery_min(const Rental& rental) const;
  SaveSetup setup(const Config& config) const;

  /// What the bounds ask of a rental, millions of times.
  struct Floor {
    bool spot = false;
    PerSecond losses;         // Of one VM.
    DollarsPerSecond dearer;  // Of one VM.
    Seconds recovery;
  };

  const PlanQuestion& question_;
  const Space& space_;
  std::vector<Floor> floors_;   // By rental.
  std::vector<double> events_;  // Losses of any of so many VMs over those of one.
  Bytes bytes_;
  bool assumes_bytes_ = false;
};

/// How often a spot pool has no machine for one that was lost, and for how long: the middle of what
/// AWS GPU pools showed in 2022 (Wu et al., NSDI'24: available 12 to 90 % of the time, down for 0.5
/// to 5 hours on average).
inline constexpr double kSpotMissing = 0.5;
inline constexpr Seconds kSpotMissingFor = 1.6 * kHour;

/// Where a save fits into the notice, losses that come without one all the same: machines fail, and
/// notices are best effort. Nobody publishes how often.
inline constexpr double kLossesUnannounced = 0.1;

}  // namespace stint
