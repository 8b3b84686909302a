#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cloud/cluster_status.h"
#include "load/environment.h"
#include "run/run_replay.h"
#include "run/run_story.h"

namespace stint {

/// Machines that are up though no process conducts their run. They cost until somebody resumes the
/// run or releases them.
struct LeftMachines {
  ClusterStatus status;  // As the run sees it, with those that are gone.
  std::vector<std::string> vms = {};
  DollarsPerSecond rate;  // Of those that are up,
  Dollars cost;           // and what they cost so far.
};

/// The machines that the run in `folder` left up. Nothing while a process conducts it or, where it
/// shares machines, its partner.
std::optional<LeftMachines> machines_left(const Environment& environment, const std::string& folder,
                                          const RunRecord& record);

/// Brings the story of such a run, which ends with the last event, up to `now` since it began: the
/// machines stood, and cost what their provider counts.
void tell_of_left(const LeftMachines& left, Seconds now, RunStory& story);

/// A run that was stopped.
struct StoppedRun {
  std::string name;
  bool was_conducted = true;          // Else its machines were released from outside:
  std::vector<std::string> released;  // these.
  Dollars cost;                       // Final.
};

/// Releases the machines of a run that no process conducts, and notes it in its journal, so that
/// the bill is right from then on. Usage error: it has none, or its partner trains on them.
Result<StoppedRun> release_left(const Environment& environment, const std::string& folder);

}  // namespace stint
