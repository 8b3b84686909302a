#include "measure/trace/profile_records.h"

#include "measure/json_lines.h"

namespace stint {
namespace {
constexpr FieldRules kCount{.range = Range::kAtLeastOne};
constexpr FieldRules kNotNegative{.range = Range::kNotNegative};
constexpr Range kTime = Range::kNotNegative;
}  // namespace

template <class Walk>
void describe(Walk& walk, Like<Walk, ProfileStart>& it) {
  walk.field("world", it.world, "Workers.", kCount);
  walk.field("device", it.device, "A gpu of the catalogue, or a processor.", kCount);
  walk.field("environment", it.environment, "Versions and libraries.");
  walk.number("gradient_bytes", it.gradient_bytes, kByte, "Of all gradients.", Range::kPositive);
  walk.number("parameter_bytes", it.parameter_bytes, kByte, "Of the model.", Range::kPositive);
  walk.number("optimizer_bytes", it.optimizer_bytes, kByte, "Of its state.", kTime);
  walk.field("optimizer", it.optimizer, "Its class.");
  walk.field("dataset", it.dataset, "Samples in an epoch.", kNotNegative);
  walk.field("communication", it.communication, "Whether buckets were timed.", kCount);
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, ProfiledBucket>& it) {
  walk.number("bytes", it.bytes, kByte, "Gradients that are sent together.", Range::kPositive);
  walk.number("ready_s", it.ready, kSecond, "Since backward began.", kTime);
  walk.number("reduce_s", it.reduce, kSecond, "All-reduce.", kTime);
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, ProfiledStep>& it) {
  walk.field("number", it.number, "From 0.", kNotNegative);
  walk.field("warmup", it.warmup, "Before the measurement.");
  walk.field("sampled", it.sampled, "Further things were measured.");
  walk.field("batch", it.batch, "Samples in one pass.", kCount);
  walk.field("passes", it.passes, "Forward and backward passes.", kCount);
  walk.number("time_s", it.time, kSecond, "Of the iteration.", kTime);
  walk.number("input_s", it.input, kSecond, "Waiting for data.", kTime);
  walk.number("forward_s", it.forward, kSecond, "Forward passes.", kTime);
  walk.number("backward_s", it.backward, kSecond, "Backward passes.", kTime);
  walk.number("update_s", it.update, kSecond, "Step of the optimizer.");
  walk.number("peak_bytes", it.peak, kByte, "Memory.", kTime);
  walk.field("buckets", it.buckets, "In the order they became ready.");
  walk.field("local_square", it.local_square, "Of this worker's gradient.", kNotNegative);
  walk.field("mean_square", it.mean_square, "Of the mean gradient.", kNotNegative);
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, ProfileExit>& it) {
  walk.field("backwards", it.backwards, "Backward passes.", kNotNegative);
  walk.field("steps", it.steps, "Iterations.", kNotNegative);
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, ProfileRecord>& it) {
  walk.field("rank", it.rank, "Of the worker.", kNotNegative);
  walk.field("start", it.start, "The job.");
  walk.field("iteration", it.iteration, "An iteration is done.");
  walk.field("exit", it.exit, "The script ended by itself.");
  walk.rest(it.unknown);
}

Result<Loaded<std::vector<ProfileRecord>>> read_profile_records(std::string_view text,
                                                                const std::string& source) {
  return read_json_lines<ProfileRecord>(text, kProfileSchema, source);
}

}  // namespace stint
