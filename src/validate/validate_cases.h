#pragma once

#include <optional>
#include <string>
#include <vector>

#include "load/environment.h"
#include "measure/tables/case_table.h"
#include "validate/validation_report.h"

namespace stint {

/// Tables of published cases.
struct ValidateCasesRequest {
  std::vector<std::string> train;  // Files with the figures to predict from.
  std::vector<std::string> test;   // Files to predict; empty: the larger cases of `train`.
  std::string calibration;         // As for `stint predict`; empty: the default.
  bool perfect = false;            // Scores perfect scaling instead.
};

/// A published case, predicted from a smaller one of the same training.
struct CaseOutcome {
  PublishedCase published;
  std::string from;                 // The id of the smaller case.
  int from_workers = 0;             // Workers of that case.
  std::optional<double> predicted;  // In the unit of the published value; absent: see note.
  std::optional<double> p10;
  std::optional<double> p90;
  std::optional<double> speed_ratio;    // Predicted over published speed.
  std::optional<double> perfect_ratio;  // The same for perfect scaling.
  std::string note = {};                // Assumptions, or why there is no prediction.

  bool inside() const;  // Whether the published value lies within p10 and p90.
};

/// The cases of one publisher's table and machine count: within one VM, or over several.
struct CaseGroup {
  std::string name;
  bool several_vms = false;
  int cases = 0;
  int close = 0;   // Cases with a ratio of kCloseMin to kCloseMax.
  int inside = 0;  // Cases whose interval holds the published value.
  double median_ratio = 1;
  double median_perfect = 1;
};

// The ratio of predicted over published speed that counts as close.
inline constexpr double kCloseMin = 0.75;
inline constexpr double kCloseMax = 1.33;

struct CaseReport {
  ValidationReport scores;  // Of seconds per step; jobs are the groups.
  std::vector<CaseOutcome> cases;
  std::vector<CaseGroup> groups;
};

/// Without files to predict from, each case of `test` is predicted from its model alone
/// (validate/model_cases.h). Otherwise:
/// predicts each case from the figure of its own training on one VM (on one worker, for a case on
/// one VM), as `stint predict` would: the time of one worker is what makes the prediction of the
/// smaller case equal to its figure.
Result<CaseReport> validate_cases(const Environment& environment,
                                  const ValidateCasesRequest& request);

}  // namespace stint
