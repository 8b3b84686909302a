#pragma once

#include <string>
#include <vector>

#include "base/codec_fields.h"
#include "base/units.h"
#include "plan/sharing_mode.h"

namespace stint {

/// The terms on which a run shares its machines with another one.
struct RunSharing {
  std::string partner;  // The other run.
  std::string cluster;  // Cluster of both runs.
  std::string folder;   // Folder of the cluster's claims and turnstiles, in memory.
  int member = 0;       // Position of the run in a round, 0 or 1.
  SharingMode mode = SharingMode::kBucket;
  int turns = 1;        // Turns of the run in a round.
  Seconds patience;     // Longest time that the other run waits for this one's turn.
  double slowdown = 1;  // Predicted slowdown of a step while both train.
  Json::Object unknown = {};
};

/// Environment variables for workers that take turns; see python/stint/turns.py.
std::vector<std::string> turn_variables(const RunSharing& sharing, const std::string& run);

// For the codec.
template <class Walk>
void describe(Walk& walk, Like<Walk, RunSharing>& it) {
  walk.field("partner", it.partner, "Name of the other run.");
  walk.field("cluster", it.cluster, "Cluster of both runs.");
  walk.field("folder", it.folder, "Folder of the machine claims and turnstiles.");
  walk.field("member", it.member, "Position of the run in a round, 0 or 1.",
             {.range = Range::kNotNegative});
  walk.field("mode", it.mode, "Sharing mode.");
  walk.field("turns", it.turns, "Turns of the run in a round.", {.range = Range::kAtLeastOne});
  walk.number("patience_s", it.patience, kSecond,
              "Longest time that the other run waits for this one.", Range::kNotNegative);
  walk.field("slowdown", it.slowdown, "Predicted slowdown of a step while both runs train.",
             {.range = Range::kPositive});
  walk.rest(it.unknown);
}

}  // namespace stint
