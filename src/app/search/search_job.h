#pragma once

#include <functional>
#include <string>

#include "app/run/run_job.h"
#include "app/search/search_setup.h"

namespace stint {

/// Callbacks for a search in progress.
struct SearchAudience {
  RunAudience run = {};
  std::function<void(const SearchRecord&)> learned = {};  // Called whenever the record changes.
};

/// The outcome of a search.
struct SearchResult {
  RunResult run;
  SearchRecord record;
  std::string shortfall = {};  // Reason why its target was not reached; empty: it was.
};

/// Trains from the starting setup to the target, and searches for better ones meanwhile. The
/// results are kept for the next search of the job, whatever its outcome.
Result<SearchResult> start_search(const Environment& environment, PreparedSearch search,
                                  const SearchAudience& audience);

/// Resumes a search that was stopped or whose process has ended; see resume_run.
Result<SearchResult> resume_search(const Environment& environment, const std::string& name,
                                   const SearchAudience& audience);

/// Whether a run is a search; see find_run.
Result<bool> is_search(const Environment& environment, const std::string& name);

/// The results of a search, merged with earlier results that it did not repeat.
SearchRecord with_earlier(SearchRecord record, const std::optional<SearchRecord>& earlier);

}  // namespace stint
