#include "predict/operators.h"

#include <algorithm>

#include "base/check.h"

namespace stint {
namespace {

// How often eager mode reads or writes a tensor, by the source of "transformers" 4.2x and the sums
// over elementwise operators that NeuSight published: one pass per operand and per result.
constexpr double kScorePasses = 2;        // The mask of the attention scores: read, write.
constexpr double kOptScorePasses = 4;     // OPT adds the mask, then limits the sum.
constexpr double kSwitchScorePasses = 3;  // A switch transformer adds a bias of positions.
constexpr double kStreamPasses = 20;      // Copies of heads 8, residual sums 6, biases 6.
constexpr double kGeluPasses = 14;        // GPT-2 writes its activation as eight operators.
constexpr double kGeluKernels = 8;
constexpr double kActivationPasses = 2;  // One operator.
constexpr double kNormPasses = 4;        // Statistics, then values: both read and write.
constexpr double kSoftmaxPasses = 2;
constexpr double kSwitchNormPasses = 12;  // Its norm is six operators.
constexpr double kSwitchHeadPasses = 8;   // Copies of the heads.
constexpr double kDropoutPasses = 2.25;   // Read, write, and a mask of one byte in four.
constexpr double kStreamKernels = 8;
constexpr double kSwitchHead = 64;  // Width of a head, whatever the hidden size.

/// Collects the operators of one model.
class OperatorList {
 public:
  explicit OperatorList(Bytes value) : value_(value) {}

  void product(double count, double m, double n, double k) {
    add_product(OperatorClass::kProduct, count, {.m = m, .n = n, .k = k});
  }

  /// Scores and their use, for `heads` of `width` over `tokens`.
  void attention(double count, const TokenBatch& tokens, double heads, double width) {
    const double batches = tokens.batch * heads;
    const double length = tokens.length;
    add_product(OperatorClass::kBatchedProduct, count, {length, length, width, batches});
    add_product(OperatorClass::kBatchedProduct, count, {length, width, length, batches});
  }

  struct Passes {
    double values = 0;
    double passes = 0;
    double kernels = 1;
    double dropouts = 0;
  };

  void sweep(OperatorClass kind, double count, const Passes& it) {
    operators_.push_back({.kind = kind,
                          .count = count,
                          .product = {},
                          .moved = it.values * it.passes * value_,
                          .kernels = it.kernels,
                          .dropout = it.values * kDropoutPasses * it.dropouts * value_});
  }

  std::vector<Operator> take() { return std::move(operators_); }

 private:
  void add_product(OperatorClass kind, double count, const ProductShape& it) {
    const double values = (it.m * it.k + it.k * it.n + it.m * it.n) * it.batches;
    operators_.push_back({.kind = kind, .count = count, .product = it, .moved = values * value_});
  }

  Bytes value_;
  std::vector<Operator> operators_;
};

std::vector<Operator> dense_operators(const TransformerShape& shape, const TokenBatch& tokens,
                                      Bytes value, int parts) {
  OperatorList list(value);
  const auto layers = static_cast<double>(shape.layers);
  const auto hidden = static_cast<double>(shape.hidden);
  const double heads = static_cast<double>(shape.heads) / parts;
  const double wide = static_cast<double>(shape.feed_forward) / parts;
  const double rows = tokens.batch * tokens.length;
  const double own = hidden / parts;
  const bool gpt2 = shape.type == TransformerType::kGpt2;
  const bool opt = shape.type == TransformerType::kOpt;

  if (gpt2) {
    list.product(layers, rows, 3 * own, hidden);
  } else {
    list.product(3 * layers, rows, own, hidden);
  }
  list.product(layers, rows, hidden, own);
  list.product(layers, rows, wide, hidden);
  list.product(layers, rows, hidden, wide);
  list.attention(layers, tokens, heads, hidden / static_cast<double>(shape.heads));

  const double scores = tokens.batch * heads * tokens.length * tokens.length;
  list.sweep(OperatorClass::kSoftmax, layers,
             {.values = scores, .passes = kSoftmaxPasses, .dropouts = 1});
  list.sweep(OperatorClass::kElementwise, layers,
             {.values = scores, .passes = opt ? kOptScorePasses : kScorePasses, .kernels = 2});
  list.sweep(OperatorClass::kNormalisation, 2 * layers + 1,
             {.values = rows * hidden, .passes = kNormPasses});
  list.sweep(OperatorClass::kElementwise, layers,
             {.values = rows * wide,
              .passes = gpt2 ? kGeluPasses : kActivationPasses,
              .kernels = gpt2 ? kGeluKernels : 1});
  list.sweep(
      OperatorClass::kElementwise, layers,
      {.values = rows * hidden, .passes = kStreamPasses, .kernels = kStreamKernels, .dropouts = 2});
  if (shape.type != TransformerType::kBert) {
    list.product(1, rows, static_cast<double>(shape.vocabulary) / parts, hidden);
  }
  return list.take();
}

/// Encoder and decoder; every second layer has experts, each of which gets an equal share of the
/// tokens.
std::vector<Operator> switch_operators(const TransformerShape& shape, const TokenBatch& tokens,
                                       Bytes value, int parts) {
  OperatorList list(value);
  const auto layers = static_cast<double>(shape.layers);
  const auto hidden = static_cast<double>(shape.hidden);
  const auto experts = static_cast<double>(std::max<std::int64_t>(shape.experts, 1));
  const double heads = static_cast<double>(shape.heads) / parts;
  const double inner = heads * kSwitchHead;
  const double wide = static_cast<double>(shape.feed_forward) / parts;
  const double rows = tokens.batch * tokens.length;
  const double scores = tokens.batch * heads * tokens.length * tokens.length;

  // Attention of the encoder, of the decoder, and of the decoder to the encoder.
  const double attentions = 3 * layers;
  list.product(3 * attentions, rows, inner, hidden);
  list.product(attentions, rows, hidden, inner);
  list.attention(attentions, tokens, heads, kSwitchHead);
  list.sweep(OperatorClass::kSoftmax, attentions,
             {.values = scores, .passes = kSoftmaxPasses, .dropouts = 1});
  list.sweep(OperatorClass::kElementwise, attentions,
             {.values = scores, .passes = kSwitchScorePasses});
  list.sweep(OperatorClass::kElementwise, attentions,
             {.values = rows * inner, .passes = kSwitchHeadPasses});

  const double sparse = layers;  // Half of the layers of both.
  const double share = std::max(1.0, rows / experts);
  list.product(experts * sparse, share, wide, hidden);
  list.product(experts * sparse, share, hidden, wide);
  list.product(sparse, rows, wide, hidden);
  list.product(sparse, rows, hidden, wide);
  list.sweep(OperatorClass::kElementwise, 2 * layers,
             {.values = rows * wide, .passes = kActivationPasses, .dropouts = 1});
  // Two norms and sums in a layer of the encoder, three in one of the decoder.
  list.sweep(OperatorClass::kElementwise, 5 * layers,
             {.values = rows * hidden, .passes = kSwitchNormPasses, .kernels = 6, .dropouts = 1});
  list.product(1, rows, static_cast<double>(shape.vocabulary) / parts, hidden);
  return list.take();
}

}  // namespace

std::span<const EnumName<TransformerType>> names_of(TransformerType /*type*/) {
  static constexpr EnumName<TransformerType> kNames[] = {
      {TransformerType::kBert, "bert"},
      {TransformerType::kGpt2, "gpt2"},
      {TransformerType::kOpt, "opt"},
      {TransformerType::kSwitch, "switch_transformers"},
  };
  return kNames;
}

Flops arithmetic(const Operator& it) {
  return 2 * it.product.m * it.product.n * it.product.k * it.product.batches * kFlop;
}

Flops arithmetic(std::span<const Operator> operators) {
  Flops sum;
  for (const Operator& it : operators) sum += it.count * arithmetic(it);
  return sum;
}

Bytes moved(std::span<const Operator> operators) {
  Bytes sum;
  for (const Operator& it : operators) sum += it.count * it.moved;
  return sum;
}

double parameters(const TransformerShape& shape) {
  const auto layers = static_cast<double>(shape.layers);
  const auto hidden = static_cast<double>(shape.hidden);
  const auto wide = static_cast<double>(shape.feed_forward);
  const auto vocabulary = static_cast<double>(shape.vocabulary);
  const auto positions = static_cast<double>(shape.positions);
  if (shape.type == TransformerType::kSwitch) {
    const double inner = static_cast<double>(shape.heads) * kSwitchHead;
    const auto experts = static_cast<double>(std::max<std::int64_t>(shape.experts, 1));
    const double feed_forward = layers * (experts + 1) * 2 * hidden * wide;  // Sparse and dense.
    return vocabulary * hidden + 3 * layers * 4 * hidden * inner + feed_forward +
           5 * layers * hidden;
  }
  const double attention = 4 * (hidden * hidden + hidden);
  const double feed_forward = 2 * hidden * wide + wide + hidden;
  const double norms = 4 * hidden;
  const double all =
      (vocabulary + positions) * hidden + layers * (attention + feed_forward + norms) + 2 * hidden;
  if (shape.type != TransformerType::kBert) return all;
  return all + 2 * hidden + hidden * hidden + hidden;  // Two kinds of segments, and the pooler.
}

std::vector<Operator> forward_operators(const TransformerShape& shape, const TokenBatch& tokens,
                                        Bytes value, int parts) {
  CHECK(shape.layers > 0);
  CHECK(shape.hidden > 0);
  CHECK(shape.heads > 0);
  CHECK(parts >= 1);
  if (shape.type == TransformerType::kSwitch) return switch_operators(shape, tokens, value, parts);
  return dense_operators(shape, tokens, value, parts);
}

}  // namespace stint
