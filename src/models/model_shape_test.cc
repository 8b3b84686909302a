#include "models/model_shape.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

ModelShape tiny() {
  return {.layers = 2,
          .hidden = 4,
          .heads = 2,
          .feed_forward = 8,
          .vocabulary = 10,
          .positions = 16,
          .tied = true};
}

// Embeddings 10 · 4 = 40; a layer 4 · 16 of attention, 2 · 32 of the feed-forward network and two
// norms of 4: 136; a final norm of 4. 40 + 2 · 136 + 4 = 316.
TEST(ModelShape, CountsParametersAsByHand) {
  const ParameterCount count = parameters(tiny());
  EXPECT_EQ(count.layer, 136);
  EXPECT_EQ(count.total, 316);
  EXPECT_EQ(count.used, 316);
}

// Four experts of which a token takes one: 3 · 64 parameters and a router of 16 more per layer; a
// token leaves three experts out.
TEST(ModelShape, CountsTheExpertsThatATokenTakes) {
  ModelShape shape = tiny();
  shape.experts = 4;
  shape.experts_used = 1;
  const ParameterCount count = parameters(shape);
  EXPECT_EQ(count.total, 316 + 2 * (3 * 64 + 16));
  EXPECT_EQ(count.used, 316 + 2 * 16);
}

double arithmetic_of(const std::vector<WorkOperator>& operators, WorkKind kind) {
  double sum = 0;
  for (const WorkOperator& it : operators) {
    if (it.kind == kind) sum += it.count * it.flops.value_or(Flops{}).in(kFlop);
  }
  return sum;
}

// 3 tokens: products 2 · 3 · (2 · 128 + 40) = 1776; attention 2 layers · 4 · 9 · 4 / 2 = 144.
TEST(ModelShape, ComputesArithmeticAsByHand) {
  const auto operators = layer_operators(tiny(), {.sequence = 3});
  EXPECT_EQ(arithmetic_of(operators, WorkKind::kProduct), 1776);
  EXPECT_EQ(arithmetic_of(operators, WorkKind::kAttention), 144);
}

// Backward twice the forward pass for trained weights, once for frozen ones under adapters, never
// below the first trained layer.
TEST(ModelShape, RepeatsInTheBackwardPassWhatTheMethodNeeds) {
  const auto backward = [](const LayerWork& work) {
    return layer_operators(tiny(), work).front().backward;
  };
  EXPECT_EQ(backward({.sequence = 3}), 2);
  EXPECT_EQ(backward({.sequence = 3, .rank = 2}), 1);
  EXPECT_EQ(backward({.sequence = 3, .again = 1}), 3);
  EXPECT_EQ(backward({.sequence = 3, .frozen = 1}), 0);
}

// 3 tokens · 2 bytes · (8 · 4 + 2 · 4 + 2 · 8) = 336 bytes a layer; recomputed 3 · 2 · 4 = 24; ten
// bytes for each of 30 logits.
TEST(ModelShape, KeepsFewerBytesWhenActivationsAreComputedAgain) {
  const LayerWork work{.sequence = 3};
  EXPECT_EQ(kept_bytes(tiny(), work, false).layer.in(kByte), 336);
  EXPECT_EQ(kept_bytes(tiny(), work, true).layer.in(kByte), 24);
  EXPECT_EQ(kept_bytes(tiny(), work, true).ends.in(kByte), 300);
}

TEST(ModelShape, AnImageHasItsPatchesAndOneMore) {
  ModelShape shape = tiny();
  shape.image_size = 224;
  shape.patch_size = 16;
  EXPECT_EQ(tokens_of(shape, 5), 197);
  EXPECT_EQ(tokens_of(tiny(), 5), 5);
}

}  // namespace
}  // namespace stint
