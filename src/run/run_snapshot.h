#pragma once

#include <string>

#include "base/codec.h"
#include "run/run_story.h"
#include "supervise/supervisor.h"

namespace stint {

inline constexpr const char* kRunSnapshotSchema = "stint.run-snapshot/1";

/// Where a run stands, as a line of its journal: it takes the place of all lines before it.
struct RunSnapshot {
  int plan = 1;  // Number of the present plan.
  SupervisorSnapshot supervisor = {};
  ToldRun told = {};
  Json::Object unknown = {};
};

/// A line of the journal, with its newline.
std::string write_run_snapshot(const RunSnapshot& snapshot);
Json run_snapshot_schema();

// For the codec.
template <class Walk>
void describe(Walk& walk, Like<Walk, RunSnapshot>& it) {
  walk.field("plan", it.plan, "Number of the present plan.", {.range = Range::kAtLeastOne});
  walk.field("supervisor", it.supervisor, "State of the supervisor.");
  walk.field("told", it.told, "What a report tells of the time before.");
  walk.rest(it.unknown);
}

/// The error in a snapshot that no run wrote; empty: none.
std::string problem(const RunSnapshot& it);

}  // namespace stint
