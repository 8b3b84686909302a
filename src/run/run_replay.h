#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "run/run_record.h"
#include "run/run_story.h"
#include "supervise/supervisor.h"

namespace stint {

/// A run, replayed from its journal.
struct ReplayedRun {
  RunRecord record;
  RunPlan plan;  // The present plan.
  int plans = 1;
  std::unique_ptr<Supervisor> supervisor;
  RunTeller teller = {};  // It has seen all moments.
  std::vector<std::string> warnings;
};

/// A supervisor for a new run.
std::unique_ptr<Supervisor> make_supervisor(const RunRecord& record);

/// The policy that chooses markets under `plan`, with the expected spot availability; null
/// without a deadline.
std::unique_ptr<DeadlinePolicy> make_policy(const RunRecord& record, const RunPlan& plan);

/// The moment that `supervisor` has just handled under `plan`. The predicted step time must be
/// computed then, because slots mean other machines after the next plan.
RunMoment moment_of(RunEvent event, std::vector<RunAction> actions, const Supervisor& supervisor,
                    const RunPlan& plan);

/// Reads the run in `folder` and replays its journal in a supervisor. What was done counts, even if
/// this version would do something else. Damaged files are bad input, and the error names them.
Result<ReplayedRun> replay_run_folder(const std::string& folder);

/// Builds the story of a run so far.
RunStory story_of(const ReplayedRun& run);

}  // namespace stint
