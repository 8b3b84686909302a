#include "predict/sharded/sharded_shape.h"

#include <algorithm>

namespace stint {
namespace {

double number(std::int64_t value) { return static_cast<double>(value); }

}  // namespace

ShardedShape::ShardedShape(const ModelShape& shape)
    : layers(number(shape.layers + shape.decoder_layers.value_or(0))),
      hidden(number(shape.hidden)),
      heads(number(shape.heads)),
      wide(number(shape.feed_forward)),
      gates(shape.gated ? 2 : 1),
      experts(number(shape.experts.value_or(1))),
      experts_used(number(shape.experts_used.value_or(1))),
      vocabulary(shape.headless ? 0 : number(shape.vocabulary)),
      causal(shape.causal),
      patches(shape.patch_size.has_value()) {
  const double head = shape.head_size ? number(*shape.head_size) : hidden / heads;
  query = head * heads;
  kv = head * number(shape.kv_heads.value_or(shape.heads));
  if (shape.decoder_layers) attentions = 1 + number(*shape.decoder_layers) / layers;
  reductions = 1 + attentions;
  if (patches) patch_tokens = number(tokens_of(shape, 0));
  const ParameterCount count = parameters(shape);
  embedding_parameters = count.embeddings;
  end_parameters = count.ends;
  layer_parameters = (count.total - count.embeddings - count.ends) / layers;
}

double ShardedShape::stage_parameters(const ParallelLayout& layout, double stage_layers,
                                      Ends ends) const {
  const double expert_share = experts > 1 ? experts * (gates + 1) * hidden * wide : 0;
  const double layer = layer_parameters - expert_share + expert_share / layout.expert;
  double all = stage_layers * layer;
  if (ends.first) all += embedding_parameters;
  if (ends.last) {
    // With one stage a tied head is the embeddings themselves.
    all += ends.first ? end_parameters : std::max(end_parameters, vocabulary * hidden);
  }
  return all / layout.tensor;
}

double ShardedShape::worker_parameters(const ParallelLayout& layout) const {
  const double expert_share = experts > 1 ? experts * (gates + 1) * hidden * wide : 0;
  const double shared = layer_parameters - expert_share;
  const double layer = shared + expert_share / layout.expert;
  const double stage = layers / layout.pipeline * layer;
  // One stage has both ends of the model; of several the first has embeddings and the last the
  // head (a copy of the embeddings where they are tied), so that the larger one counts.
  const double ends = layout.pipeline > 1 ? std::max(embedding_parameters, end_parameters)
                                          : embedding_parameters + end_parameters;
  return (stage + ends) / layout.tensor;
}

}  // namespace stint
