#include "plan/prediction.h"

#include <cmath>

namespace stint {

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

std::string problem(const IterationTime& it) {
  constexpr double kRounding = 1e-6;
  if (it.p10 > it.p90) return "p10_s must not be more than p90_s";
  const double ratio = total(it.parts) / it.mean;
  return std::abs(ratio - 1) <= kRounding ? "" : "the parts must add up to mean_s";
}

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

Seconds total(const IterationParts& parts) {
  return parts.forward + parts.backward + parts.exposed_communication + parts.straggling +
         parts.input + parts.update;
}

Result<Loaded<Prediction>> read_prediction(std::string_view text, const std::string& source) {
  return read_document<Prediction>(text, kPredictionSchema, source);
}

std::string write_prediction(const Prediction& prediction) {
  return write_document(prediction, kPredictionSchema);
}

Status validate(const Prediction& prediction) { return check_fields(prediction, "prediction"); }

Json prediction_schema() {
  return schema_document(kPredictionSchema, "One iteration of a job on a cluster",
                         SchemaWalk::schema_of<Prediction>());
}

}  // namespace stint
