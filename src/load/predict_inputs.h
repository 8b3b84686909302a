#pragma once

#include <optional>
#include <string>
#include <vector>

#include "job/job.h"
#include "load/environment.h"
#include "plan/calibration.h"
#include "plan/layout.h"
#include "predict/resolve.h"
#include "risk/advisor.h"
#include "risk/price_drift.h"

namespace stint {

/// The name that means standard input.
inline constexpr const char* kStandardInput = "-";

/// The job in the file `name`, or the shipped one called so; "-" is standard input, which must be
/// no terminal. Neither: bad input that lists what is shipped.
Result<Loaded<JobProfile>> load_job(const std::string& name);

/// Where the profile of that job is, whatever folder one is in; nothing for a shipped job.
/// A job that is the training of a model is its own text.
std::optional<std::string> profile_path(const std::string& job);

/// The calibration in the file `name`, or the shipped one called so; empty: the shipped one for
/// AWS, or prior belief where none is shipped.
Result<Loaded<Calibration>> load_calibration(const std::string& name);

/// What is shipped about the loss of spot machines without figures of their own.
Result<SpotPrior> load_spot_prior();

/// What is shipped about the change of prices with time.
Result<PriceLaw> load_price_law();

/// How old a calibration is, and how far it was off.
struct CalibrationRecord {
  std::string name;
  Date date;
  std::optional<AccuracyRecord> error = {};  // The last that it states.
};

/// What predictions of a job are made from.
struct PredictInputs {
  JobProfile job;
  std::string provider;  // Whose machines are meant, in lower case; empty: those of several.
  Catalog catalog;
  CalibratedLaw law;
  DeviceLaw devices;
  std::optional<ShardedModel> sharded;  // Where the job is the training of a known transformer.
  CalibrationRecord calibration;        // That the law came from.
  std::optional<Date> today;            // By the clock of the environment, if it has one.
  std::vector<std::string> warnings;    // Of what was read.

  /// It refers to these inputs.
  PredictContext context() const {
    return {job, catalog, law, devices, sharded ? &*sharded : nullptr};
  }
};

/// The job called so (see above), the user's catalogue over the bundled, and the calibration: the
/// one called so; where none is, the one that is shipped under the provider's name, such as that of
/// the emulated cloud; else the default. The case of the provider's name does not matter.
Result<PredictInputs> load_predict_inputs(const Environment& environment, const std::string& job,
                                          const std::string& calibration,
                                          const std::string& provider = "");

/// The same where the provider is that of a cluster; one that is not in the catalogue has none.
Result<PredictInputs> load_predict_inputs(const Environment& environment, const std::string& job,
                                          const std::string& calibration, const Cluster& cluster);

/// The same of a job that is loaded already.
Result<PredictInputs> load_predict_inputs(const Environment& environment, Loaded<JobProfile> job,
                                          const std::string& calibration, const Cluster& cluster);

}  // namespace stint
