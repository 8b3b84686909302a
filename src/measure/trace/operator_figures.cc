#include "measure/trace/operator_figures.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace stint {
namespace {

constexpr double kAttentionBackward = 2.5;  // Two products forward, five backward.

/// The name without namespace and without the mark of an operator that works in place.
std::string_view short_name(const ProfiledOperator& it) {
  std::string_view name = it.name;
  const std::size_t point = name.rfind('.');
  if (point != std::string_view::npos) name.remove_prefix(point + 1);
  if (name.ends_with('_')) name.remove_suffix(1);
  return name;
}

template <std::size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool contains(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

double size_at(const OperatorTensor& tensor, std::size_t back) {
  const std::size_t rank = tensor.shape.size();
  return back < rank ? static_cast<double>(tensor.shape[rank - 1 - back]) : 1;
}

/// Where the first factor of a product is among the inputs: sums come before it.
std::optional<std::size_t> factors_begin(std::string_view name) {
  constexpr std::array<std::string_view, 5> kPlain = {"mm", "bmm", "mv", "dot", "linear"};
  constexpr std::array<std::string_view, 4> kSummed = {"addmm", "baddbmm", "addmv", "addbmm"};
  if (is_one_of(name, kPlain)) return 0;
  if (is_one_of(name, kSummed)) return 1;
  return std::nullopt;
}

void add_tensors(const std::vector<OperatorTensor>& tensors, OperatorFigures& figures) {
  for (const OperatorTensor& it : tensors) {
    (it.fixed.value_or(false) ? figures.fixed : figures.scaled).add(it);
  }
}

/// A matrix or many of them times others; nothing when the shapes are no product.
bool set_product(const ProfiledOperator& it, std::string_view name, OperatorFigures& figures) {
  const auto begin = factors_begin(name);
  if (!begin || it.inputs.size() < *begin + 2) return false;
  const OperatorTensor& left = it.inputs[*begin];
  const OperatorTensor& right = it.inputs[*begin + 1];
  if (left.shape.empty() || right.shape.empty()) return false;
  const bool vector = right.shape.size() == 1;
  const bool turned = name == "linear";  // Its weights are stored as outputs × inputs.
  const double columns = vector ? 1 : size_at(right, turned ? 1 : 0);
  const bool batched = name == "bmm" || name == "baddbmm" || name == "addbmm";
  figures.kind = batched ? WorkKind::kAttention : WorkKind::kProduct;
  figures.depth = size_at(left, 0);
  figures.flops = 2 * numbers_in(left) * columns * kFlop;
  return true;
}

/// Twice the results of a convolution times the weights of one of them; what is transposed computes
/// as much as the convolution of which it is the gradient.
bool set_convolution(const ProfiledOperator& it, std::string_view name, OperatorFigures& figures) {
  const bool backward = name == "convolution_backward";
  constexpr std::array<std::string_view, 5> kNames = {"convolution", "_convolution",
                                                      "mkldnn_convolution", "cudnn_convolution",
                                                      "convolution_overrideable"};
  if (!backward && !is_one_of(name, kNames)) return false;
  if (it.inputs.size() < (backward ? 3U : 2U) || it.outputs.empty()) return false;
  // Backward is given the gradient of the results, then input and weights.
  const OperatorTensor& results = backward ? it.inputs[0] : it.outputs[0];
  const OperatorTensor& input = it.inputs[backward ? 1 : 0];
  const OperatorTensor& weights = it.inputs[backward ? 2 : 1];
  if (weights.shape.size() < 3 || weights.shape[0] < 1) return false;
  const bool transposed = it.transposed.value_or(false);
  figures.kind = WorkKind::kConvolution;
  figures.depth = numbers_in(weights) / static_cast<double>(weights.shape[0]);
  figures.flops = 2 * numbers_in(transposed ? input : results) * figures.depth * kFlop;
  figures.runs = backward ? it.runs.value_or(2) : 1;
  figures.written.add(it.outputs[0]);
  return true;
}

bool set_attention(const ProfiledOperator& it, std::string_view name, OperatorFigures& figures) {
  if (!contains(name, "scaled_dot_product") && !contains(name, "_flash_attention") &&
      !contains(name, "_efficient_attention")) {
    return false;
  }
  const bool backward = contains(name, "backward");
  const std::size_t first = backward ? 1 : 0;  // The gradient comes before the queries.
  if (it.inputs.size() < first + 3 || it.inputs[first].shape.size() < 3) return false;
  const OperatorTensor& queries = it.inputs[first];
  const OperatorTensor& keys = it.inputs[first + 1];
  const OperatorTensor& values = it.inputs[first + 2];
  figures.kind = WorkKind::kAttention;
  figures.depth = size_at(queries, 0);
  const double rows = figures.depth > 0 ? numbers_in(queries) / figures.depth : 0;
  const double share = it.causal.value_or(false) ? 0.5 : 1;
  figures.flops = 2 * share * rows * size_at(keys, 1) * (size_at(queries, 0) + size_at(values, 0)) *
                  (backward ? kAttentionBackward : 1) * kFlop;
  return true;
}

void set_sweep(const ProfiledOperator& it, std::string_view name, OperatorFigures& figures) {
  constexpr std::array<std::string_view, 5> kLookUps = {"embedding", "index_select", "gather",
                                                        "index", "take"};
  if (is_one_of(name, kLookUps)) {
    for (const OperatorTensor& out : it.outputs) figures.scaled.add(out, 2);
    return;
  }
  add_tensors(it.inputs, figures);
  add_tensors(it.outputs, figures);
  // Statistics first, then values.
  const bool norm =
      contains(name, "batch_norm") || contains(name, "layer_norm") || contains(name, "group_norm");
  if (!norm || it.inputs.empty()) return;
  figures.scaled.add(it.inputs[0]);
  if (contains(name, "backward") && it.inputs.size() > 1) figures.scaled.add(it.inputs[1]);
}

}  // namespace

std::span<const EnumName<OperatorPhase>> names_of(OperatorPhase /*type*/) {
  static constexpr EnumName<OperatorPhase> kNames[] = {{OperatorPhase::kForward, "forward"},
                                                       {OperatorPhase::kBackward, "backward"}};
  return kNames;
}

double numbers_in(const OperatorTensor& tensor) {
  double count = 1;
  for (const std::int64_t size : tensor.shape) count *= static_cast<double>(size);
  return count;
}

void WidthBytes::add(const OperatorTensor& tensor, double times) {
  constexpr std::array<std::string_view, 4> kEight = {"float64", "int64", "complex64", "double"};
  constexpr std::array<std::string_view, 5> kOne = {"bool", "uint8", "int8", "float8_e4m3fn",
                                                    "float8_e5m2"};
  const double count = times * tensor.stored.value_or(numbers_in(tensor));
  if (tensor.type == "float32") {
    single += 4 * count * kByte;
  } else if (tensor.type == "float16" || tensor.type == "bfloat16") {
    half += 2 * count * kByte;
  } else if (is_one_of(tensor.type, kEight)) {
    other += 8 * count * kByte;
  } else {
    other += (is_one_of(tensor.type, kOne) ? 1 : 4) * count * kByte;
  }
}

void WidthBytes::add(const TypedBytes& typed) {
  const bool is_half = typed.type == "float16" || typed.type == "bfloat16";
  (typed.type == "float32" ? single : is_half ? half : other) += typed.bytes;
}

OperatorFigures operator_figures(const ProfiledOperator& it) {
  OperatorFigures figures;
  const std::string_view name = short_name(it);
  if (set_convolution(it, name, figures) || set_product(it, name, figures) ||
      set_attention(it, name, figures)) {
    add_tensors(it.inputs, figures);
    add_tensors(it.outputs, figures);
    return figures;
  }
  set_sweep(it, name, figures);
  return figures;
}

bool unknown_arithmetic(const ProfiledOperator& it) {
  const std::string_view name = short_name(it);
  return contains(name, "_rnn") || contains(name, "linalg_") || contains(name, "_fft") ||
         (contains(name, "convolution") && operator_figures(it).kind != WorkKind::kConvolution);
}

}  // namespace stint
