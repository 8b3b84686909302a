#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/codec.h"
#include "base/units.h"
#include "job/work.h"

namespace stint {

// Operators as the hook (python/stint/operators.py) writes them into the records of a profile.

/// The pass that an operator runs in.
enum class OperatorPhase { kForward, kBackward };

std::span<const EnumName<OperatorPhase>> names_of(OperatorPhase type);

/// A tensor that an operator reads or writes.
struct OperatorTensor {
  std::vector<std::int64_t> shape;
  std::string type;              // "float32".
  std::optional<double> stored;  // Numbers in memory, where fewer than the shape says.
  std::optional<bool> fixed;     // Does not grow with the batch, by its shape: a weight.
  Json::Object unknown = {};
};

/// One run of an operator.
struct ProfiledOperator {
  std::string name;  // "aten.mm".
  OperatorPhase phase = OperatorPhase::kForward;
  std::vector<OperatorTensor> inputs;
  std::vector<OperatorTensor> outputs;
  std::optional<bool> transposed;  // Of a convolution.
  std::optional<bool> causal;      // Of fused attention.
  std::optional<int> runs;         // Convolutions that the backward pass of one consists of.
  Json::Object unknown = {};
};

/// Operators of an iteration in their order; several lines make the whole.
struct OperatorLine {
  std::int64_t number = 0;  // Of the iteration.
  std::vector<ProfiledOperator> list;
  Json::Object unknown = {};
};

/// Bytes of one type of numbers.
struct TypedBytes {
  std::string type;
  Bytes bytes;
  Json::Object unknown = {};
};

/// What is known of all operators of an iteration.
struct OperatorTotal {
  std::int64_t number = 0;
  std::int64_t operators = 0;           // In the lines.
  std::optional<std::int64_t> omitted;  // Past the limit of the hook.
  std::vector<TypedBytes> kept;         // For the backward pass, without weights.
  Bytes update;                         // Moved by the step of the optimizer.
  // The type that the script wants autocast to compute with, on a GPU if there were one.
  std::optional<std::string> autocast;
  Json::Object unknown = {};
};

/// Bytes by the width of their numbers, which another precision changes.
struct WidthBytes {
  Bytes single;  // Of 32-bit floating-point numbers,
  Bytes half;    // of 16-bit ones,
  Bytes other;   // and of all else.

  void add(const OperatorTensor& tensor, double times = 1);
  void add(const TypedBytes& typed);
};

/// What one run of an operator computes and moves at the batch it was seen with.
struct OperatorFigures {
  WorkKind kind = WorkKind::kSweep;
  double runs = 1;     // Of equal cost: two for the backward pass of a convolution.
  Flops flops;         // Of one of them.
  double depth = 0;    // Length of the sums of a product.
  WidthBytes scaled;   // Moved: tensors that seem to grow with the batch,
  WidthBytes fixed;    // and the others.
  WidthBytes written;  // Of a convolution: its results, a sweep of their own.
};

/// Numbers in the shape of a tensor.
double numbers_in(const OperatorTensor& tensor);

/// The figures of an operator by its name and shapes.
///
///   mm, addmm, bmm, baddbmm, linear:  2 m n k for each batch
///   convolution:                      2 · results · weights/filters; transposed: 2 · inputs · …
///   its backward pass:                the same for each of its gradients
///   fused attention:                  2 · queries · keys · (width + value width) per head, half if
///                                     causal; its backward pass 2.5 times as much
///
/// Everything else is a sweep without arithmetic. A sweep reads its inputs and writes its results;
/// norms read their input twice; a look-up in a table reads as much as it writes. Products of a
/// batch of matrices count as attention, which they mostly are.
OperatorFigures operator_figures(const ProfiledOperator& it);

/// True for operators that compute something whose arithmetic is not known here, such as a whole
/// recurrent layer in one operator.
bool unknown_arithmetic(const ProfiledOperator& it);

// For the codec.
template <class Walk>
void describe(Walk& walk, Like<Walk, OperatorTensor>& it) {
  walk.field("shape", it.shape, "Sizes.", {.range = Range::kNotNegative});
  walk.field("type", it.type, "Of its numbers.", {.range = Range::kAtLeastOne});
  walk.field("stored", it.stored, "Numbers in memory.", {.range = Range::kNotNegative});
  walk.field("fixed", it.fixed, "Does not grow with the batch.");
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, ProfiledOperator>& it) {
  walk.field("name", it.name, "Namespace and name.", {.range = Range::kAtLeastOne});
  walk.field("phase", it.phase, "The pass that it runs in.");
  walk.field("inputs", it.inputs, "Tensors that it reads.");
  walk.field("outputs", it.outputs, "Tensors that it writes.");
  walk.field("transposed", it.transposed, "Of a convolution.");
  walk.field("causal", it.causal, "Of fused attention.");
  walk.field("runs", it.runs, "Convolutions of a backward pass.", {.range = Range::kNotNegative});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, OperatorLine>& it) {
  walk.field("number", it.number, "Of the iteration.", {.range = Range::kNotNegative});
  walk.field("list", it.list, "Operators in their order.");
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, TypedBytes>& it) {
  walk.field("type", it.type, "Of the numbers.", {.range = Range::kAtLeastOne});
  walk.number("bytes", it.bytes, kByte, "Of all of them.", Range::kNotNegative);
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, OperatorTotal>& it) {
  walk.field("number", it.number, "Of the iteration.", {.range = Range::kNotNegative});
  walk.field("operators", it.operators, "In the lines.", {.range = Range::kNotNegative});
  walk.field("omitted", it.omitted, "Past the limit.", {.range = Range::kNotNegative});
  walk.field("kept", it.kept, "For the backward pass.");
  walk.number("update_bytes", it.update, kByte, "Moved by the optimizer.", Range::kNotNegative);
  walk.field("autocast", it.autocast, "Type that autocast is to compute with.");
  walk.rest(it.unknown);
}

}  // namespace stint
