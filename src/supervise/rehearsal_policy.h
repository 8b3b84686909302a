#pragma once

#include <map>
#include <memory>
#include <utility>

#include "risk/cluster_table.h"

namespace stint {

/// Policies for rehearsals: they play as ClusterPolicy does with what is believed of spot machines
/// now, and learn nothing. So one table serves all rehearsals of the same game, where solving one
/// for each would take longer than all the rest.
class RehearsalTables {
 public:
  explicit RehearsalTables(CountModel pool) : pool_(std::move(pool)) {}

  /// A policy that must not outlive this object. Its games have the machines of the pool.
  std::unique_ptr<DeadlinePolicy> policy();

  /// The table of a game of this work and deadline; both name it, the rest stays the same.
  const ClusterTable& table(const DeadlineGame& game);

  std::size_t solved() const { return tables_.size(); }

 private:
  CountModel pool_;
  std::map<std::pair<int, int>, ClusterTable> tables_;
};

}  // namespace stint
