#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "run/run_record.h"
#include "supervise/supervisor.h"

namespace stint {

/// A line of a run's event list.
struct StoryLine {
  Seconds at;  // Since the run began.
  std::string text;
  bool saved = false;  // It says that a checkpoint is complete.
};

/// An event of a run, and the actions that followed.
struct RunMoment {
  RunEvent event;
  std::vector<RunAction> actions;
  // Step time of the workers that the actions order to train.
  std::optional<Seconds> predicted = {};
};

/// The lines of the event list for a moment that `supervisor` has just handled: whole sentences
/// without their full stop, or nothing.
std::vector<StoryLine> lines_of(const Supervisor& supervisor, const RunMoment& moment);

/// A run, replayed from its journal.
struct ReplayedRun {
  RunRecord record;
  RunPlan plan;  // The present plan.
  int plans = 1;
  std::unique_ptr<Supervisor> supervisor;
  std::vector<RunMoment> moments;
  std::vector<StoryLine> lines = {};  // Lines of all moments.
  std::vector<std::string> warnings;
};

/// A supervisor for a new run.
std::unique_ptr<Supervisor> make_supervisor(const RunRecord& record);

/// The policy that chooses markets under `plan`, with the expected spot availability; null
/// without a deadline.
std::unique_ptr<DeadlinePolicy> make_policy(const RunRecord& record, const RunPlan& plan);

/// Reads the run in `folder` and replays its journal in a supervisor. Damaged files are bad input,
/// and the error names them.
Result<ReplayedRun> replay_run_folder(const std::string& folder);

}  // namespace stint
