#pragma once

#include <fmt/format.h>
#include <string>

namespace stint {

// What lies where in the folder of a run.

inline std::string record_path(const std::string& run) { return run + "/run.json"; }
inline std::string journal_path_of(const std::string& run) { return run + "/journal.jsonl"; }
inline std::string measurements_path(const std::string& run) { return run + "/measurements.jsonl"; }
inline std::string job_path(const std::string& run) { return run + "/job.json"; }
inline std::string checkpoint_folder(const std::string& run) { return run + "/checkpoints"; }
inline std::string log_folder(const std::string& run) { return run + "/log"; }

/// What a search found, where the run is one.
inline std::string search_path(const std::string& run) { return run + "/search.json"; }

/// Of the plans that were made in mid-run, from 2 on.
inline std::string plan_path(const std::string& run, int number) {
  return fmt::format("{}/plan-{}.json", run, number);
}

}  // namespace stint
