#pragma once

#include "models/model_shape.h"
#include "plan/parallel_layout.h"

namespace stint {

/// The sizes of a transformer that times and memory of a sharded step follow from, as plain
/// numbers: looked at once for each of thousands of layouts.
struct ShardedShape {
  ShardedShape() = default;
  explicit ShardedShape(const ModelShape& shape);

  double layers = 1;  // Of encoder and decoder.
  double hidden = 1;
  double heads = 1;
  double query = 1;  // Width of all queries,
  double kv = 1;     // and of all keys.
  double wide = 1;   // Of the feed-forward network.
  double gates = 1;  // Products into it: 2 with a gate.
  double experts = 1;
  double experts_used = 1;
  double vocabulary = 0;  // Of the head; zero: none over a vocabulary.
  double attentions = 1;  // Of a layer, on average: above one where a decoder looks at an encoder.
  double reductions = 2;  // Of tensor parallelism in the forward pass of a layer.
  bool causal = true;
  bool patches = false;  // An image model: tokens are patches.
  double patch_tokens = 0;
  double layer_parameters = 0;  // Of one layer, on average.
  double embedding_parameters = 0;
  double end_parameters = 0;  // Head and final norm, where it has its own.

  double tokens(double sequence) const { return patches ? patch_tokens : sequence; }

  /// Ends of the model that a stage of a pipeline has.
  struct Ends {
    bool first = true;  // Embeddings.
    bool last = true;   // Head and final norm.
  };

  /// Of a worker of a stage with `layers` layers and these ends; the last of several stages has a
  /// copy of tied embeddings. Divided by the tensor degree, and experts by theirs.
  double stage_parameters(const ParallelLayout& layout, double layers, Ends ends) const;

  /// Of the fullest stage: L/p layers, and embeddings where the first or the last stage has them;
  /// divided by the tensor degree, and experts by theirs.
  double worker_parameters(const ParallelLayout& layout) const;
};

}  // namespace stint
