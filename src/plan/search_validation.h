#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/codec.h"
#include "plan/validation.h"

namespace stint {

/// How a way to search did, on average over where it began.
struct SearchScore {
  double time_over_oracle = 1;  // Its time over the least possible time from the same beginning,
  double cost_over_oracle = 1;  // and its cost over the least possible cost.
  double probes = 0;            // Setups that it timed.
  double moves = 0;
  Json::Object unknown = {};
};

/// What one job could be trained on, and how the ways to search did.
struct SearchedJob {
  int setups = 0;  // Clusters times batches.
  Seconds oracle_time;
  Dollars oracle_cost;
  std::map<std::string, SearchScore> policies;
  Json::Object unknown = {};
};

/// What `stint validate search` found: a validation (the same schema) whose `what` is "search".
struct SearchValidation {
  std::string what = "search";
  std::string objective;
  int seeds = 0;
  std::map<std::string, SearchScore> policies;  // Means over jobs.
  std::map<std::string, SearchedJob> jobs;
  std::vector<std::string> notes;
  Json::Object unknown = {};
};

Result<Loaded<SearchValidation>> read_search_validation(std::string_view text,
                                                        const std::string& source);
std::string write_search_validation(const SearchValidation& validation);
Status validate(const SearchValidation& validation);
Json search_validation_schema();

// For the codec.
template <class Walk>
void describe(Walk& walk, Like<Walk, SearchScore>& it) {
  walk.field("time_over_oracle", it.time_over_oracle,
             "Time over the least that anyone could take from the same beginning, mean.",
             {.range = Range::kPositive});
  walk.field("cost_over_oracle", it.cost_over_oracle,
             "Cost over the least that anyone could pay from the same beginning, mean.",
             {.range = Range::kPositive});
  walk.field("probes", it.probes, "Setups that were timed, mean.", {.range = Range::kNotNegative});
  walk.field("moves", it.moves, "From one setup to another, mean.", {.range = Range::kNotNegative});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, SearchedJob>& it) {
  walk.field("setups", it.setups, "Clusters times batches to choose from.",
             {.range = Range::kNotNegative});
  walk.number("oracle_time_s", it.oracle_time, kSecond, "Least possible, mean.",
              Range::kNotNegative);
  walk.number("oracle_cost_usd", it.oracle_cost, kDollar, "Least possible, mean.",
              Range::kNotNegative);
  walk.field("policies", it.policies, "Stint and other ways to search.", {.always = true});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, SearchValidation>& it) {
  walk.field("what", it.what, "What was validated: search.");
  walk.field("objective", it.objective, "What was to be least: time or cost.");
  walk.field("seeds", it.seeds, "Beginnings that were drawn for each job.",
             {.range = Range::kNotNegative});
  walk.field("policies", it.policies, "Stint and other ways to search, means over jobs.",
             {.always = true});
  walk.field("jobs", it.jobs, "The same by job.", {.always = true});
  walk.field("notes", it.notes, "What else a reader should know.");
  walk.rest(it.unknown);
}

}  // namespace stint
