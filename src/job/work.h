#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/codec.h"

namespace stint {

/// Operators by the law of their time (predict/work_time.h).
enum class WorkKind {
  kProduct,      // A matrix times the weights of a layer.
  kAttention,    // Scores and their use, fused.
  kConvolution,  // Convolutions of an image model.
  kSweep,        // Sums, activations, norms: bound by memory.
  kMapSweep,     // The same over the feature maps between convolutions.
};

std::span<const EnumName<WorkKind>> names_of(WorkKind type);

/// The numbers that a training computes with.
enum class WorkPrecision { kMixed, kBf16, kFp16, kTf32, kFp32, kFp8 };

std::span<const EnumName<WorkPrecision>> names_of(WorkPrecision type);

/// Activations that are computed again in the backward pass instead of kept: none, those of
/// attention, or all of a layer.
enum class Recompute { kNone, kSelective, kFull };

std::span<const EnumName<Recompute>> names_of(Recompute type);

/// Memory that the libraries of convolutions and products take: an assumption.
inline constexpr Bytes kLibraryWorkspace = 0.5 * kGB;

/// One operator of a pass, as often as it runs there.
struct WorkOperator {
  WorkKind kind = WorkKind::kProduct;
  std::string name;               // "query", "convolutions".
  double count = 1;               // Runs in a pass.
  std::optional<Flops> flops;     // Of one sample in one run.
  std::optional<Bytes> moved;     // Read and written for one sample in one run.
  std::optional<Bytes> weights;   // Read by one run, whatever the batch.
  std::optional<double> depth;    // Length of the sums of a product.
  std::optional<double> kernels;  // Launched by one run; absent: one.
  std::optional<double> forward;  // Times it is done in the forward pass; absent: one.
  double backward = 2;            // Times the work is done again in the backward pass.
  Json::Object unknown = {};
};

/// A share of the training that only looks at the result.
struct Evaluation {
  double samples = 0;  // Of one evaluation,
  double every = 1;    // which comes after as many training samples.
  Json::Object unknown = {};
};

/// What a sample computes and keeps, from the shape of a model or from the operators of a script:
/// times on an accelerator nobody measured follow from it.
struct JobWork {
  std::string model;                     // A known model, a configuration, or a script.
  std::optional<std::string> method;     // "full", "lora:16", "frozen".
  std::optional<std::string> recompute;  // Of activations: "none", "selective", "full".
  std::optional<std::int64_t> sequence;  // Tokens of a sample.
  WorkPrecision precision = WorkPrecision::kMixed;
  std::vector<WorkOperator> operators;
  Bytes update_moved;                // By one step of the optimizer.
  std::optional<Bytes> activations;  // Kept for the backward pass of one sample.
  std::optional<Bytes> workspace;    // Besides states and activations.
  std::optional<Seconds> input;      // Processor time that reading and preparing a sample takes.
  std::optional<Evaluation> evaluation;
  std::optional<double> spread;  // Deviation of the logarithm of times besides that of the law.
  std::vector<std::string> accelerators;  // Names and families to predict; none: all.
  std::vector<std::string> notes;         // What was assumed.
  Json::Object unknown = {};
};

/// The arithmetic of one sample: forward and backward.
Flops flops_per_sample(const JobWork& work);

/// Training time that evaluations add, in forward passes of a training sample.
double evaluation_share(const JobWork& work);

// For the codec.
template <class Walk>
void describe(Walk& walk, Like<Walk, WorkOperator>& it) {
  constexpr FieldRules kNotNegative{.range = Range::kNotNegative};
  walk.field("kind", it.kind, "Which law its time follows.");
  walk.field("name", it.name, "What it computes.");
  walk.field("count", it.count, "Runs in a forward pass.", {.range = Range::kPositive});
  walk.field("flops", it.flops, "Arithmetic of one sample in one run.", kNotNegative);
  walk.field("moved", it.moved, "Bytes read and written for one sample in one run.", kNotNegative);
  walk.field("weights", it.weights, "Bytes read by one run, whatever the batch.", kNotNegative);
  walk.field("depth", it.depth, "Length of the sums of a product.", kNotNegative);
  walk.field("kernels", it.kernels, "Kernels launched by one run.", kNotNegative);
  walk.field("forward", it.forward, "Times it is done in the forward pass (default: 1).",
             kNotNegative);
  walk.field("backward", it.backward, "Times the work is done again in the backward pass.",
             kNotNegative);
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, Evaluation>& it) {
  walk.field("samples", it.samples, "Samples of one evaluation.", {.range = Range::kPositive});
  walk.field("every", it.every, "Training samples between two.", {.range = Range::kPositive});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, JobWork>& it) {
  constexpr FieldRules kNotNegative{.range = Range::kNotNegative};
  walk.field("model", it.model, "A known model, a configuration, or a script.");
  walk.field("method", it.method, "full, lora:RANK or frozen:LAYERS.");
  walk.field("recompute", it.recompute, "Activations computed again: none, selective, full.");
  walk.field("sequence", it.sequence, "Tokens of a sample.", {.range = Range::kAtLeastOne});
  walk.field("precision", it.precision, "The numbers that it computes with.");
  walk.field("operators", it.operators, "Operators of a forward pass.");
  walk.field("update_moved", it.update_moved, "Bytes that a step of the optimizer moves.",
             kNotNegative);
  walk.field("activations", it.activations, "Kept for the backward pass of one sample.",
             kNotNegative);
  walk.field("workspace", it.workspace, "Memory besides states and activations.", kNotNegative);
  walk.field("input", it.input, "Processor time that the input of a sample takes.", kNotNegative);
  walk.field("evaluation", it.evaluation, "Evaluations during the training.");
  walk.field("spread", it.spread, "Deviation of the logarithm of times besides that of the law.",
             kNotNegative);
  walk.field("accelerators", it.accelerators,
             "Accelerators and families to predict; none: all of the catalogue.");
  walk.field("notes", it.notes, "Assumptions.");
  walk.rest(it.unknown);
}

}  // namespace stint
