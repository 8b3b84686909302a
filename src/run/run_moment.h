#pragma once

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
};

/// Something that happened in a run, and what was done about it.
struct RunMoment {
  RunEvent event;
  std::vector<RunAction> actions;
  std::optional<Seconds> predicted = {};  // Of a step of the workers that it orders to train.
};

/// What a person wants to know of a moment that `supervisor` has just handled: whole sentences
/// without their full stop, or nothing.
std::vector<StoryLine> lines_of(const Supervisor& supervisor, const RunMoment& moment);

}  // namespace stint
