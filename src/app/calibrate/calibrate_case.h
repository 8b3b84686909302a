#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "load/environment.h"
#include "measure/tables/step_formats.h"
#include "plan/calibration.h"

namespace stint {

struct CalibrateRequest {
  StepFormat format = StepFormat::kPollux;
  std::vector<std::string> train;  // Files.
  std::string jobs;                // A file of job profiles; empty: the shipped ones.
  std::string name;                // Of the calibration.
  std::string provenance;          // Where the rows can be had.
  std::string out;                 // Where to write it; empty: nowhere.
  // Of the VMs that were measured. Absent: our own runs name their VMs, and the catalogue knows
  // them; for published tables 50 Gbit/s, as g4dn.12xlarge has.
  std::optional<BytesPerSecond> network;
};

/// Usage error without files or a name.
Status check_calibration(const CalibrateRequest& request);

/// Writes it where the request says, if it does.
Status keep_calibration(const Calibration& calibration, const CalibrateRequest& request);

/// Where the rows can be had, or that nobody says so.
std::string stated_provenance(const CalibrateRequest& request);

/// The error on held-out jobs of a fit to the rows of a request.
using LeftOutAccuracy =
    std::function<Result<std::vector<AccuracyRecord>>(const CalibrateRequest& request)>;

/// Fits all rows, and records the `accuracy` that the scoreboard (validate/) finds.
Result<Calibration> calibrate_fabric(const Environment& environment,
                                     const CalibrateRequest& request,
                                     const LeftOutAccuracy& accuracy);

/// Fits how times carry over between devices. Each file of `request.train` is "FORMAT:PATH"; its
/// format and job profiles are not looked at.
Result<Calibration> calibrate_devices(const Environment& environment,
                                      const CalibrateRequest& request);

/// Fits the rates of two jobs that share a GPU freely (calibrate/free_sharing_fit.h) to Gavel's
/// tables, told apart by header; see read_pair_tables. Pairs with Recommendation, whose repeats
/// differ by factors, and pairs capped to the isolated rates are left out. Format, jobs and network
/// of the request are not looked at.
Result<Calibration> calibrate_sharing(const Environment& environment,
                                      const CalibrateRequest& request);

}  // namespace stint
