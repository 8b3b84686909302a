#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/layout.h"

namespace stint {

inline constexpr const char* kPredictionSchema = "stint.prediction/1";

/// The parts of the time of an iteration. They add up to the whole.
struct IterationParts {
  Seconds forward;
  Seconds backward;
  Seconds exposed_communication;  // Communication that backward does not hide.
  Seconds straggling;             // Waiting for the slowest worker.
  Seconds input;                  // Waiting for data.
  Seconds update;
  Json::Object unknown = {};
};

/// A part and its name.
struct IterationPart {
  const char* name;
  Seconds IterationParts::*field;
};

/// All parts, in the order of an iteration.
std::span<const IterationPart> iteration_parts();

Seconds total(const IterationParts& parts);

/// The time of one iteration, with its 80 % interval.
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

/// Workers of a group that have the same batch.
struct BatchShare {
  int workers = 1;
  int batch_per_worker = 1;    // Per micro-step.
  double gradient_weight = 1;  // Weight of each worker's mean gradient in the global mean.
  Json::Object unknown = {};
};

/// The work of each group of the cluster, in its order.
struct PredictedGroup {
  std::string vm;
  std::string device;
  std::optional<std::string> carried_over_from;  // Measured device whose times were scaled.
  std::optional<bool> unvalidated = {};  // No measured row of the device is behind its times.
  int vms = 1;
  int workers_per_vm = 1;
  std::vector<BatchShare> batches;
  Json::Object unknown = {};
};

/// The price of the whole cluster, its region and its date.
struct PriceUsed {
  DollarsPerSecond rate;
  std::string region;
  Date date;  // The oldest date of the prices.
  Json::Object unknown = {};
};

/// A setup with the same or the nearest global batch that fits into memory.
struct FittingBatch {
  int batch_per_worker = 1;  // Largest batch of any worker.
  int accumulation = 1;
  std::optional<std::int64_t> global_batch = {};  // Where it differs from the requested one.
  Json::Object unknown = {};
};

/// One iteration of a job on a cluster.
struct Prediction {
  Cluster cluster;
  IterationTime iteration;
  double throughput_samples_per_second = 0;
  std::optional<Dollars> cost_per_million_samples;
  std::optional<MemoryVerdict> memory;
  std::optional<FittingBatch> fitting;             // Where the memory is insufficient.
  std::optional<std::string> fitting_layout = {};  // The same where the model must be split.
  std::optional<std::int64_t> global_batch;
  std::vector<PredictedGroup> groups;
  std::optional<PriceUsed> price;
  std::vector<std::string> assumptions;  // Sentences.
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
  walk.number("mean_s", it.mean, kSecond, "Expected time.", Range::kPositive);
  walk.number("p10_s", it.p10, kSecond, "10th percentile.", Range::kPositive);
  walk.number("p90_s", it.p90, kSecond, "90th percentile.", Range::kPositive);
  walk.field("parts", it.parts, "Parts of the time; they add up to mean_s.");
  walk.rest(it.unknown);
}

std::string problem(const IterationTime& it);

template <class Walk>
void describe(Walk& walk, Like<Walk, MemoryVerdict>& it) {
  walk.field("fits", it.fits, "Whether a replica fits into the accelerator's memory.");
  walk.number("bytes_needed", it.needed, kByte, "Memory that one worker needs.",
              Range::kNotNegative);
  walk.number("bytes_available", it.available, kByte, "Memory available to one worker.",
              Range::kNotNegative);
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, BatchShare>& it) {
  walk.field("workers", it.workers, "Number of workers with this batch.",
             {.range = Range::kAtLeastOne});
  walk.field("batch_per_worker", it.batch_per_worker, "Samples per micro-step.",
             {.range = Range::kAtLeastOne});
  walk.field("gradient_weight", it.gradient_weight,
             "Weight of each worker's mean gradient in the global mean.",
             {.range = Range::kFraction});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, PredictedGroup>& it) {
  walk.field("vm", it.vm, "VM type.", {.range = Range::kAtLeastOne});
  walk.field("device", it.device, "Device that computes.", {.range = Range::kAtLeastOne});
  walk.field("carried_over_from", it.carried_over_from,
             "Measured device whose times were scaled by data sheets.");
  walk.field("unvalidated", it.unvalidated,
             "Whether no measured row of the device is behind its times; absent: there is one.");
  walk.field("vms", it.vms, "Number of VMs in the group.", {.range = Range::kAtLeastOne});
  walk.field("workers_per_vm", it.workers_per_vm, "Workers on one VM.",
             {.range = Range::kAtLeastOne});
  walk.field("batches", it.batches, "Split of the group's part of the batch over its workers.");
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, PriceUsed>& it) {
  walk.number("usd_per_h", it.rate, kDollar / kHour, "Price of the whole cluster.",
              Range::kNotNegative);
  walk.field("region", it.region, "Region of the price.");
  walk.field("date", it.date, "Date of the oldest price of a VM.");
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, FittingBatch>& it) {
  walk.field("batch_per_worker", it.batch_per_worker, "Largest batch of any worker.",
             {.range = Range::kAtLeastOne});
  walk.field("accumulation", it.accumulation, "Micro-steps per communication.",
             {.range = Range::kAtLeastOne});
  walk.field("global_batch", it.global_batch, "Nearest global batch; absent: the requested one.",
             {.range = Range::kAtLeastOne});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, Prediction>& it) {
  walk.text("cluster", it.cluster, parse_cluster, "VMs, as text.");
  walk.field("iteration", it.iteration, "Prediction of one iteration.");
  walk.field("throughput_samples_per_s", it.throughput_samples_per_second,
             "Throughput of all workers.", {.range = Range::kPositive});
  walk.number("cost_usd_per_million_samples", it.cost_per_million_samples, kDollar,
              "Cost of a million samples; absent: a price is not known.", Range::kNotNegative);
  walk.field("memory", it.memory, "Memory of the fullest worker; absent: it is not known.");
  walk.field("fitting", it.fitting,
             "The same or the nearest global batch in a form that fits into memory.");
  walk.field("fitting_layout", it.fitting_layout,
             "Fastest split of the model over the workers that fits, as text.");
  walk.field("global_batch", it.global_batch, "Samples per iteration.",
             {.range = Range::kAtLeastOne});
  walk.field("groups", it.groups, "Work of each group of the cluster.");
  walk.field("price", it.price, "Price of the cluster; absent: a price is not known.");
  walk.field("assumptions", it.assumptions, "Assumptions, as sentences.");
  walk.rest(it.unknown);
}

}  // namespace stint
