#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/codec_fields.h"
#include "base/units.h"

namespace stint {

/// Operators by the law of their time (predict/device_model.h).
enum class OperatorClass {
  kProduct,         // A matrix times the weights of a layer.
  kBatchedProduct,  // Many small products, as in attention.
  kElementwise,     // Sums, activations, masks, copies.
  kNormalisation,
  kSoftmax,
};
inline constexpr std::size_t kOperatorClasses = 5;

/// (m × k) times (k × n), `batches` times.
struct ProductShape {
  double m = 0;
  double n = 0;
  double k = 0;
  double batches = 1;
};

/// One operator of a forward pass.
struct Operator {
  OperatorClass kind = OperatorClass::kElementwise;
  double count = 1;      // Runs in a pass.
  ProductShape product;  // Of one run; only products have one.
  Bytes moved;           // Read and written by one run.
  double kernels = 1;    // Launched by one run.
  Bytes dropout;         // Moved besides by one run where training drops values.
};

/// 2 m n k for each batch; zero where the operator is no product.
Flops arithmetic(const Operator& it);

/// The arithmetic of all runs.
Flops arithmetic(std::span<const Operator> operators);

/// Bytes that all runs move.
Bytes moved(std::span<const Operator> operators);

/// Architectures of transformers, as the library "transformers" of Hugging Face runs them.
enum class TransformerType { kBert, kGpt2, kOpt, kSwitch };

std::span<const EnumName<TransformerType>> names_of(TransformerType type);

/// A transformer by its numbers.
struct TransformerShape {
  TransformerType type = TransformerType::kGpt2;
  std::int64_t layers = 0;  // Of a switch transformer: of the encoder, and of the decoder.
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t feed_forward = 0;
  std::int64_t vocabulary = 0;
  std::int64_t experts = 1;
  std::int64_t positions = 0;  // Rows of the table of positions; a switch transformer has none.
};

/// Numbers that are trained: embeddings, layers with their biases, final norm; the head of BERT is
/// its pooler, that of the others shares the embedding. BERT-base has 109 482 240, GPT-2
/// 124 439 808, OPT-1.3B 1 315 758 080.
double parameters(const TransformerShape& shape);

/// Samples of a pass: `batch` sequences of `length` tokens.
struct TokenBatch {
  double batch = 1;
  double length = 1;
};

/// The operators of a forward pass with values of `value` bytes, in eager mode with attention
/// written out. `parts` splits heads, feed-forward and vocabulary over as many accelerators (tensor
/// parallelism); each of them runs the operators that are returned. Requires a shape above zero and
/// parts ≥ 1.
std::vector<Operator> forward_operators(const TransformerShape& shape, const TokenBatch& tokens,
                                        Bytes value, int parts = 1);

}  // namespace stint
