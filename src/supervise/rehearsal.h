#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/random.h"
#include "risk/cluster_table.h"
#include "supervise/rehearsal_run.h"

namespace stint {

/// Policies for rehearsals: they decide like ClusterPolicy with the present estimate of the spot
/// market, and do not update it. One table therefore serves all rehearsals of the same game;
/// solving one for each would take longer than everything else.
class RehearsalTables {
 public:
  explicit RehearsalTables(CountModel pool) : pool_(std::move(pool)) {}

  /// A policy that must not outlive this object. Its games use the machines of the pool.
  std::unique_ptr<DeadlinePolicy> policy();

  /// The table of a game of this work and deadline, which identify it; everything else is fixed.
  const ClusterTable& table(const DeadlineGame& game);

  std::size_t solved() const { return tables_.size(); }

 private:
  CountModel pool_;
  std::map<std::pair<int, int>, ClusterTable> tables_;
};

/// The distribution of a figure over rehearsals.
template <class Q>
struct Spread {
  Q mean;
  Q p10;
  Q p50;
  Q p90;
};

/// The distribution of the outcome of a run.
struct Forecast {
  int runs = 0;
  Spread<Seconds> time;
  Spread<Dollars> cost;
  double trained = 0;        // Share of rehearsals that finish the training,
  double deadline_kept = 0;  // that finish before the deadline,
  double budget_kept = 0;    // and that finish within the budget.
  double losses = 0;         // Machines lost, on average.
  BillParts parts;           // Averages.
};

/// The number of rehearsals. The policy is constructed for each; absent: none.
struct Rehearsals {
  int runs = 200;
  std::uint64_t seed = 1;
  std::function<std::unique_ptr<DeadlinePolicy>()> policy = {};
  // Draws the spot capacity for each rehearsal; absent: the world's.
  std::function<std::vector<CapacityChange>(Random)> capacity = {};
};

/// Simulates the rest of a run many times with the same supervisor that conducts it. Two forecasts
/// of the same seed differ by their terms and not by chance. Requires unfinished steps.
Forecast rehearse(const RunTerms& terms, const RehearsalWorld& world, const RunSoFar& so_far,
                  const Rehearsals& rehearsals);

}  // namespace stint
