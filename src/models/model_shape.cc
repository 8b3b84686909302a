#include "models/model_shape.h"

#include <algorithm>

#include "base/check.h"

namespace stint {
namespace {

constexpr double kStreamPasses = 14;    // See layer_operators.
constexpr double kPlainPasses = 3;      // Of the feed-forward values,
constexpr double kGatedPasses = 5;      // with a gate.
constexpr double kLogitPasses = 2;      // Read and written once, in FP32.
constexpr double kStreamKernels = 10;   // Launched by the sweeps of a layer.
constexpr double kSweepBackward = 1.5;  // Gradients of a sweep read its input and its output.
constexpr double kFusedBackward = 2.5;  // Fused attention computes its scores again.
constexpr double kKeptStreams = 8;      // See kept_bytes.
constexpr Bytes kLogitBytes = 10 * kByte;
constexpr double kChannels = 3;  // Of an image.

double number(std::int64_t value) { return static_cast<double>(value); }

/// The sizes that all formulas use.
struct Sizes {
  explicit Sizes(const ModelShape& shape)
      : hidden(number(shape.hidden)),
        head(shape.head_size ? number(*shape.head_size) : hidden / number(shape.heads)),
        query(head * number(shape.heads)),
        kv(head * number(shape.kv_heads.value_or(shape.heads))),
        wide(number(shape.feed_forward)),
        experts(number(shape.experts.value_or(1))),
        used(number(shape.experts_used.value_or(1))),
        vocabulary(number(shape.vocabulary)) {}

  double hidden;
  double head;
  double query;
  double kv;
  double wide;
  double experts;
  double used;
  double vocabulary;
};

double linear_count(const std::vector<LinearLayer>& layers, bool only_used) {
  double sum = 0;
  for (const LinearLayer& it : layers) {
    sum += it.inputs * it.outputs * (only_used ? it.used : it.copies);
  }
  return sum;
}

/// Biases and norms of one layer.
double small_count(const ModelShape& shape, bool decoder) {
  const Sizes size(shape);
  const double attentions = decoder && shape.decoder_layers ? 2 : 1;
  const double norms = number(shape.norms.value_or(2)) + (attentions - 1);
  double sum = norms * size.hidden * (shape.norm_bias ? 2 : 1);
  if (shape.query_norm) sum += 2 * size.head;
  if (shape.query_bias) sum += attentions * (size.query + 2 * size.kv);
  if (shape.output_bias) sum += attentions * size.hidden;
  if (shape.feed_forward_bias) sum += (shape.gated ? 2 : 1) * size.wide + size.hidden;
  return sum;
}

double embedding_count(const ModelShape& shape) {
  const Sizes size(shape);
  const double width = shape.embedding_size ? number(*shape.embedding_size) : size.hidden;
  double sum = size.vocabulary * width;
  sum += number(shape.position_rows.value_or(0)) * width;
  sum += number(shape.segments.value_or(0)) * width;
  if (shape.embedding_norm) sum += width * (shape.norm_bias ? 2 : 1);
  if (width != size.hidden) sum += width * size.hidden + size.hidden;
  if (shape.patch_size) {
    const double side = number(*shape.patch_size);
    sum += kChannels * side * side * size.hidden + size.hidden;  // Patches and their bias.
    sum += size.hidden * (1 + number(tokens_of(shape, 0)));      // Class token, positions.
  }
  return sum;
}

double end_count(const ModelShape& shape) {
  const Sizes size(shape);
  const double norm = size.hidden * (shape.norm_bias ? 2 : 1);
  double sum = shape.final_norm ? norm * (shape.decoder_layers ? 2 : 1) : 0;
  if (shape.relative_buckets) {
    const double stacks = shape.decoder_layers ? 2 : 1;
    sum += stacks * number(*shape.relative_buckets) * number(shape.heads);
  }
  if (shape.pooler) sum += size.hidden * size.hidden + size.hidden;
  const bool own_head = !shape.tied && !shape.headless;
  if (own_head) sum += size.hidden * size.vocabulary;
  if (shape.head_bias) sum += size.vocabulary;
  if (shape.classes) sum += (size.hidden + 1) * number(*shape.classes);
  return sum;
}

/// How often the backward pass repeats a product of frozen or trained weights.
double product_backward(const LayerWork& work, bool trained) {
  return (trained ? 2 : 1) + work.again;
}

void add_linear(std::vector<WorkOperator>& operators, const LinearLayer& it, double tokens,
                double count, const LayerWork& work, double backward) {
  WorkOperator product{.kind = WorkKind::kProduct,
                       .name = it.name,
                       .count = count,
                       .flops = 2 * tokens * it.used * it.inputs * it.outputs * kFlop,
                       .moved = tokens * it.used * (it.inputs + it.outputs) * work.value,
                       .weights = it.copies * it.inputs * it.outputs * work.value,
                       .depth = it.inputs,
                       .kernels = it.copies,
                       .backward = backward};
  operators.push_back(product);
  if (work.rank <= 0 || backward <= 0) return;
  product.name += " adapter";
  product.flops = 2 * tokens * it.used * work.rank * (it.inputs + it.outputs) * kFlop;
  product.weights = it.copies * work.rank * (it.inputs + it.outputs) * work.value;
  product.kernels = 3 * it.copies;  // Two products and a sum.
  product.backward = product_backward(work, true);
  operators.push_back(product);
}

/// The operators of `count` equal layers.
void add_layers(std::vector<WorkOperator>& operators, const ModelShape& shape,
                const LayerWork& work, bool decoder, double count, bool frozen) {
  if (count <= 0) return;
  const Sizes size(shape);
  const double tokens = number(tokens_of(shape, static_cast<std::int64_t>(work.sequence)));
  const double backward = frozen ? 0 : product_backward(work, work.rank <= 0);
  for (const LinearLayer& it : linear_layers(shape, decoder)) {
    add_linear(operators, it, tokens, count, work, backward);
  }
  const double attentions = decoder && shape.decoder_layers ? 2 : 1;
  const double share = shape.causal ? 0.5 : 1;
  operators.push_back({.kind = WorkKind::kAttention,
                       .name = "attention",
                       .count = count * attentions,
                       .flops = 4 * share * tokens * tokens * size.query * kFlop,
                       .moved = tokens * 2 * (size.query + size.kv) * work.value,
                       .depth = size.head,
                       .kernels = 2,
                       .backward = frozen ? 0 : kFusedBackward + work.again});
  const double stream = kStreamPasses * attentions * size.hidden;
  const double wide = (shape.gated ? kGatedPasses : kPlainPasses) * size.used * size.wide;
  operators.push_back({.kind = WorkKind::kSweep,
                       .name = "norms, activations, sums",
                       .count = count,
                       .moved = tokens * (stream + wide) * work.value,
                       .kernels = kStreamKernels,
                       .backward = frozen ? 0 : kSweepBackward + work.again});
}

void add_head(std::vector<WorkOperator>& operators, const ModelShape& shape,
              const LayerWork& work) {
  const Sizes size(shape);
  if (shape.headless || size.vocabulary <= 0) return;
  const bool trained = work.head_trained && work.rank <= 0;
  LayerWork plain = work;
  plain.rank = 0;
  plain.again = 0;
  add_linear(operators, {.name = "head", .inputs = size.hidden, .outputs = size.vocabulary},
             work.sequence, 1, plain, product_backward(plain, trained));
  operators.push_back({.kind = WorkKind::kSweep,
                       .name = "loss",
                       .moved = work.sequence * size.vocabulary * kLogitPasses * 4 * kByte,
                       .kernels = 4,
                       .backward = 1});
}

}  // namespace

std::vector<LinearLayer> linear_layers(const ModelShape& shape, bool decoder) {
  const Sizes size(shape);
  std::vector<LinearLayer> layers;
  const int attentions = decoder && shape.decoder_layers ? 2 : 1;
  for (int i = 0; i < attentions; ++i) {
    const std::string prefix = i == 0 ? "" : "cross ";
    layers.push_back({.name = prefix + "query", .inputs = size.hidden, .outputs = size.query});
    layers.push_back({.name = prefix + "key", .inputs = size.hidden, .outputs = size.kv});
    layers.push_back({.name = prefix + "value", .inputs = size.hidden, .outputs = size.kv});
    layers.push_back({.name = prefix + "output", .inputs = size.query, .outputs = size.hidden});
  }
  const auto feed_forward = [&](const char* name, double inputs, double outputs) {
    layers.push_back({.name = name,
                      .inputs = inputs,
                      .outputs = outputs,
                      .copies = size.experts,
                      .used = size.used});
  };
  if (shape.gated) feed_forward("gate", size.hidden, size.wide);
  feed_forward("up", size.hidden, size.wide);
  feed_forward("down", size.wide, size.hidden);
  if (size.experts > 1) {
    layers.push_back({.name = "router", .inputs = size.hidden, .outputs = size.experts});
  }
  return layers;
}

ParameterCount parameters(const ModelShape& shape) {
  const bool both = shape.decoder_layers.has_value();
  ParameterCount count{.embeddings = embedding_count(shape), .ends = end_count(shape)};
  const auto layers = linear_layers(shape, false);
  const double small = small_count(shape, false);
  count.layer = linear_count(layers, false) + small;
  const double layers_all = number(shape.layers);
  count.total = count.embeddings + layers_all * count.layer + count.ends;
  count.used = count.embeddings + layers_all * (linear_count(layers, true) + small) + count.ends;
  if (!both) return count;
  count.decoder_layer = linear_count(linear_layers(shape, true), false) + small_count(shape, true);
  count.total += number(*shape.decoder_layers) * count.decoder_layer;
  count.used += number(*shape.decoder_layers) * count.decoder_layer;
  return count;
}

std::int64_t tokens_of(const ModelShape& shape, std::int64_t sequence) {
  if (!shape.patch_size || !shape.image_size) return sequence;
  const std::int64_t side = *shape.image_size / *shape.patch_size;
  return side * side + 1;
}

std::vector<WorkOperator> layer_operators(const ModelShape& shape, const LayerWork& work) {
  CHECK(shape.layers > 0);
  CHECK(shape.hidden > 0);
  CHECK(shape.heads > 0);
  std::vector<WorkOperator> operators;
  const double frozen = number(std::min(work.frozen, shape.layers));
  add_layers(operators, shape, work, false, frozen, true);
  add_layers(operators, shape, work, false, number(shape.layers) - frozen, false);
  if (shape.decoder_layers) {
    const bool all = work.frozen > shape.layers;
    add_layers(operators, shape, work, true, number(*shape.decoder_layers), all);
  }
  add_head(operators, shape, work);
  return operators;
}

KeptBytes kept_bytes(const ModelShape& shape, const LayerWork& work, bool recomputed) {
  const Sizes size(shape);
  const double tokens = number(tokens_of(shape, static_cast<std::int64_t>(work.sequence)));
  const double wide = (shape.gated ? 4 : 2) * size.wide * size.used;
  const double streams = recomputed ? size.hidden : kKeptStreams * size.hidden + 2 * size.kv + wide;
  KeptBytes kept{.layer = tokens * streams * work.value};
  const bool logits = !shape.headless && size.vocabulary > 0;
  if (logits) kept.ends = work.sequence * size.vocabulary * kLogitBytes;
  return kept;
}

}  // namespace stint
