#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "job/job.h"
#include "models/known_model.h"

namespace stint {

/// How the weights are trained.
struct TrainMethod {
  enum class Kind { kFull, kLora, kFrozen };
  Kind kind = Kind::kFull;
  int rank = 16;                            // Of the adapters of LoRA.
  std::optional<std::int64_t> layers = {};  // First layers that are frozen; absent: all.
};

/// "full", "lora", "lora:16", "frozen" or "frozen:10"; anything else is a usage error.
Result<TrainMethod> parse_method(std::string_view text);
std::string to_text(const TrainMethod& method);

/// A training of a model, as it is asked for. What is absent is customary for the model.
struct ModelTraining {
  std::string model;  // The name of a known one, or the path of a config.json.
  std::optional<double> tokens;
  std::optional<double> samples;  // Of a pass over the data.
  std::optional<double> epochs;
  std::optional<std::int64_t> sequence;
  std::optional<std::int64_t> image;  // Pixels of the side of an image.
  std::optional<int> batch;           // Global.
  std::optional<WorkPrecision> precision;
  std::optional<TrainMethod> method;
  Recompute recompute = Recompute::kNone;
  std::optional<double> eval_every;  // Training samples between two evaluations.
};

/// The training as the name of a job, "model:llama-3-8b,method=lora:16,tokens=100M", and back. A
/// text that does not begin with "model:" is none; usage errors name the key that is wrong.
bool names_model(std::string_view job);
Result<ModelTraining> parse_training(std::string_view job);
std::string to_text(const ModelTraining& training);

/// A number with k, M, B or T: "100M".
std::optional<double> parse_amount(std::string_view text);

/// What reading, decoding and augmenting an image takes of one vCPU, by bounds: nobody published
/// it.
struct ImageInput {
  Seconds low;
  Seconds high;

  /// The middle of both by ratio.
  Seconds typical() const { return std::sqrt(high / low) * low; }
};

/// The profile of the training: bytes, operators, memory and goal from the shape of the model. The
/// notes of its work say what was assumed. Usage errors: a sequence longer than the model's, a goal
/// that is not known, more frozen layers than there are.
Result<JobProfile> model_job(const KnownModel& model, const ModelTraining& training,
                             const ImageInput& input);

}  // namespace stint
