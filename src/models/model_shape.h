#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "job/work.h"

namespace stint {

/// A transformer by the numbers of its configuration. Absent numbers are those of a plain decoder.
struct ModelShape {
  std::int64_t layers = 0;                     // Of the encoder where there are both.
  std::optional<std::int64_t> decoder_layers;  // Of an encoder–decoder (T5).
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::optional<std::int64_t> kv_heads;   // Absent: as many as heads.
  std::optional<std::int64_t> head_size;  // Absent: hidden/heads.
  std::int64_t feed_forward = 0;
  std::int64_t vocabulary = 0;                   // Zero: an image model.
  std::int64_t positions = 0;                    // The longest sequence it was made for.
  std::optional<std::int64_t> position_rows;     // Of a table of learned positions.
  std::optional<std::int64_t> segments;          // Rows of a table of segments (BERT).
  std::optional<std::int64_t> embedding_size;    // Where embeddings are narrower (ELECTRA).
  std::optional<std::int64_t> experts;           // Feed-forward networks of a layer,
  std::optional<std::int64_t> experts_used;      // and how many of them a token takes.
  std::optional<std::int64_t> relative_buckets;  // Of position biases (T5), one table a stack.
  std::optional<std::int64_t> image_size;        // Side of the image, of a vision transformer,
  std::optional<std::int64_t> patch_size;        // and of its patches.
  std::optional<std::int64_t> classes;
  std::optional<std::int64_t> norms;  // Of a layer; absent: two.
  bool causal = true;
  bool gated = false;              // The feed-forward network has a gate.
  bool tied = false;               // The head shares the embeddings.
  bool headless = false;           // No head over the vocabulary (BERT's encoder).
  bool pooler = false;             // A square layer over the first token.
  bool query_bias = false;         // Biases of queries, keys and values,
  bool output_bias = false;        // of the output of attention,
  bool feed_forward_bias = false;  // of the feed-forward network,
  bool head_bias = false;          // and of the head.
  bool norm_bias = false;          // Norms have biases, as LayerNorm; RMSNorm has none.
  bool query_norm = false;         // Norms of queries and keys (Qwen 3).
  bool embedding_norm = false;
  bool final_norm = true;
};

/// How many numbers a part of the model has.
struct ParameterCount {
  double embeddings = 0;  // With positions, segments and patches.
  double layer = 0;       // Of one layer of the encoder, or of the decoder that is alone.
  double decoder_layer = 0;
  double ends = 0;  // Final norms, pooler, head.
  double total = 0;
  double used = 0;  // Of a token: without the experts it does not take.
};

ParameterCount parameters(const ModelShape& shape);

/// The linear layers of one layer: input and output size, and how often a token takes each.
struct LinearLayer {
  std::string name;
  double inputs = 0;
  double outputs = 0;
  double copies = 1;  // Experts.
  double used = 1;    // Copies that a token takes.
};

std::vector<LinearLayer> linear_layers(const ModelShape& shape, bool decoder);

/// Tokens of a sample: the sequence, or the patches of an image and one more.
std::int64_t tokens_of(const ModelShape& shape, std::int64_t sequence);

/// How the layers of a model are trained.
struct LayerWork {
  double sequence = 1;
  Bytes value = 2 * kByte;  // Of a number that is computed with.
  double rank = 0;          // Of adapters on every linear layer; 0: all weights are trained.
  std::int64_t frozen = 0;  // First layers that are not trained.
  bool head_trained = true;
  double again = 0;  // Forward passes that are repeated: 1 with full recomputation.
};

/// Operators of a forward pass over one sample.
///
/// Products are those of linear_layers and of the head; attention computes 4 · tokens² · width a
/// layer, half of it where it is causal. Sweeps move the stream of hidden values 14 times a layer
/// (norms read twice and write twice, residual sums, copies of heads, positions) and the values of
/// the feed-forward network 3 times, 5 with a gate; the loss moves the logits twice in FP32.
/// The backward pass repeats a product twice, once where weights are frozen and only gradients
/// pass, and never where nothing below is trained.
std::vector<WorkOperator> layer_operators(const ModelShape& shape, const LayerWork& work);

/// Bytes that the forward pass of one sample keeps: of a layer, and of the ends.
///
///   no recomputation:  tokens (v (8 h + 2 kv) + v f (4 | 2))  with a gate | without
///   full:              tokens · v · h
///
/// v is the width of a number, h hidden, kv the width of keys, f that of the feed-forward network
/// (times the experts used). Attention is fused and keeps no scores. Logits take 10 bytes each at
/// the loss: 16 bits, FP32 and its gradient.
struct KeptBytes {
  Bytes layer;
  Bytes ends;
};

KeptBytes kept_bytes(const ModelShape& shape, const LayerWork& work, bool recomputed);

}  // namespace stint
