#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/calibrate/calibrate_case.h"
#include "base/result.h"
#include "calibrate/baselines.h"
#include "measure/tables/step_formats.h"
#include "plan/validation.h"

namespace stint {

/// Tables for training and test.
struct ValidateRequest {
  StepFormat format = StepFormat::kPollux;
  std::vector<std::string> train;  // Files.
  std::vector<std::string> test;   // Files; or a split of the training rows.
  std::string split;               // See calibrate/split.h; empty: the test files.
  std::string jobs;                // A file of job profiles; empty: the shipped ones.
  FabricFacts fabric;              // Of the network that the rows were measured on.
  std::string calibration;         // That fits begin with; empty: physics alone.
  std::string predictions;         // File for the predictions; empty: none.
  std::vector<BaselineKind> baselines;
  bool only_baselines = false;  // Omits our model, which takes longest.
  int probes = 0;  // With leave-one-job-out: rows of the held-out job to move into training.
};

struct ValidateAnswer {
  Validation ours;
  std::vector<Validation> baselines;  // In the requested order.
  std::string skipped = {};           // A sentence on rows that were skipped; empty: none were.
};

/// Fits the training rows, predicts the test rows, and scores the predictions.
Result<ValidateAnswer> validate_iteration(const ValidateRequest& request);

/// By job and as the mean over jobs, with each job held out in turn.
Result<std::vector<AccuracyRecord>> left_out_accuracy(const CalibrateRequest& request);

/// The rows of a file to measure first.
struct ProbesRequest {
  StepFormat format = StepFormat::kPollux;
  std::vector<std::string> train;
  std::string configs;
  std::string jobs;
  FabricFacts fabric;  // Of the network that the rows were measured on.
  int count = 4;
};

struct ProbesAnswer {
  std::map<std::string, std::vector<std::size_t>> rows;  // By job, from 0.
  std::vector<StepRow> configs;                          // The rows themselves.
  std::map<std::string, std::string> unknown;  // Jobs without rows to choose from, with the reason.
};

Result<ProbesAnswer> choose_probes(const ProbesRequest& request);

}  // namespace stint
