#include "plan/calibration.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace stint {

namespace {
constexpr FieldRules kName{.range = Range::kAtLeastOne};
constexpr FieldRules kCountRules{.range = Range::kNotNegative};
constexpr FieldRules kPositive{.range = Range::kPositive};
constexpr FieldRules kFraction{.range = Range::kFraction};
}  // namespace

template <class Walk>
void describe(Walk& walk, Like<Walk, Constant>& it) {
  walk.field("name", it.name, "Name of the constant within its scope.", kName);
  walk.field("scope", it.scope, "Scope: a fabric, a job, or the population of jobs.", kName);
  walk.field("value", it.value, "Fitted value; close to the prior where the data say little.");
  walk.field("unit", it.unit, "Unit of the value; 1 for a ratio.", kName);
  walk.field("deviation", it.deviation, "Standard deviation of the posterior.", kCountRules);
  walk.field("prior_mean", it.prior_mean, "Mean of the prior.");
  walk.field("prior_deviation", it.prior_deviation, "Standard deviation of the prior.",
             kCountRules);
  walk.field("identified", it.identified, "Whether the data narrow the prior.");
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, FittedData>& it) {
  walk.field("name", it.name, "Name of the data set.", kName);
  walk.field("provenance", it.provenance, "Source of the data set.", kName);
  walk.field("rows", it.rows, "Number of rows that were fitted.", kCountRules);
  walk.field("jobs", it.jobs, "Jobs of the rows.");
  walk.field("devices", it.devices, "Accelerators of the rows; absent: not stated.");
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, AccuracyRecord>& it) {
  walk.field("name", it.name, "Name of the data set or job.", kName);
  walk.field("split", it.split, "Split into training and test rows.", kName);
  walk.field("n", it.n, "Number of rows that were scored.", kCountRules);
  walk.field("mape", it.mape, "Mean of |predicted - measured| / measured.", kCountRules);
  walk.field("median_ape", it.median_ape, "Median of the same.", kCountRules);
  walk.field("p90_ape", it.p90_ape, "90th percentile of the same.", kCountRules);
  walk.field("coverage80", it.coverage80, "Share of rows inside the 80 % interval.", kFraction);
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, FabricFacts>& it) {
  walk.field("network", it.network, "Line rate of one VM.", kPositive);
  walk.field("transport", it.transport, "Transport between VMs.");
  walk.field("inside", it.inside, "Link between the accelerators of a VM.");
  walk.field("inside_rate", it.inside_rate, "Rate of that link from one accelerator to the others.",
             kPositive);
  walk.field("workers_per_vm", it.workers_per_vm, "Largest number of workers on a VM.", kName);
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, Calibration>& it) {
  walk.field("name", it.name, "Name of the calibration.", kName);
  walk.field("date", it.date, "Date of the fit.");
  walk.field("fabric", it.fabric, "Network that the constants were fitted on.");
  walk.field("constants", it.constants, "Fitted constants.");
  walk.field(
      "covariance", it.covariance,
      "Covariance of the identified constants whose scope is not a single job, in their order.");
  walk.field("data", it.data, "Data sets of the fit.");
  walk.field("accuracy", it.accuracy, "Prediction error on rows that were not fitted.");
  walk.rest(it.unknown);
}

bool in_covariance(const Constant& constant) {
  return constant.identified && !constant.scope.starts_with("job:");
}

std::string problem(const Calibration& it) {
  std::set<std::pair<std::string, std::string>> names;
  for (const Constant& constant : it.constants) {
    if (!names.emplace(constant.scope, constant.name).second) {
      return fmt::format("the constant {} of {} appears twice", constant.name, constant.scope);
    }
  }
  if (it.covariance.empty()) return "";
  const auto identified = static_cast<std::size_t>(
      std::count_if(it.constants.begin(), it.constants.end(), in_covariance));
  const bool square = std::all_of(it.covariance.begin(), it.covariance.end(),
                                  [&](const auto& row) { return row.size() == identified; });
  if (square && it.covariance.size() == identified) return "";
  return fmt::format(
      "covariance must have {0} rows of {0} numbers, one for each identified constant that is not "
      "of "
      "a single job",
      identified);
}

Result<Loaded<Calibration>> read_calibration(std::string_view text, const std::string& source) {
  return read_document<Calibration>(text, kCalibrationSchema, source);
}

std::string write_calibration(const Calibration& calibration) {
  return write_document(calibration, kCalibrationSchema);
}

Status validate(const Calibration& calibration) { return check_fields(calibration, "calibration"); }

Json calibration_schema() {
  return schema_document(kCalibrationSchema, "Fitted constants, their data and their error",
                         SchemaWalk::schema_of<Calibration>());
}

}  // namespace stint
