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
  std::string name;                // Name of the calibration.
  std::string provenance;          // Source of the rows.
  std::string out;                 // File to write; empty: none.
  // Network of the measured VMs. Without a rate: our own runs name their VMs, which the catalogue
  // has; for published tables 50 Gbit/s, as of g4dn.12xlarge.
  FabricFacts fabric;
  std::string onto = {};  // Calibration of another network to start from; empty: physics.
};

/// Usage error without files or a name.
Status check_calibration(const CalibrateRequest& request);

/// Writes the calibration to the requested file, if there is one.
Status keep_calibration(const Calibration& calibration, const CalibrateRequest& request);

/// The source of the rows, or a statement that it is unknown.
std::string stated_provenance(const CalibrateRequest& request);

/// The error on held-out jobs of a fit to the rows of a request.
using LeftOutAccuracy =
    std::function<Result<std::vector<AccuracyRecord>>(const CalibrateRequest& request)>;

/// Fits all rows, and records the `accuracy` that the scoreboard (validate/) computes. All-reduces
/// of probes among our own measurements move what is believed of the network before the rows of
/// steps are fitted, see calibrate/network_probe.h; with probes alone that is the calibration, and
/// its accuracy that of probes of held-out numbers of VMs.
Result<Calibration> calibrate_fabric(const Environment& environment,
                                     const CalibrateRequest& request,
                                     const LeftOutAccuracy& accuracy);

/// Fits the transfer of times between devices. Each file of `request.train` is "FORMAT:PATH"; its
/// format and job profiles are not used.
Result<Calibration> calibrate_devices(const Environment& environment,
                                      const CalibrateRequest& request);

/// Fits the rates of two jobs that share a GPU freely (calibrate/free_sharing_fit.h) to Gavel's
/// tables, distinguished by header; see read_pair_tables. Pairs with Recommendation, whose repeats
/// differ by factors, and pairs capped to the isolated rates are left out. Format, jobs and network
/// of the request are not used.
Result<Calibration> calibrate_sharing(const Environment& environment,
                                      const CalibrateRequest& request);

}  // namespace stint
