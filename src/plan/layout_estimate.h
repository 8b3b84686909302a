#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/parallel_layout.h"

namespace stint {

/// The parts of an iteration of a model that is split over workers. They add up to the whole.
struct LayoutParts {
  Seconds forward;
  Seconds backward;        // With what is computed again.
  Seconds tensor;          // Collectives of tensor and context parallelism and of experts.
  Seconds gathers;         // Exposed gathers and scatters of sharded parameters.
  Seconds point_to_point;  // Transfers between stages.
  Seconds bubble;          // Waiting for other stages.
  Seconds gradients;       // Exposed reduction of gradients.
  Seconds update;
  Seconds host;  // Launches that computing does not hide, and fixed costs.
  Json::Object unknown = {};
};

/// A part and its name for a person.
struct LayoutPart {
  const char* name;
  Seconds LayoutParts::*field;
};

/// All parts, in the order of an iteration.
std::span<const LayoutPart> layout_parts();

/// One layout of a model on a cluster, with what it is predicted to take.
struct LayoutEstimate {
  ParallelLayout layout;
  Seconds mean;  // Of an iteration, with its 80 % interval.
  Seconds p10;
  Seconds p90;
  std::optional<double> tokens_per_second;  // Of all workers; absent: no model of text.
  LayoutParts parts;
  Bytes reserved;   // Peak of the fullest worker, with what the allocator and the driver hold.
  Bytes allocated;  // Peak that PyTorch allocates.
  Bytes available;  // Memory of one accelerator.
  double p_fits = 1;
  std::vector<std::string> unvalidated;  // Parts that no measured row is behind.
  Json::Object unknown = {};
};

std::string problem(const LayoutEstimate& it);

// For the codec.
template <class Walk>
void describe(Walk& walk, Like<Walk, LayoutParts>& it) {
  constexpr Range kTime = Range::kNotNegative;
  walk.number("forward_s", it.forward, kSecond, "Forward passes of all micro-batches.", kTime);
  walk.number("backward_s", it.backward, kSecond, "Backward passes, with recomputation.", kTime);
  walk.number("tensor_s", it.tensor, kSecond,
              "Collectives of tensor and context parallelism and of experts.", kTime);
  walk.number("gathers_s", it.gathers, kSecond,
              "Exposed gathers and scatters of sharded parameters.", kTime);
  walk.number("point_to_point_s", it.point_to_point, kSecond, "Transfers between stages.", kTime);
  walk.number("bubble_s", it.bubble, kSecond, "Waiting for other stages of the pipeline.", kTime);
  walk.number("gradients_s", it.gradients, kSecond, "Exposed reduction of gradients.", kTime);
  walk.number("update_s", it.update, kSecond, "Step of the trainer's optimizer.", kTime);
  walk.number("host_s", it.host, kSecond, "Kernel launches and fixed costs.", kTime);
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, LayoutEstimate>& it) {
  constexpr FieldRules kProbability{.range = Range::kNotNegative, .max = 1};
  walk.text("layout", it.layout, parse_parallel_layout, "Layout, as text.");
  walk.number("mean_s", it.mean, kSecond, "Expected time of an iteration.", Range::kPositive);
  walk.number("p10_s", it.p10, kSecond, "10th percentile.", Range::kPositive);
  walk.number("p90_s", it.p90, kSecond, "90th percentile.", Range::kPositive);
  walk.field("tokens_per_s", it.tokens_per_second, "Throughput of all workers, in tokens.",
             {.range = Range::kPositive});
  walk.field("parts", it.parts, "Parts of the time; they add up to mean_s.");
  walk.number("bytes_reserved", it.reserved, kByte, "Reserved peak of the fullest worker.",
              Range::kNotNegative);
  walk.number("bytes_allocated", it.allocated, kByte, "Allocated peak of the fullest worker.",
              Range::kNotNegative);
  walk.number("bytes_available", it.available, kByte, "Memory of one accelerator.",
              Range::kNotNegative);
  walk.field("p_fits", it.p_fits, "Probability that it fits into memory.", kProbability);
  walk.field("unvalidated", it.unvalidated, "Parts that no measured row is behind.");
  walk.rest(it.unknown);
}

}  // namespace stint
