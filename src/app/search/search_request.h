#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/run/run_setup.h"
#include "catalog/market.h"
#include "optimise/search_mind.h"
#include "run/search_record.h"

namespace stint {

/// The default share of a training that probes may take.
inline constexpr double kSearchBudget = 0.05;

/// The request of `stint search`.
struct SearchRequest {
  // Its `cluster` is the starting point; empty: the smallest, or the best known.
  RunRequest run = {};
  SearchObjective objective = SearchObjective::kCost;
  SearchMode mode = SearchMode::kPartial;
  std::optional<double> loss_target = {};  // Target of the training loss.
  std::optional<double> steps = {};        // Estimated steps to the goal at the job's own batch.
  std::vector<std::string> types = {};     // Empty: all that have an accelerator.
  std::vector<int> vms = {};               // Numbers of machines; empty: 1 to vms_max.
  int vms_max = 4;
  int kinds_max = 2;                     // Types and markets of VMs in a cluster: 1 or 2.
  std::vector<int> workers_per_vm = {};  // Empty: 1, 2, 4, … and one for each accelerator.
  std::vector<int> batches = {};  // Global; empty: the job's own, half, twice and four times that.
  std::vector<Market> markets = {Market::kOnDemand};
  std::optional<Seconds> time_max = {};
  std::optional<Dollars> cost_max = {};
  // Largest share of the total that probes may take; absent: kSearchBudget.
  std::optional<double> budget = {};
  int probe_steps = 10;
  std::optional<LearningRateRule> rule = {};  // Absent: the job's, else AdaScale's.
};

}  // namespace stint
