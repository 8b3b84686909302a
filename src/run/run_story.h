#pragma once

#include <optional>
#include <string>
#include <vector>

#include "run/run_replay.h"

namespace stint {

/// A machine of a run, from its launch to its end.
struct StoryVm {
  std::string name;
  std::string type;
  Market market = Market::kOnDemand;
  Seconds from;
  std::optional<Seconds> until = {};  // Absent: it is up.
  Seconds billed;                     // Time that is billed.
  Dollars cost;
  bool taken = false;  // Interrupted by the provider.
};

/// Workers that trained together.
struct StoryAttempt {
  int number = 0;
  std::vector<int> vms;
  Seconds ordered;
  std::optional<Seconds> training = {};  // Start of training.
  Seconds until;
  std::int64_t from_step = 0;
  std::int64_t to_step = 0;
  Seconds predicted;                     // Predicted time of a step.
  std::optional<Seconds> measured = {};  // Median measured time of a step.
  int steps = 0;                         // Number of steps that were timed.
};

/// The time and cost of one activity of a run.
struct StoryPart {
  const char* name = "";
  Seconds time;
  Dollars cost;
};

/// A run so far.
struct RunStory {
  std::optional<RunVerdict> outcome = {};  // Absent: the run continues.
  std::string reason = {};
  Seconds time;            // Since the start, until the end or the last event.
  std::int64_t steps = 0;  // Steps to train, by the latest plan.
  std::int64_t reached = 0;
  std::int64_t saved = 0;
  bool plain = false;  // The script takes no orders: it saves by itself.
  Dollars cost;
  std::vector<StoryVm> vms = {};
  std::vector<StoryAttempt> attempts = {};
  std::vector<StoryPart> parts = {};  // They add up to time and cost.
  std::vector<StoryLine> lines = {};
  int saves = 0;
  std::optional<Seconds> save_time = {};  // Median time of a checkpoint.
  int losses = 0;                         // Machines lost.
  std::int64_t redone = 0;                // Steps that were trained more than once.
};

/// Builds the story from all moments of a run.
RunStory story_of(const ReplayedRun& run);

}  // namespace stint
