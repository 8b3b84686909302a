#include "predict/sharded/sharded_shape.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

/// Without biases and gates: a layer has 12 · 1024² = 12 582 912 weights and two norms.
ModelShape eight_layers() {
  return {.layers = 8,
          .hidden = 1024,
          .heads = 16,
          .feed_forward = 4096,
          .vocabulary = 32000,
          .positions = 2048};
}

TEST(ShardedShape, HasThePartsOfTheModel) {
  const ShardedShape shape(eight_layers());
  EXPECT_DOUBLE_EQ(shape.layers, 8);
  EXPECT_DOUBLE_EQ(shape.query, 1024);
  EXPECT_DOUBLE_EQ(shape.kv, 1024);
  EXPECT_DOUBLE_EQ(shape.reductions, 2);
  EXPECT_DOUBLE_EQ(shape.layer_parameters, 12'582'912 + 2 * 1024);
  EXPECT_DOUBLE_EQ(shape.embedding_parameters, 32000 * 1024);
  EXPECT_DOUBLE_EQ(shape.end_parameters, 32000 * 1024 + 1024);
}

// 4 of 16 heads for keys: 256 wide.
TEST(ShardedShape, KeysAreNarrowerWithFewerHeads) {
  ModelShape shape = eight_layers();
  shape.kv_heads = 4;
  EXPECT_DOUBLE_EQ(ShardedShape(shape).kv, 256);
}

// 6 layers of the encoder and 6 of the decoder, which looks at the encoder too: 18 attentions.
TEST(ShardedShape, CountsAttentionsOfADecoderTwice) {
  ModelShape shape = eight_layers();
  shape.layers = 6;
  shape.decoder_layers = 6;
  const ShardedShape both(shape);
  EXPECT_DOUBLE_EQ(both.layers, 12);
  EXPECT_DOUBLE_EQ(both.attentions, 1.5);
}

// An image of 224 pixels in patches of 16 has 14² + 1 tokens, whatever the sequence.
TEST(ShardedShape, TokensOfAnImageArePatches) {
  ModelShape shape = eight_layers();
  shape.vocabulary = 0;
  shape.image_size = 224;
  shape.patch_size = 16;
  shape.classes = 1000;
  EXPECT_DOUBLE_EQ(ShardedShape(shape).tokens(2048), 197);
}

TEST(ShardedShape, WorkersHoldTheirStage) {
  const ShardedShape shape(eight_layers());
  const double layer = 12'582'912 + 2 * 1024;
  const double embeddings = 32000 * 1024;
  const ParallelLayout layout{.tensor = 2, .pipeline = 4};
  EXPECT_DOUBLE_EQ(shape.worker_parameters(layout), (2 * layer + embeddings + 1024) / 2);
  EXPECT_DOUBLE_EQ(shape.stage_parameters(layout, 2, {.first = true, .last = false}),
                   (2 * layer + embeddings) / 2);
  EXPECT_DOUBLE_EQ(shape.stage_parameters(layout, 2, {.first = false, .last = false}), layer);
  EXPECT_DOUBLE_EQ(shape.stage_parameters({}, 8, {}), 8 * layer + 2 * embeddings + 1024);
}

TEST(ShardedShape, TheLastStageHasACopyOfTiedEmbeddings) {
  ModelShape shape = eight_layers();
  shape.tied = true;
  const ShardedShape tied(shape);
  const double layer = 12'582'912 + 2 * 1024;
  const double embeddings = 32000 * 1024;
  EXPECT_DOUBLE_EQ(tied.stage_parameters({}, 8, {}), 8 * layer + embeddings + 1024);
  EXPECT_DOUBLE_EQ(tied.stage_parameters({.pipeline = 2}, 4, {.first = false, .last = true}),
                   4 * layer + embeddings);
}

// 8 experts of 3 · 1024 · 4096 weights with a gate, over 4 groups of workers: two on each.
TEST(ShardedShape, ExpertsAreDividedByTheirDegree) {
  ModelShape shape = eight_layers();
  shape.gated = true;
  shape.experts = 8;
  shape.experts_used = 2;
  const ShardedShape mixture(shape);
  const double expert = 3.0 * 1024 * 4096;
  const double whole = mixture.stage_parameters({}, 1, {.first = false, .last = false});
  const double split =
      mixture.stage_parameters({.data = 4, .expert = 4}, 1, {.first = false, .last = false});
  EXPECT_DOUBLE_EQ(whole - split, 6 * expert);
}

}  // namespace
}  // namespace stint
