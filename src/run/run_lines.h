#pragma once

#include <optional>
#include <string>
#include <vector>

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

}  // namespace stint
