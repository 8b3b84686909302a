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
  Seconds unpaid;            // Of it, in which machines are missing: in full clusters.
  Dollars replacements;      // What on-demand machines in place of lost ones cost more.
  DollarsPerSecond anchors;  // Machines that only keep checkpoints.
  DollarsPerSecond storage;
  std::optional<SaveCost> save;  // Absent without spot machines.
  double returns = 1;            // Share of losses that return the run to its last save.
  bool fits_in_notice = false;   // Of every pool that it uses.
};

/// What a run of so much undisturbed work takes at least.
struct LeastRun {
  Seconds work;
  Dollars work_cost;  // Of its VMs for that long.
  Seconds time;       // With start-up and what losses cost in any case.
  Dollars cost;
};

/// What the loss of spot machines means for a plan: the approximation, in closed form, of what the
/// rehearsal of its run shows (see supervise/rehearsal_run.h and app/risk/simulate_plan.h, whose
/// tests state how close it is).
///
/// - Machines are lost by their age and replaced by young ones (see risk/loss_count.h), several of
///   a pool together as the prior says (see risk/group_loss.h), those of different pools by
///   themselves.
/// - The workers that are left go on and keep the state. With k of N machines lost, replacements
///   that take S to start and W to come, a pause g to regroup and L to load the state, a loss costs
///   k/N (S + W) + 2 g + L. A notice lets the replacement start earlier.
/// - Where nobody is left with the state, because all machines were lost together or before the
///   first replacement trained, the run returns to its last save and a loss costs S + W + L. So
///   does every loss of a cluster of one machine, and of one that holds each part of the state
///   once; there the loss of any machine also stops training.
/// - A lost machine is replaced from spot, or on demand while spot has none; where on-demand
///   machines are not allowed or have no price, its place stays empty, and costs nothing.
/// - The state is saved at the interval that costs least time, asynchronously and in shards: a
///   worker stalls for the copy of its shard to host memory (see risk/save_cost.h).
///
/// With that, risk/spot_time.h gives time and variance. On-demand machines are not lost. Every run
/// begins with the start-up of its machines.
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
  /// to, and of each machine a start-up, and a wait, is lost in proportion. `rate` is that of the
  /// parts.
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
  /// Interruptions of some VMs of a pool over losses of one, and the share of them that takes all.
  struct Together {
    double events = 0;
    double all = 0;
  };
  Together together(int vms) const;

  /// Interruptions of a run of so much time, sums over them.
  struct Interruptions {
    double count = 0;
    double returns = 0;      // To the last save.
    Seconds recovery;        // Time lost, without redone work,
    Seconds waiting;         // of which so much to waits for spot machines.
    double recovery_square;  // In seconds squared.
    Seconds unpaid;
    Dollars replacements;
  };
  void interrupt(const Config& config, const Part& part, const SaveCost& save, Interruptions& sum,
                 LossBelief belief, Seconds time) const;

  const LossCount& losses(const Rental& rental, LossBelief belief) const {
    return (*rental.spot->losses)[static_cast<std::size_t>(belief)];
  }
  Dollars dearer(const Rental& rental, double within) const;
  Seconds starting(const Rental& rental) const;
  SaveSetup setup(const Config& config) const;

  /// What the bounds ask of a rental, millions of times.
  struct Floor {
    bool spot = false;
    PerSecond losses;  // Of one VM, at least.
    Dollars dearer;    // Of each loss,
    Dollars filling;   // and where an on-demand machine fills the place.
    Seconds starting;
    bool waits = false;
  };

  const PlanQuestion& question_;
  const Space& space_;
  std::vector<Floor> floors_;       // By rental.
  std::vector<Together> together_;  // By VMs.
  Bytes bytes_;
  bool assumes_bytes_ = false;
};

/// Where a save fits into the notice, losses that come without one all the same: machines fail, and
/// notices are best effort. Nobody publishes how often.
inline constexpr double kLossesUnannounced = 0.1;

}  // namespace stint
