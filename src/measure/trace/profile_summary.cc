#include "measure/trace/profile_summary.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

#include "measure/measurement.h"
#include "measure/trace/timing_of.h"

namespace stint {
namespace {

constexpr FieldRules kCount{.range = Range::kAtLeastOne};
constexpr FieldRules kNotNegative{.range = Range::kNotNegative};
constexpr Range kTime = Range::kNotNegative;

using Steps = std::vector<const ProfiledStep*>;

double rounded_fraction(double fraction) { return std::round(fraction * 1e4) / 1e4; }

/// The commonest value.
template <class Value>
int commonest(const Steps& steps, Value value) {
  std::map<int, int> counts;
  for (const ProfiledStep* step : steps) ++counts[value(*step)];
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most->first;
}

int batch_of(const ProfiledStep& step) { return step.batch.value_or(0); }
int passes_of(const ProfiledStep& step) { return step.passes; }

template <class Keep>
Steps kept(const Steps& steps, Keep keep) {
  Steps some;
  std::copy_if(steps.begin(), steps.end(), std::back_inserter(some),
               [&](const ProfiledStep* step) { return keep(*step); });
  return some;
}

/// Those that `keep` keeps, or all of them if it keeps none.
template <class Keep>
Steps preferred(const Steps& steps, Keep keep) {
  Steps some = kept(steps, keep);
  return some.empty() ? steps : some;
}

bool is_reduced(const ProfiledStep& step) {
  return !step.buckets.empty() && step.buckets.back().reduce.has_value();
}

/// Backward without the communication that follows it.
Seconds backward_of(const ProfiledStep& step) {
  if (!is_reduced(step) || step.passes > 1) return step.backward;
  return std::min(step.backward, step.buckets.back().ready);
}

template <class Value>
Timing timing_over(const Steps& steps, Value value) {
  std::vector<Seconds> times;
  times.reserve(steps.size());
  for (const ProfiledStep* step : steps) times.push_back(value(*step));
  return timing_of(std::move(times));
}

/// Buckets are compared only between iterations that have as many as most; PyTorch arranges them
/// anew after the first one.
std::vector<BucketSummary> buckets_of(const Steps& all) {
  const Steps steps = kept(all, [](const ProfiledStep& step) { return !step.buckets.empty(); });
  if (steps.empty()) return {};
  const std::size_t count = steps.back()->buckets.size();
  std::vector<BucketSummary> buckets;
  double latest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<double> ready;
    std::vector<Seconds> reduce;
    for (const ProfiledStep* step : steps) {
      if (step->buckets.size() != count) continue;
      // With accumulation only the last pass sends, so that it is the whole.
      const Seconds whole = backward_of(*step) / step->passes;
      if (whole > Seconds{}) ready.push_back(step->buckets[i].ready / whole);
      if (step->buckets[i].reduce) reduce.push_back(*step->buckets[i].reduce);
    }
    if (ready.empty()) return {};
    latest = std::clamp(rounded_fraction(median_of(std::move(ready))), latest, 1.0);
    BucketSummary bucket{.bytes = steps.back()->buckets[i].bytes, .ready = latest};
    if (!reduce.empty()) bucket.reduce = timing_of(std::move(reduce));
    buckets.push_back(std::move(bucket));
  }
  return buckets;
}

/// The gradients of each iteration in which every worker measured them.
std::vector<GradientSample> gradients_of(const std::vector<ProfileRecord>& records,
                                         const ProfileSummary& summary) {
  std::map<std::int64_t, GradientSample> by_number;
  for (const ProfileRecord& record : records) {
    const auto& step = record.iteration;
    if (!step || step->warmup || !step->local_square || !step->mean_square) continue;
    GradientSample& sample = by_number[step->number];
    const bool one_worker = summary.start.world == 1;
    // The first of several passes stands for all of them: it is as good as any.
    const int copies = one_worker ? step->passes : 1;
    sample.batch = summary.compute.batch_per_worker * (one_worker ? 1 : step->passes);
    sample.squares.insert(sample.squares.end(), static_cast<std::size_t>(copies),
                          *step->local_square);
    sample.mean_square = *step->mean_square;
  }
  std::vector<GradientSample> samples;
  for (auto& [number, sample] : by_number) {
    const auto workers = static_cast<int>(sample.squares.size());
    const bool whole = summary.start.world == 1 || workers == summary.start.world;
    if (whole && workers > 1) samples.push_back(std::move(sample));
  }
  return samples;
}

/// Those whose times count for most.
Steps timed_steps(const Steps& measured) {
  const Steps stepped =
      preferred(measured, [](const ProfiledStep& step) { return !step.skipped.value_or(false); });
  return preferred(stepped, [](const ProfiledStep& step) { return !step.sampled; });
}

/// The global batch that the script trains with by itself.
std::optional<int> reference_batch(const std::vector<ProfileSummary>& runs) {
  const ProfileSummary& any = runs.front();
  const int others = any.passes * any.start.world;
  for (const ProfileSummary& run : runs) {
    if (run.own) return run.compute.batch_per_worker * others;
  }
  if (any.start.own_batch) return *any.start.own_batch * others;
  if (runs.size() > 1) return std::nullopt;
  return any.compute.batch_per_worker * others;
}

/// How the script trains, with what only the iterations tell.
std::optional<TrainingMethod> method_of(const ProfileSummary& run) {
  auto method = run.start.training;
  if (!method) return std::nullopt;
  if (run.start.frozen_bytes > Bytes{}) method->frozen = run.start.frozen_bytes;
  // Several steps of one optimizer may belong to one iteration, each with a batch of its own.
  method->accumulation = std::max(1, run.passes / std::max(1, run.updates));
  return method;
}

/// Bad input unless the records tell of at least one iteration that counts.
Status check_measured(const std::vector<ProfileRecord>& records, const Steps& measured) {
  if (!measured.empty()) return {};
  const auto steps = std::count_if(records.begin(), records.end(), [](const ProfileRecord& it) {
    return it.rank == 0 && it.iteration.has_value();
  });
  return bad_input(
      fmt::format("only {} iterations of the script were seen, all warm-up; let it train longer or "
                  "lower --warmup",
                  steps));
}

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
  walk.number("frozen_bytes", it.frozen_bytes, kByte, "That no optimizer trains.", kTime);
  walk.field("training", it.training, "How the script trains.");
  walk.field("batch_from", it.batch_from, "Who can be asked for another batch.");
  walk.field("batch_fixed", it.batch_fixed, "Why nobody can be.");
  walk.field("own_batch", it.own_batch, "What the script takes unless it is asked.", kCount);
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
  walk.field("passes", it.passes, "Micro-steps.", kCount);
  walk.field("updates", it.updates, "Steps of the optimizer that stepped most often.", kCount);
  walk.field("skipped", it.skipped, "A gradient scaler left a step out.");
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
  walk.field("operators", it.operators, "Operators of an iteration.");
  walk.field("operator_total", it.total, "All operators of an iteration are told.");
  walk.field("exit", it.exit, "The script ended by itself.");
  walk.rest(it.unknown);
}

Result<Loaded<std::vector<ProfileRecord>>> read_profile_records(std::string_view text,
                                                                const std::string& source) {
  const Status count = check_line_count(text, source);
  if (!count.ok()) return count.error();
  return read_json_lines<ProfileRecord>(text, kProfileSchema, source);
}

Result<ProfileSummary> summarise_profile(const std::vector<ProfileRecord>& records,
                                         std::optional<int> batch) {
  ProfileSummary summary;
  Steps measured;
  bool started = false;
  for (const ProfileRecord& record : records) {
    if (record.start && (!started || record.rank == 0)) {
      summary.start = *record.start;
      started = true;
    }
    if (record.iteration && !record.iteration->warmup) measured.push_back(&*record.iteration);
  }
  const Status enough = check_measured(records, measured);
  if (!enough.ok()) return enough.error();
  if (!started) return bad_input("the script's records have no start; profile it again");
  const int common = commonest(measured, batch_of);
  if (common == 0 && !batch) {
    return bad_input(
        "the batch size could not be detected; name it with --batches, and --batch-flag if the "
        "script has a flag for it");
  }
  measured = kept(measured, [&](const ProfiledStep& step) { return batch_of(step) == common; });
  const int passes = commonest(measured, passes_of);
  measured = kept(measured, [&](const ProfiledStep& step) { return step.passes == passes; });
  const Steps timed = timed_steps(measured);
  const bool reduced =
      std::all_of(timed.begin(), timed.end(), [](const auto* step) { return is_reduced(*step); });

  summary.seen_batch = common;
  summary.steps = static_cast<int>(measured.size()) / std::max(1, summary.start.world);
  summary.passes = passes;
  summary.updates = timed.front()->updates.value_or(1);
  ComputeSample& compute = summary.compute;
  compute.device = summary.start.device;
  compute.batch_per_worker = batch.value_or(common);
  compute.forward = timing_over(timed, [](const auto& it) { return it.forward / it.passes; });
  compute.backward = timing_over(timed, [](const auto& it) { return backward_of(it) / it.passes; });
  compute.update =
      timing_over(timed, [](const auto& it) { return std::max(it.update, Seconds{}); });
  for (const ProfiledStep* step : measured) {
    compute.peak_memory = std::max(compute.peak_memory.value_or(Bytes{}), step->peak);
  }
  if (compute.peak_memory <= Bytes{}) compute.peak_memory.reset();
  const Timing input = timing_over(timed, [](const auto& it) { return it.input / it.passes; });
  if (input.median > Seconds{}) summary.input = input;
  const Steps whole = kept(timed, [](const auto& it) { return it.time.has_value(); });
  if (!whole.empty())
    summary.iteration = timing_over(whole, [](const auto& it) { return *it.time; });
  if (reduced && summary.passes == 1) {
    summary.exposed =
        timing_over(timed, [](const auto& it) { return it.backward - backward_of(it); });
  }
  summary.buckets = buckets_of(reduced ? timed : measured);
  summary.gradients = gradients_of(records, summary);
  return summary;
}

JobProfile profile_of(const std::string& name, std::vector<ProfileSummary> runs) {
  CHECK(!runs.empty());
  std::sort(runs.begin(), runs.end(), [](const ProfileSummary& a, const ProfileSummary& b) {
    return a.compute.batch_per_worker < b.compute.batch_per_worker;
  });
  const ProfileSummary& largest = runs.back();
  JobProfile job{.name = name};
  job.gradient_bytes = largest.start.gradient_bytes;
  job.parameter_bytes = largest.start.parameter_bytes;
  job.optimizer_bytes = largest.start.optimizer_bytes;
  job.environment = largest.start.environment;
  job.environment["optimizer"] = largest.start.optimizer;
  job.environment["workers"] = fmt::format("{}", largest.start.world);
  for (const BucketSummary& bucket : largest.buckets) {
    job.buckets.push_back({.bytes = bucket.bytes, .ready = bucket.ready});
  }
  if (!job.buckets.empty()) {
    // Parameters that the loss does not depend on are never sent.
    job.gradient_bytes = Bytes{};
    for (const Bucket& bucket : job.buckets) job.gradient_bytes += bucket.bytes;
  }
  for (const ProfileSummary& run : runs) {
    ComputeSample& sample = job.compute.emplace_back(run.compute);
    for (Timing* timing : {&sample.forward, &sample.backward, &sample.update}) {
      *timing = profile_timing(*timing);
    }
  }
  if (largest.input) {
    job.input_per_sample = profile_time(largest.input->median / largest.compute.batch_per_worker);
  }
  if (largest.start.dataset.value_or(0) > 0) job.samples_per_epoch = largest.start.dataset;
  if (const auto reference = reference_batch(runs)) job.batch = BatchRange{.reference = *reference};
  job.training = method_of(largest);
  // What has to be saved to go on training.
  job.checkpoint = CheckpointSize{.bytes = *job.parameter_bytes + *job.optimizer_bytes};
  return job;
}

}  // namespace stint
