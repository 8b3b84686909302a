#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "validate/validation_report.h"

namespace stint {

struct PricesRequest {
  std::vector<std::string> train;
  std::vector<std::string> test;
  std::string split;  // "dates" or "regions".
};

/// Fits how spot prices move to dated prices and predicts later prices of the test rows, with an
/// interval that widens with the age of the price that is known. Known of a pool is its last
/// training row before the row in question; of a pool without training rows its first test row,
/// which is not predicted. Splits: the second half of each pool's dates from the first halves; each
/// region from the others. The predictions are in USD/h.
Result<ValidationReport> validate_prices(const PricesRequest& request);

}  // namespace stint
