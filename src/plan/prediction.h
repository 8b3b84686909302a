#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "plan/layout.h"

namespace stint {

inline constexpr const char* kPredictionSchema = "stint.prediction/1";

/// Where the time of an iteration goes. The parts add up to the whole.
struct IterationParts {
  Seconds forward;
  Seconds backward;
  Seconds exposed_communication;  // That backward does not hide.
  Seconds straggling;             // Waiting for the slowest worker.
  Seconds input;                  // Waiting for data.
  Seconds update;
  Json::Object unknown = {};
};

Seconds total(const IterationParts& parts);

/// The time of one iteration, with the interval that holds it eight times in ten.
struct IterationTime {
  Seconds mean;
  Seconds p10;
  Seconds p90;
  IterationParts parts;
  Json::Object unknown = {};
};

struct MemoryVerdict {
  bool fits = true;
  Bytes needed;
  Bytes available;
  Json::Object unknown = {};
};

/// One iteration of a job on a cluster.
struct Prediction {
  Cluster cluster;
  IterationTime iteration;
  double throughput_samples_per_second = 0;
  std::optional<Dollars> cost_per_million_samples;
  std::optional<MemoryVerdict> memory;
  Json::Object unknown = {};
};

Result<Loaded<Prediction>> read_prediction(std::string_view text, const std::string& source);
std::string write_prediction(const Prediction& prediction);
Status validate(const Prediction& prediction);
Json prediction_schema();

}  // namespace stint
