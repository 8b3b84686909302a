#pragma once

#include <cstddef>
#include <string>

#include "base/terminal.h"
#include "load/predict_inputs.h"
#include "plan/prediction.h"

namespace stint::cli {

/// "calibration local of 2026-11-16, 3 days old".
std::string calibration_age(const std::string& name, const Date& date, const Date& today);

/// The age of a calibration and its own error: "local of 2026-11-16, 3 days old; off by 0.9 % on
/// cluster sizes left out (n 24)".
std::string calibration_text(const CalibrationRecord& calibration, const Date& today);

/// A predicted iteration for a person: its parts with bars, its interval, throughput, dollars with
/// the date of their price, memory, how an uneven batch is shared out, and what is assumed.
std::string prediction_sheet(const std::string& job, const Prediction& prediction,
                             const Terminal& terminal);

/// The parts of an iteration with bars, and the whole with its interval.
std::string iteration_text(const IterationTime& iteration);

/// How an uneven batch is shared out, a line per group; empty for an even one.
std::string batch_text(const Prediction& prediction, const Terminal& terminal);

std::size_t workers_of(const Prediction& prediction);

/// Two predictions side by side with their difference, part by part.
std::string change_table(const Prediction& before, const Prediction& after,
                         const Terminal& terminal);

/// The same as JSON: before, after, and the difference of each part.
Json change_json(const std::string& job, const Prediction& before, const Prediction& after);

/// Why a batch does not fit into memory, and what would. Requires a verdict that says so.
std::string memory_problem(const Prediction& prediction);

}  // namespace stint::cli
