#include "job/job.h"

#include <cmath>
#include <fmt/format.h>
#include <utility>

namespace stint {

namespace {
constexpr FieldRules kName{.range = Range::kAtLeastOne};
constexpr FieldRules kPositive{.range = Range::kPositive};
constexpr FieldRules kSamples{.range = Range::kPositive, .max = kSamplesMax};
constexpr FieldRules kNotNegative{.range = Range::kNotNegative};
constexpr FieldRules kCount{.range = Range::kAtLeastOne};
constexpr FieldRules kFraction{.range = Range::kFraction};
// One unit for the times of an iteration, so that they compare at a glance.
constexpr FieldRules kTime{.range = Range::kNotNegative, .unit = "ms"};
}  // namespace

template <class Walk>
void describe(Walk& walk, Like<Walk, Timing>& it) {
  walk.field("median", it.median, "The middle of the measurements.", kTime);
  walk.field("spread", it.spread, "Robust standard deviation of one measurement.", kTime);
  walk.field("count", it.count, "How often it was measured.", kCount);
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, ComputeSample>& it) {
  walk.field("device", it.device, "A gpu of the catalogue, or a processor.", kName);
  walk.field("batch_per_worker", it.batch_per_worker, "Samples per iteration.", kCount);
  walk.field("forward", it.forward, "Forward pass.");
  walk.field("backward", it.backward, "Backward pass, without communication.");
  walk.field("update", it.update, "Step of the trainer's optimizer.");
  walk.field("peak_memory", it.peak_memory, "Of the accelerator.", kPositive);
  walk.field("predicted", it.predicted,
             "Not measured: standard deviation of the logarithm of the computed times.", kPositive);
  walk.rest(it.unknown);
}

std::string problem(const ComputeSample& it) {
  // An update of nothing is that of a profile without one; the others are always work.
  for (const auto& [name, timing] :
       {std::pair("forward", &it.forward), {"backward", &it.backward}}) {
    if (timing->median > Seconds{}) continue;
    return fmt::format("the {} median of {} at a batch of {} must be above zero; measure again",
                       name, it.device, it.batch_per_worker);
  }
  return "";
}

template <class Walk>
void describe(Walk& walk, Like<Walk, Bucket>& it) {
  walk.field("bytes", it.bytes, "Gradients that are sent together.", kPositive);
  walk.field("ready", it.ready, "Fraction of backward done when they can leave.", kFraction);
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, Target>& it) {
  walk.field("metric", it.metric, "What is measured, for example accuracy.", kName);
  walk.field("level", it.level, "The value to reach.");
  walk.field("lower_is_better", it.lower_is_better, "True for error rates and losses.");
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, Goal>& it) {
  walk.field("epochs", it.epochs, "Passes over the data.", kSamples);
  walk.field("samples", it.samples, "Samples to be seen.", kSamples);
  walk.field("target", it.target, "A level of a metric.");
  walk.rest(it.unknown);
}

std::string problem(const Goal& it) {
  const int given = (it.epochs ? 1 : 0) + (it.samples ? 1 : 0) + (it.target ? 1 : 0);
  return given == 1 ? "" : "exactly one of epochs, samples and target is required";
}

template <class Walk>
void describe(Walk& walk, Like<Walk, NoiseRecord>& it) {
  walk.field("batch", it.batch, "Global batch at which it was taken.", kCount);
  walk.field("gradient_square", it.gradient_square, "Squared norm of the mean gradient.");
  walk.field("gradient_variance", it.gradient_variance, "Variance of one sample's gradient.");
  walk.field("progress", it.progress, "Samples at the reference batch.", kNotNegative);
  walk.field("metric", it.metric, "Value of the target's metric.");
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, BatchRange>& it) {
  walk.field("reference", it.reference, "Global batch the job is known to train with.", kCount);
  walk.field("min", it.min, "Smallest allowed.", kCount);
  walk.field("max", it.max, "Largest allowed.", kCount);
  walk.rest(it.unknown);
}

std::string problem(const BatchRange& it) {
  if (it.min && *it.min > it.reference) return "min must not be more than reference";
  if (it.max && *it.max < it.reference) return "max must not be less than reference";
  return "";
}

template <class Walk>
void describe(Walk& walk, Like<Walk, CheckpointSize>& it) {
  walk.field("bytes", it.bytes, "Size of one checkpoint.", kPositive);
  walk.field("save_time", it.save_time, "Training waits this long for one.", kNotNegative);
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, JobProfile>& it) {
  walk.field("name", it.name, "What the job is called.", kName);
  walk.field("description", it.description, "For people.");
  walk.field("gradient_bytes", it.gradient_bytes, "Sent by each worker per iteration.", kPositive);
  walk.field("parameter_bytes", it.parameter_bytes, "Of the model.", kPositive);
  walk.field("optimizer_bytes", it.optimizer_bytes, "State of the optimizer.", kNotNegative);
  walk.field("buckets", it.buckets, "Gradients in the order they become ready.");
  walk.field("compute", it.compute, "Measured iterations of one worker.");
  walk.field("flops_per_sample", it.flops_per_sample, "Forward and backward.", kPositive);
  walk.field("bytes_moved_per_sample", it.bytes_moved_per_sample,
             "Through the accelerator's memory.", kPositive);
  walk.field("input_per_sample", it.input_per_sample, "Input pipeline.", kNotNegative);
  walk.field("samples_per_epoch", it.samples_per_epoch, "Size of the data set.",
             {.range = Range::kAtLeastOne, .max = kSamplesMax});
  walk.field("goal", it.goal, "When the training is done.");
  walk.field("batch", it.batch, "Global batches the job may use.");
  walk.field("learning_rate_rule", it.learning_rate_rule, "How it follows the batch.");
  walk.field("noise", it.noise, "Gradient statistics over a run.");
  walk.field("checkpoint", it.checkpoint, "What saving it takes.");
  walk.field("training", it.training, "How the script trains, as its profile saw it.");
  walk.field("work", it.work, "What a sample computes and keeps, by operator.");
  walk.field("command", it.command, "That trains, word by word.");
  walk.field("environment", it.environment, "Versions and libraries of the measurement.");
  walk.rest(it.unknown);
}

std::string problem(const JobProfile& it) {
  Bytes sum;
  double ready = 0;
  for (const Bucket& bucket : it.buckets) {
    if (bucket.ready < ready) return "buckets must be in the order in which they become ready";
    ready = bucket.ready;
    sum += bucket.bytes;
  }
  constexpr double kRounding = 0.01;  // Profilers round and pad buckets.
  const double ratio = sum / it.gradient_bytes;
  if (!it.buckets.empty() && std::abs(ratio - 1) > kRounding) {
    return fmt::format("the buckets add up to {:.3g} times gradient_bytes; the two must be equal",
                       ratio);
  }
  if (!it.goal || !it.goal->epochs) return "";
  if (!it.samples_per_epoch) return "a goal in epochs needs samples_per_epoch; add it";
  const double samples = *it.goal->epochs * static_cast<double>(*it.samples_per_epoch);
  if (samples <= kSamplesMax) return "";
  return fmt::format("the epochs of the goal are {:.3g} samples; the maximum is {:g}", samples,
                     kSamplesMax);
}

std::span<const EnumName<LearningRateRule>> names_of(LearningRateRule /*type*/) {
  static constexpr EnumName<LearningRateRule> kNames[] = {
      {LearningRateRule::kFixed, "fixed"},
      {LearningRateRule::kLinear, "linear"},
      {LearningRateRule::kSquareRoot, "square-root"},
      {LearningRateRule::kAdaScale, "adascale"}};
  return kNames;
}

Result<Loaded<JobProfile>> read_job(std::string_view text, const std::string& source) {
  return read_document<JobProfile>(text, kJobSchema, source);
}

std::string write_job(const JobProfile& job) { return write_document(job, kJobSchema); }

Status validate(const JobProfile& job) { return check_fields(job, "job"); }

Json job_schema() {
  return schema_document(kJobSchema, "What a training job needs, measured once",
                         SchemaWalk::schema_of<JobProfile>());
}

}  // namespace stint
