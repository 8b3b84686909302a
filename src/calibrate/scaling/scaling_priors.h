#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"
#include "measure/tables/scaling_table.h"
#include "plan/calibration.h"
#include "predict/scaling_law.h"

namespace stint {

/// Mean and deviation of a constant before any measurement.
struct ScalingBelief {
  double mean = 0;
  double deviation = 1;
};

/// What is known about scaling before any row, and about the jobs of a table.
struct ScalingPriors {
  // Of a job; see predict/scaling_law.h. Floor (over the usual samples of a micro-step) and exposed
  // are logarithms.
  ScalingBelief floor;
  ScalingBelief exposed;
  ScalingBelief crossing;
  ScalingBelief growth;
  ScalingBelief wire_growth;
  // Deviations of the logarithm of time between devices and between those who ran them,
  double family = 1;
  double device = 1;
  double owner = 1;
  double edition = 1;
  double owner_exposed = 1;  // and of what they differ in otherwise.
  double owner_crossing = 1;
  double noise = 1;  // Of one row, relative.
  // A device that is k times as fast has a floor of k^this times as many samples.
  double floor_by_speed = 0;
  Bytes gradient_bytes;    // Of one parameter.
  Bytes state_bytes;       // Of one parameter, on the workers that hold the model together.
  Bytes memory;            // Of one worker.
  BytesPerSecond network;  // Per worker, where the table says nothing.
  double parameters = 1;   // Of a job that has none below.

  struct JobTraffic {
    double parameters = 0;  // 0: unknown.
    Bytes exchange;         // Of one sample; see ScalingTraffic.
  };
  std::map<std::string, JobTraffic> jobs;
};

/// The priors of one format of tables ("mlperf") in a calibration. Bad input: a constant that is
/// missing or has no deviation where one is needed.
Result<ScalingPriors> scaling_priors(const Calibration& calibration, std::string_view format);

/// The line rate of a VM of the row, one direction: its own, or the usual one of its workers.
BytesPerSecond network_of(const ScalingRow& row, const ScalingPriors& priors);

/// The row as the law sees it. A model that does not fit on the stated workers is spread over more.
ScalingSetup scaling_setup(const ScalingRow& row, const ScalingPriors& priors);

}  // namespace stint
