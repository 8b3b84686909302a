#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/codec.h"

namespace stint {

inline constexpr const char* kValidationSchema = "stint.validation/1";

/// Errors of predictions relative to measurements: |predicted − measured| / measured, as fractions.
/// With n = 0 nothing was scored, and the errors are zero.
struct Score {
  int n = 0;
  double mape = 0;  // Mean of the errors.
  double median_ape = 0;
  double p90_ape = 0;
  std::optional<double> coverage80;      // Share of measurements within [p10, p90].
  std::optional<double> interval_score;  // See calibrate/score.h; smaller is better.
  int skipped = 0;                       // Rows without a prediction or a usable measurement.
  // For verdicts, yes or no, instead of numbers; an error is then 0 or 1.
  std::optional<double> accuracy;
  std::optional<double> balanced_accuracy;  // Mean of the accuracies among yes and among no.
  Json::Object unknown = {};
};

/// The result of `stint validate`.
struct Validation {
  std::string what;
  Score overall;
  Score mean_over_jobs;
  std::map<std::string, Score> jobs;
  // The same rows by placement, and rows that the headline excludes.
  std::map<std::string, Score> groups;
  std::optional<Score> repeats;         // Error of repeated measurements relative to the first.
  std::optional<std::string> baseline;  // Model that was scored instead of ours.
  std::optional<std::string> split;     // Split into training and test rows.
  std::vector<std::string> notes;
  Json::Object unknown = {};
};

Result<Loaded<Validation>> read_validation(std::string_view text, const std::string& source);
std::string write_validation(const Validation& validation);
Status validate(const Validation& validation);
Json validation_schema();

// For the codec.
template <class Walk>
void describe(Walk& walk, Like<Walk, Score>& it) {
  constexpr FieldRules kAtLeastZero{.range = Range::kNotNegative};
  walk.field("n", it.n, "Number of rows that were scored.", kAtLeastZero);
  walk.field("mape", it.mape, "Mean of |predicted - measured| / measured.", kAtLeastZero);
  walk.field("median_ape", it.median_ape, "Median of the same.", kAtLeastZero);
  walk.field("p90_ape", it.p90_ape, "90th percentile of the same.", kAtLeastZero);
  walk.field("coverage80", it.coverage80,
             "Share of measurements within p10 and p90; absent without intervals.",
             {.range = Range::kFraction});
  walk.field("interval_score", it.interval_score,
             "Mean score of the 80 % intervals, relative to the measurements; smaller is better.",
             kAtLeastZero);
  walk.field("skipped", it.skipped, "Rows without a prediction or a usable measurement.",
             kAtLeastZero);
  walk.field("accuracy", it.accuracy, "Share of verdicts that were right; absent for numbers.",
             {.range = Range::kFraction});
  walk.field("balanced_accuracy", it.balanced_accuracy,
             "Mean of that share among yes and among no; absent when one of them is missing.",
             {.range = Range::kFraction});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, Validation>& it) {
  walk.field("what", it.what, "Kind of validation.");
  walk.field("overall", it.overall, "Score over all rows.");
  walk.field("mean_over_jobs", it.mean_over_jobs, "Unweighted mean over jobs of each figure.");
  walk.field("jobs", it.jobs, "Score by job.", {.always = true});
  walk.field("groups", it.groups,
             "Score by placement, and score of rows that the headline excludes.");
  walk.field("repeats", it.repeats, "Error of repeated measurements relative to the first.");
  walk.field("baseline", it.baseline, "Model that was scored instead of Stint's.");
  walk.field("split", it.split, "Split into training and test rows.");
  walk.field("notes", it.notes, "Remarks for the reader, as sentences.");
  walk.rest(it.unknown);
}

}  // namespace stint
