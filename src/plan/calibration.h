#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/codec.h"
#include "catalog/fabric.h"

namespace stint {

inline constexpr const char* kCalibrationSchema = "stint.calibration/1";

/// A fitted number with its prior.
struct Constant {
  std::string name;   // Within its scope: "latency", "inverse_bandwidth" …
  std::string scope;  // A fabric, a job, or the population of jobs.
  double value = 0;
  std::string unit;                 // "s", "s/byte", or "1" for a ratio.
  std::optional<double> deviation;  // Standard deviation of the posterior.
  std::optional<double> prior_mean;
  std::optional<double> prior_deviation;
  bool identified = true;  // False: the data hardly narrow the prior.
  Json::Object unknown = {};
};

/// Whether `constant` has a row in the covariance.
bool in_covariance(const Constant& constant);

/// Rows that were fitted.
struct FittedData {
  std::string name;
  std::string provenance;
  int rows = 0;
  std::vector<std::string> jobs;
  std::vector<std::string> devices = {};  // Accelerators of the rows, as the catalogue names them.
  Json::Object unknown = {};
};

/// Errors of predictions on rows that were not fitted.
struct AccuracyRecord {
  std::string name;
  std::string split;
  int n = 0;
  double mape = 0;  // Fractions, not percent.
  double median_ape = 0;
  double p90_ape = 0;
  std::optional<double> coverage80;
  Json::Object unknown = {};
};

/// What is known of a network before a job is measured on it.
struct FabricFacts {
  std::optional<BytesPerSecond> network;  // Line rate of one VM.
  std::optional<TransportFamily> transport;
  std::optional<InsideLinkKind> inside;
  std::optional<BytesPerSecond> inside_rate;  // From one accelerator to the others of its VM.
  std::optional<int> workers_per_vm;          // Largest number.
  Json::Object unknown = {};
};

/// Fitted constants, the data of the fit, and their error.
struct Calibration {
  std::string name;
  Date date;
  std::optional<FabricFacts> fabric;  // Where its constants are those of a network.
  std::vector<Constant> constants;
  // Covariance of the identified constants whose scope is not a single job's ("job:…"), in their
  // order.
  std::vector<std::vector<double>> covariance;
  std::vector<FittedData> data;
  std::vector<AccuracyRecord> accuracy;
  Json::Object unknown = {};
};

Result<Loaded<Calibration>> read_calibration(std::string_view text, const std::string& source);
std::string write_calibration(const Calibration& calibration);
Status validate(const Calibration& calibration);
Json calibration_schema();

}  // namespace stint
