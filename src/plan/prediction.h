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

// For the codec.
template <class Walk>
void describe(Walk& walk, Like<Walk, IterationParts>& it) {
  constexpr Range kTime = Range::kNotNegative;
  walk.number("forward_s", it.forward, kSecond, "Forward pass.", kTime);
  walk.number("backward_s", it.backward, kSecond, "Backward pass.", kTime);
  walk.number("exposed_communication_s", it.exposed_communication, kSecond,
              "Communication that backward does not hide.", kTime);
  walk.number("straggling_s", it.straggling, kSecond, "Waiting for the slowest worker.", kTime);
  walk.number("input_s", it.input, kSecond, "Waiting for data.", kTime);
  walk.number("update_s", it.update, kSecond, "Step of the trainer's optimizer.", kTime);
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, IterationTime>& it) {
  walk.number("mean_s", it.mean, kSecond, "Expected.", Range::kPositive);
  walk.number("p10_s", it.p10, kSecond, "Shorter one time in ten.", Range::kPositive);
  walk.number("p90_s", it.p90, kSecond, "Longer one time in ten.", Range::kPositive);
  walk.field("parts", it.parts, "Where the time goes; adds up to mean_s.");
  walk.rest(it.unknown);
}

std::string problem(const IterationTime& it);

template <class Walk>
void describe(Walk& walk, Like<Walk, MemoryVerdict>& it) {
  walk.field("fits", it.fits, "Whether a replica fits into the accelerator's memory.");
  walk.number("bytes_needed", it.needed, kByte, "By one worker.", Range::kNotNegative);
  walk.number("bytes_available", it.available, kByte, "To one worker.", Range::kNotNegative);
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, Prediction>& it) {
  walk.text("cluster", it.cluster, parse_cluster, "The VMs, as text.");
  walk.field("iteration", it.iteration, "One iteration.");
  walk.field("throughput_samples_per_s", it.throughput_samples_per_second, "Over all workers.",
             {.range = Range::kPositive});
  walk.number("cost_usd_per_million_samples", it.cost_per_million_samples, kDollar,
              "Absent when a price is not known.", Range::kNotNegative);
  walk.field("memory", it.memory, "Absent when the memory is not known.");
  walk.rest(it.unknown);
}

}  // namespace stint
