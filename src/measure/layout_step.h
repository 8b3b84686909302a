#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/codec.h"
#include "plan/layout.h"
#include "plan/parallel_layout.h"

namespace stint {

inline constexpr const char* kLayoutStepSchema = "stint.layout-step/1";

/// The transformer of a paced step, with numbers of four bytes.
struct PacedModel {
  int layers = 1;
  int width = 1;
  int length = 1;   // Tokens of a sample.
  int letters = 1;  // Size of the vocabulary.
  Json::Object unknown = {};
};

/// What is slept instead of computed.
struct PacedCompute {
  Seconds forward;   // Of a layer and sample, before tensor parallelism divides it.
  Seconds backward;  // The same.
  Seconds update;    // Of the whole model.
  Json::Object unknown = {};
};

/// What the iterations took.
struct StepTimes {
  Seconds median;
  Json::Object unknown = {};
};

/// A measured step of a model that is split over emulated VMs of one worker each: a line of the
/// files that tools/measure_layouts.py writes.
struct LayoutStep {
  std::string name;
  ParallelLayout layout;
  Cluster cluster;
  BytesPerSecond link;  // Rated speed of a NIC.
  int batch = 1;        // Samples of a step.
  int micro_batches = 1;
  PacedModel model;
  PacedCompute compute;
  std::optional<StepTimes> iteration;  // Absent: to be predicted only.
  Json::Object unknown = {};
};

/// The steps of a file of JSON lines.
Result<std::vector<LayoutStep>> read_layout_steps(std::string_view text, const std::string& source);
Json layout_step_schema();

// For the codec.
template <class Walk>
void describe(Walk& walk, Like<Walk, PacedModel>& it) {
  constexpr FieldRules kSize{.range = Range::kAtLeastOne, .max = 1 << 24};
  walk.field("layers", it.layers, "Layers of the model.", kSize);
  walk.field("width", it.width, "Hidden size.", kSize);
  walk.field("length", it.length, "Tokens of a sample.", kSize);
  walk.field("letters", it.letters, "Size of the vocabulary.", kSize);
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, PacedCompute>& it) {
  walk.number("forward_ms", it.forward, kMillisecond, "Forward pass of a layer and sample.",
              Range::kNotNegative);
  walk.number("backward_ms", it.backward, kMillisecond, "Backward pass of a layer and sample.",
              Range::kNotNegative);
  walk.number("update_ms", it.update, kMillisecond, "Update of the whole model.",
              Range::kNotNegative);
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, StepTimes>& it) {
  walk.number("median", it.median, kSecond, "Median of the iterations after the first ones.",
              Range::kPositive);
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, LayoutStep>& it) {
  walk.field("name", it.name, "Layout and cluster.");
  walk.text("layout", it.layout, parse_parallel_layout, "Split of the model, as text.");
  walk.text("cluster", it.cluster, parse_cluster, "VMs, as text, with one worker each.");
  walk.number("link_bits_per_s", it.link, kBit / kSecond, "Rated speed of a NIC.",
              Range::kPositive);
  walk.field("batch", it.batch, "Samples of a step.",
             {.range = Range::kAtLeastOne, .max = kBatchMax});
  walk.field("micro_batches", it.micro_batches, "Micro-batches of a worker and step.",
             {.range = Range::kAtLeastOne, .max = kBatchMax});
  walk.field("model", it.model, "Sizes of the transformer, with numbers of four bytes.");
  walk.field("compute", it.compute, "Paced times.");
  walk.field("iteration_s", it.iteration, "Measured iterations.");
  walk.rest(it.unknown);
}

}  // namespace stint
