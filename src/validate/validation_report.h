#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "calibrate/split.h"
#include "plan/validation.h"

namespace stint {

/// The prediction for one row, in the unit of the measured column.
struct PredictionLine {
  std::size_t row = 0;              // Number in the test files one after the other, from 0.
  std::optional<double> predicted;  // Absent: the note gives the reason.
  std::optional<double> p10;
  std::optional<double> p90;
  std::string note = {};
};

/// The result of a use case of `stint validate`: the requested model, the others on the same rows,
/// and the predictions of the requested one.
struct ValidationReport {
  Validation validation;
  std::vector<Validation> beside;
  std::vector<PredictionLine> predictions;
};

/// A CSV of row, predicted, p10, p90 and note.
std::string predictions_csv(std::span<const PredictionLine> lines);

/// One fold for each of the different `keys`, in their order: the rows of that key are predicted
/// from all others.
std::vector<Fold> leave_one_out(std::span<const std::string> keys);

/// The fold that trains on the first `train` of `rows` rows and predicts the rest.
Fold train_then_test(std::size_t train, std::size_t rows);

/// A usage error unless there are training files and exactly one of test files and split.
Status check_validation_files(const std::vector<std::string>& train,
                              const std::vector<std::string>& test, const std::string& split);

}  // namespace stint
