#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "calibrate/baselines.h"
#include "calibrate/forecast.h"
#include "load/published_tables.h"
#include "measure/tables/step_formats.h"

namespace stint {

/// The price of the VM of Pollux's published tables (g4dn.12xlarge, by its benchmark/main.tf), on
/// demand in the cheapest region of the bundled catalogue.
DollarsPerSecond published_vm_price();

/// Tables of step times for training and test.
struct StepFiles {
  StepFormat format = StepFormat::kPollux;
  std::vector<std::string> train;
  std::vector<std::string> test = {};  // Or a split of the training rows:
  std::string split = {};              // See calibrate/split.h; empty: the test files.
};

/// Training and test rows, with the number of each test row in its file.
struct StepTrial {
  Rows train;
  Rows test;
  std::vector<std::size_t> numbers;
};

/// The trials of `files`: one for test files, one for each fold of a split. A split without test
/// rows is bad input.
Result<std::vector<StepTrial>> read_step_trials(const StepFiles& files);

/// The prediction of a baseline for each test row; it has no intervals.
std::vector<Forecast> forecast_baseline(BaselineKind kind, const StepTrial& trial);

}  // namespace stint
