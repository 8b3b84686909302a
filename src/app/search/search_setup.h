#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/run/run_setup.h"
#include "app/search/search_request.h"
#include "app/search/search_space.h"
#include "load/environment.h"
#include "optimise/search_mind.h"
#include "run/search_record.h"

namespace stint {

/// A search before it begins.
struct PreparedSearch {
  PreparedRun run;  // Its plan is that of the starting setup.
  SearchRecord record;
  std::vector<LiveSetup> setups;
  std::size_t start = 0;
  std::optional<SearchRecord> learned = {};  // Results of an earlier search of the job.
};

/// Resolves all inputs of a search, without starting anything. Usage errors: no target, no setup is
/// left, a requested budget that is too small for any probe.
Result<PreparedSearch> prepare_search(const Environment& environment, const SearchRequest& request);

/// The setups of a resumed search, and their starting point, from its files.
Result<PreparedSearch> reopen_search(const Environment& environment, const std::string& folder,
                                     const RunRecord& run);

/// The decision model, with the results of earlier searches and of this one.
std::unique_ptr<SearchMind> search_mind(const PreparedSearch& search);

/// The plan for a setup after `progress` steps at the job's own batch and `done` steps of any
/// batch.
RunBatch training_of(const PreparedSearch& search, const SearchMind& mind, std::size_t setup,
                     double progress, std::int64_t done);

/// The file of the results for a job.
std::string learned_path(const Environment& environment, const std::string& job);

/// A predicted probe.
struct ForeseenProbe {
  SearchChoice choice;
  Seconds time;
  Dollars cost;
  bool stays = false;  // The predictions favour the setup; else it is a probe.
};

/// The probes that the search would make if each result equalled its prediction, at most 20.
std::vector<ForeseenProbe> foresee(const PreparedSearch& search);

}  // namespace stint
