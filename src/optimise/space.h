#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/date.h"
#include "optimise/question.h"
#include "risk/loss_count.h"

namespace stint {

/// A VM type with all figures of the job on it.
struct Machine {
  const VmType* type = nullptr;  // In the catalogue.
  ResolvedGroup figures;
  std::vector<int> worker_choices;                  // Workers per VM, rising.
  int batch_max = std::numeric_limits<int>::max();  // Per worker, that memory allows.
  int vms_max = 1;                                  // One where the network is not known.
  SaveLine copy = kHostCopyMeasured;                // Of a worker's state to its host.
  // One VM, where all workers of a cluster hold parts of the model, in the layout that is fastest
  // there: accelerators are too small for a replica, or hold little beside it. A type may be in the
  // space twice, for replicas and for parts.
  std::optional<ShardedCluster> sharded = {};
};

/// Losses of one machine of a pool: at the low end of what is believed, in the middle, and at the
/// high end.
using PoolLosses = std::array<LossCount, 3>;

/// What is known of losing a spot machine.
struct SpotFigures {
  std::shared_ptr<const PoolLosses> losses;   // Thousands of rentals share a few.
  std::optional<DollarsPerSecond> on_demand;  // Price of what can take its place.
  std::optional<Seconds> notice;              // Before it is taken away.
};

/// Machines without accelerator that can keep checkpoints in memory: the best of a place.
struct ReceiverChoice {
  const VmType* type = nullptr;
  DollarsPerSecond price;  // On demand.
  BytesPerSecond network;
};

/// How often a spot pool has no machine for one that was lost, and for how long: the middle of what
/// AWS GPU pools showed in 2022 (Wu et al., NSDI'24: available 12 to 90 % of the time, down for 0.5
/// to 5 hours on average).
inline constexpr Vacancy kSpotMissing{.share = 0.5, .mean = 1.6 * kHour};

/// A machine on a market in a region, with its price.
struct Rental {
  int machine = 0;  // Index into the machines.
  Market market = Market::kOnDemand;
  std::string region;
  DollarsPerSecond price;
  Date date;                   // Of the price.
  double price_deviation = 0;  // Of the logarithm of the price, by its age.
  int vms_max = 1;             // That quotas, the limit on VMs and that on the rate allow.
  std::vector<int> quotas;     // Indexes of those it counts against.
  std::optional<SpotFigures> spot = {};  // On the spot market.
  std::optional<ReceiverChoice> receiver =
      {};  // Of its place, where on-demand machines are allowed.
};

/// Whether `a` is in no way worse than `b`, a rental of the same machine on the same market: no
/// dearer, its price no older, not lost more often, and with checkpoints and replacements that cost
/// no more.
bool no_worse(const Rental& a, const Rental& b);

/// All that clusters can be made of.
struct Space {
  std::vector<Machine> machines;
  std::vector<Rental> rentals;                   // By machine.
  std::map<std::string, std::int64_t> excluded;  // VM types by the reason they are not in here.

  const Machine& machine_of(int rental) const;
};

/// What of the catalogue the job can run on under the constraints. Usage error: a quota that
/// nothing of the catalogue counts against. With `sharding`, machines that hold no replica are in
/// it where the job is the training of a known transformer: of all its weights or, where no machine
/// holds a replica, of some.
enum class Sharding { kNone, kAllowed };
Result<Space> plan_space(const PlanQuestion& question, Sharding sharding = Sharding::kNone);

/// Whether so many VMs of each rental (rental, VMs) stay within every quota and the limit on VMs.
bool within_quotas(const Space& space, const Constraints& constraints,
                   std::span<const std::pair<int, int>> counts);

}  // namespace stint
