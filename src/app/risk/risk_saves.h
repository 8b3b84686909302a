#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/risk/risk_survive.h"
#include "plan/layout.h"

namespace stint {

struct SavesRequest {
  SurviveRequest machines;      // Which, how many, and until the work is done.
  std::optional<Bytes> bytes;   // Of a checkpoint; absent: none is made, which is refused.
  std::optional<Seconds> copy;  // What training waits for one; absent: by the usual rate.
  CheckpointPlace place = CheckpointPlace::kObjectStore;
  int receivers = 1;  // Of a tier, with the network of the machines themselves.
  bool blocking = false;
};

/// Work between two saves, and the share of time that is lost with it.
struct SaveInterval {
  std::optional<Seconds> interval;  // Absent: no save at all.
  double waste = 0;
};

/// When a gang of spot machines that start together should save.
struct SavesReport {
  std::string vm;
  int count = 1;
  Seconds work;
  Seconds stall;
  Seconds transfer;
  std::optional<bool> fits_in_notice;  // Absent: the provider is not known to tell.
  double without_notice = 1;           // Share of losses before which no save is possible.
  std::vector<Seconds> begins;         // Ages at which saves begin.
  double waste = 0;                    // Share of the time.
  SaveInterval constant;               // The best one.
  SaveInterval young;
  SaveInterval daly;
  std::string hazard_origin;
  std::vector<std::string> warnings;
};

/// The schedule that wastes least until a machine is lost or the work is done. Usage error: a VM
/// without a network figure. Bad input: no checkpoint at all, or saves that are hardly ever safe
/// before the next loss.
Result<SavesReport> plan_saves(const Environment& environment, const SavesRequest& request);

}  // namespace stint
