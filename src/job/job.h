#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/codec.h"
#include "job/work.h"

namespace stint {

inline constexpr const char* kJobSchema = "stint.job/1";

/// A duration that was measured several times.
struct Timing {
  Seconds median;
  std::optional<Seconds> spread;  // Robust standard deviation: 1.4826 × median deviation.
  std::optional<int> count;       // How often it was measured.
  Json::Object unknown = {};
};

/// What one iteration on one worker took.
struct ComputeSample {
  std::string device;  // The name of a gpu of the catalogue, or of a processor.
  int batch_per_worker = 1;
  Timing forward;
  Timing backward;
  Timing update;
  std::optional<Bytes> peak_memory;
  // Absent: measured. Otherwise computed from the job's work, and this is the standard deviation of
  // the logarithm of the times.
  std::optional<double> predicted = {};
  Json::Object unknown = {};
};

/// Gradients that are sent together.
struct Bucket {
  Bytes bytes;
  double ready = 1;  // Fraction of backward that is done when they can leave.
  Json::Object unknown = {};
};

/// A level of a metric to be reached.
struct Target {
  std::string metric;
  double level = 0;
  std::optional<bool> lower_is_better;  // Absent: higher is better.
  Json::Object unknown = {};
};

/// When the training is done; exactly one of these.
struct Goal {
  std::optional<double> epochs;
  std::optional<double> samples;
  std::optional<Target> target;
  Json::Object unknown = {};
};

/// The gradient's size and noise at one moment of a run.
struct NoiseRecord {
  int batch = 1;                   // Global batch at which it was taken.
  double gradient_square = 0;      // Squared norm of the mean gradient.
  double gradient_variance = 0;    // Of one sample's gradient, summed over parameters.
  std::optional<double> progress;  // In samples at the reference batch.
  std::optional<double> metric;    // Of the target, at that moment.
  Json::Object unknown = {};
};

/// How the learning rate follows the batch.
enum class LearningRateRule { kFixed, kLinear, kSquareRoot, kAdaScale };

std::span<const EnumName<LearningRateRule>> names_of(LearningRateRule type);

/// Global batches the job may use.
struct BatchRange {
  int reference = 1;  // The one the profile's author trains with.
  std::optional<int> min;
  std::optional<int> max;
  Json::Object unknown = {};
};

struct CheckpointSize {
  Bytes bytes;
  std::optional<Seconds> save_time;  // Training waits this long while one is taken.
  Json::Object unknown = {};
};

/// How a script trains, as its profile saw it. What was not seen is absent.
struct TrainingMethod {
  std::vector<std::string> optimizers;  // The class of each.
  std::optional<int> accumulation;      // Micro-steps for one step of an optimizer.
  std::vector<std::string> parameters;  // Types of the numbers that are trained: "float32".
  std::optional<std::string> autocast;  // The type that it computes with: "bfloat16".
  std::vector<std::string> tf32;        // Where TensorFloat-32 is allowed: "matmul".
  std::optional<bool> gradient_scaler;
  std::vector<std::string> clipping;  // Of gradients, by "norm" or "value".
  std::optional<Bytes> frozen;        // Parameters that no optimizer trains.
  std::optional<int> loader_workers;  // Processes of the DataLoader.
  std::optional<bool> compiled;       // By torch.compile.
  std::optional<bool> checkpointing;  // Of activations.
  Json::Object unknown = {};
};

/// What a training job needs, measured once.
struct JobProfile {
  std::string name;
  std::optional<std::string> description;
  Bytes gradient_bytes;
  std::optional<Bytes> parameter_bytes;
  std::optional<Bytes> optimizer_bytes;
  std::vector<Bucket> buckets;  // In the order they become ready.
  std::vector<ComputeSample> compute;
  std::optional<Flops> flops_per_sample;
  std::optional<Bytes> bytes_moved_per_sample;  // Through the accelerator's memory.
  std::optional<Seconds> input_per_sample;      // Work of the input pipeline.
  std::optional<std::int64_t> samples_per_epoch;
  std::optional<Goal> goal;
  std::optional<BatchRange> batch;
  std::optional<LearningRateRule> learning_rate_rule;
  std::vector<NoiseRecord> noise;
  std::optional<CheckpointSize> checkpoint;
  std::optional<TrainingMethod> training;
  std::optional<JobWork> work;       // Gives times on accelerators that were not measured.
  std::vector<std::string> command;  // That trains, word by word.
  std::map<std::string, std::string> environment;  // Versions and libraries of the measurement.
  Json::Object unknown = {};
};

Result<Loaded<JobProfile>> read_job(std::string_view text, const std::string& source);
std::string write_job(const JobProfile& job);
Status validate(const JobProfile& job);
Json job_schema();

// For the codec.
template <class Walk>
void describe(Walk& walk, Like<Walk, TrainingMethod>& it) {
  walk.field("optimizers", it.optimizers, "The class of each optimizer.");
  walk.field("accumulation", it.accumulation, "Micro-steps for one step of an optimizer.",
             {.range = Range::kAtLeastOne});
  walk.field("parameters", it.parameters, "Types of the numbers that are trained.");
  walk.field("autocast", it.autocast, "Type of the numbers that autocast computes with.");
  walk.field("tf32", it.tf32, "Where TensorFloat-32 is allowed: matmul, convolution.");
  walk.field("gradient_scaler", it.gradient_scaler, "Whether a gradient scaler is used.");
  walk.field("clipping", it.clipping, "How gradients are clipped: norm, value.");
  walk.field("frozen", it.frozen, "Parameters that no optimizer trains.",
             {.range = Range::kNotNegative});
  walk.field("loader_workers", it.loader_workers, "Worker processes of the DataLoader.",
             {.range = Range::kNotNegative});
  walk.field("compiled", it.compiled, "Whether torch.compile is used.");
  walk.field("activation_checkpointing", it.checkpointing,
             "Whether activations are computed again in the backward pass.");
  walk.rest(it.unknown);
}

}  // namespace stint
