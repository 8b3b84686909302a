#include "plan/prediction.h"

#include <cmath>

namespace stint {

std::string problem(const IterationTime& it) {
  constexpr double kRounding = 1e-6;
  if (it.p10 > it.p90) return "p10_s must not be more than p90_s";
  const double ratio = total(it.parts) / it.mean;
  return std::abs(ratio - 1) <= kRounding ? "" : "the parts must add up to mean_s";
}

std::span<const IterationPart> iteration_parts() {
  static constexpr IterationPart kParts[] = {
      {"forward", &IterationParts::forward},
      {"backward", &IterationParts::backward},
      {"communication", &IterationParts::exposed_communication},
      {"straggling", &IterationParts::straggling},
      {"input", &IterationParts::input},
      {"update", &IterationParts::update}};
  return kParts;
}

// Written out rather than over iteration_parts(): searches ask for it by the million.
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
