#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/risk/risk_survive.h"
#include "plan/layout.h"

namespace stint {

struct SavesRequest {
  SurviveRequest machines;      // Type and number of machines, and the time until the work is done.
  std::optional<Bytes> bytes;   // Size of a checkpoint; absent: none is made, which is refused.
  std::optional<Seconds> copy;  // Stall of a checkpoint; absent: by its size.
  CheckpointPlace place = CheckpointPlace::kObjectStore;
  int receivers = 1;  // Machines of a tier, with the network of the training machines.
  bool blocking = false;
};

/// Checkpoint interval, and the share of time that is lost with it.
struct SaveInterval {
  std::optional<Seconds> interval;  // Absent: no checkpoint.
  double waste = 0;
};

/// The checkpoint schedule of a gang of spot machines that start together.
struct SavesReport {
  std::string vm;
  int count = 1;
  Seconds work;
  Seconds stall;
  Seconds transfer;
  std::optional<bool> fits_in_notice;  // Absent: the notice of the provider is not known.
  double without_notice = 1;           // Share of losses before which no checkpoint is possible.
  std::vector<Seconds> begins;         // Ages at which checkpoints begin.
  double waste = 0;                    // Share of the time.
  SaveInterval constant;               // The best constant interval.
  SaveInterval young;
  SaveInterval daly;
  std::string hazard_origin;
  std::vector<std::string> warnings;
};

/// The schedule that wastes least until a machine is lost or the work is done. Usage error: a VM
/// without a network figure. Bad input: no checkpoint at all, or checkpoints that are hardly ever
/// safe before the next loss.
Result<SavesReport> plan_saves(const Environment& environment, const SavesRequest& request);

}  // namespace stint
