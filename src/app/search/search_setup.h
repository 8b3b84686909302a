#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/run/run_setup.h"
#include "catalog/market.h"
#include "load/environment.h"
#include "optimise/search_mind.h"
#include "run/search_record.h"

namespace stint {

/// The default share of a training that probes may take.
inline constexpr double kSearchBudget = 0.05;

/// The request of `stint search`.
struct SearchRequest {
  RunRequest run = {};  // Its `cluster` is where to begin; empty: the smallest, or the best known.
  SearchObjective objective = SearchObjective::kCost;
  SearchMode mode = SearchMode::kPartial;
  std::optional<double> loss_target = {};  // Of the training loss.
  std::optional<double> steps = {};        // To the goal at the job's own batch, as one thinks.
  std::vector<std::string> types = {};     // Empty: all that have an accelerator.
  std::vector<int> vms = {};               // Numbers of machines; empty: 1 to vms_max.
  int vms_max = 4;
  std::vector<int> batches = {};  // Global; empty: the job's own, half, twice and four times that.
  std::vector<Market> markets = {Market::kOnDemand};
  std::optional<Seconds> time_max = {};
  std::optional<Dollars> cost_max = {};
  // Share of the whole that probes may take; absent: kSearchBudget.
  std::optional<double> budget = {};
  int probe_steps = 10;
  std::optional<LearningRateRule> rule = {};  // Absent: the job's, else AdaScale's.
};

/// A cluster and batch on the emulated cloud.
struct LiveSetup {
  SearchChoice choice;
  std::string type;
  int vms = 1;
  RunPlan plan;
  DollarsPerSecond rate;
};

/// A search before it begins.
struct PreparedSearch {
  PreparedRun run;  // Its plan is that of the setup to begin with.
  SearchRecord record;
  std::vector<LiveSetup> setups;
  std::size_t start = 0;
  std::optional<SearchRecord> learned = {};  // Of an earlier search of the job.
};

/// Looks everything up that a search needs, without starting anything. Usage errors: no target, no
/// setup is left, a budget that was asked for and is too small for any probe.
Result<PreparedSearch> prepare_search(const Environment& environment, const SearchRequest& request);

/// The setups of a search that goes on, and what they start from, from its files.
Result<PreparedSearch> reopen_search(const Environment& environment, const std::string& folder,
                                     const RunRecord& run);

/// The decision model, with the results of earlier searches and of this one.
std::unique_ptr<SearchMind> search_mind(const PreparedSearch& search);

/// How training goes on with a setup when `progress` steps at the job's own batch are made and
/// `done` steps of any batch.
RunBatch training_of(const PreparedSearch& search, const SearchMind& mind, std::size_t setup,
                     double progress, std::int64_t done);

/// Has its machines take no more samples at once.
void limit_memory(LiveSetup& setup, int samples);

/// Where what was learned of a job is kept.
std::string learned_path(const Environment& environment, const std::string& job);

/// A probe as it is foreseen.
struct ForeseenProbe {
  SearchChoice choice;
  Seconds time;
  Dollars cost;
  bool stays = false;  // Because it pays; else to find out.
};

/// The probes that the search would make if each came out as is believed, at most 20.
std::vector<ForeseenProbe> foresee(const PreparedSearch& search);

}  // namespace stint
